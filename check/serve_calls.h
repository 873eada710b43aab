// Reads the history that `whorl serve` and `whorl proxy` write (--history): a line of JSON for each call that
// passed, with the name that the client has there ("id").
//
// Its times are those of serve's own clock, which is a process of the history, named after the file. What a
// line shows is whose transaction it was: who wrote a row, and what a takeover costs. It shows nothing of the
// clock of the process that sent it.
//
// Calls are counted as processes log them: a commit; a query outside of a transaction; a transaction that was
// rolled back; and each call that Spanner aborted.
//
// A call is about the lock that a statement of its transaction names by its parameter @name, as those of whorl's
// protocols do. If none does, or two name two locks, it is about the lock that is judged.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "check/record_reader.h"

namespace whorl::check {

bool IsServeCall(const Node& object);

// The calls of one file.
class ServeCalls {
 public:
  // Throws Wrong. REQUIRES: IsServeCall(object).
  void Read(const Node& object, const ProtocolInfo& protocol, const Wanted& wanted,
            const Place& place, std::vector<Operation>& out);

 private:
  // Transactions whose end was not seen do not stay for ever.
  static constexpr size_t kTransactionsKept = 100'000;

  // What the call is about, and what is remembered of its transaction.
  std::string LockOf(const Node& object, std::string_view transaction, bool ends);

  std::map<std::string, std::string, std::less<>> locks_;  // by transaction; empty: of several
};

}  // namespace whorl::check
