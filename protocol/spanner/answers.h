// Lists what Spanner can answer to each call, so that no fault shows a client what Spanner never
// shows.
//
// From Spanner's documentation, the comments of its protos, and what the official emulator does. OK is
// possible everywhere. A code that is missing here was never seen and is promised nowhere: a client that
// fails because of it has not failed for a reason that it could meet.
// Deliberately left out: the admin calls; for them, only the codes of AnyCall() are known.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "protocol/spanner/status.h"

namespace whorl {

// A set of codes.
class CodeSet {
 public:
  constexpr CodeSet() = default;
  constexpr CodeSet(std::initializer_list<Code> codes) {
    for (const Code code : codes) bits_ |= BitOf(code);
  }
  constexpr bool Has(Code code) const { return (bits_ & BitOf(code)) != 0; }
  friend constexpr CodeSet operator|(CodeSet a, CodeSet b) {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  static constexpr uint32_t BitOf(Code code) { return uint32_t{1} << static_cast<unsigned>(code); }
  uint32_t bits_ = 0;
};

struct CallAnswers {
  std::string_view method;       // "Commit"
  bool can_lose_session = true;  // names a session, and needs it
  CodeSet codes;                 // besides those of AnyCall()
};
// One for each method of google.spanner.v1.Spanner, in the order of their names.
std::span<const CallAnswers> AnswersOfCalls();
// Null if there is no such method.
const CallAnswers* FindAnswers(std::string_view method);

// What any call may be answered in place of being served.
CodeSet AnyCall();
// What may be answered though the call was served: the client cannot know whether it was.
CodeSet OutcomeUnknown();
// What may be answered to a Commit that comes again after it was applied, besides its first answer: nothing
// that says what became of the transaction.
CodeSet CommitAgain();
// After these, a transaction gets the same answer to everything but Rollback.
CodeSet EndsTransaction();

// Whether the call may be answered so in place of being served. `in_read_write`: it belongs to a read-write
// transaction; nothing else is ever ABORTED.
bool MayAnswer(std::string_view method, Code code, bool in_read_write);

}  // namespace whorl
