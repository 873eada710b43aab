// Counts each record that was read as used (as what), passed over (why), or refused (where).
//
// A reader finds the counts in its Wanted (record_reader.h): `wanted.Counts()`. It says of each record one of:
//   - used: it adds operations. Those are counted by who takes them (CountUsed), except Statement::kOther,
//     for which the reader calls Use(Used::kGoesOn) if it says that the log goes on.
//   - passed over: Pass("of another lock", the lock's name). The reason stands before what is counted, in
//     plain words: "event not recognised", "of another table", "of another service", "of the nemesis". The
//     word tells records of one reason apart, and may be empty. Bearing::kMayDecide: nobody knows what it
//     says, so it could have decided a verdict: then no verdict by lines of processes is certain. If the
//     process and the time are known, add a LogLine with Statement::kNotUnderstood instead of kMayDecide:
//     then what the process said before stays certain.
//   - refused: it returns what is wrong (LineReader), or, if there is more than one element in what it
//     reads, calls Refuse(what is wrong, with its place) for each and goes on with the next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/operation.h"
#include "protocol/spanner/words.h"

namespace whorl::check {

// Why a record is passed over, where several readers do so or a remedy is told.
inline constexpr std::string_view kOfAnotherLock = "of another lock";
inline constexpr std::string_view kOfAnotherTable = "of another table";
inline constexpr std::string_view kOfNoProtocol = "a change of a row, and no protocol is judged";
inline constexpr std::string_view kEventNotRecognised = "event not recognised";
inline constexpr std::string_view kNoExpression = "no expression of the pattern matched";

enum class Used : uint8_t {
  kChange,  // of a row
  kCall,    // a transaction that was committed
  kCalled,  // one that was not, or a query
  kLeads,
  kRenewed,
  kLost,
  kWorks,
  kRests,
  kAnswer,
  kOwns,
  kWrite,
  kStarted,
  kStopped,
  kEnded,
  kProcess,  // what is declared of one
  kGoesOn,   // the log, or the change stream, goes on
};
constexpr auto WordTableOf(Used) {
  return MakeWordTable<Used>({
      {Used::kChange, "changes"},
      {Used::kCall, "calls"},
      {Used::kCalled, "calls without a commit"},
      {Used::kLeads, "leads"},
      {Used::kRenewed, "renewed"},
      {Used::kLost, "lost"},
      {Used::kWorks, "works"},
      {Used::kRests, "rests"},
      {Used::kAnswer, "answers"},
      {Used::kOwns, "owns"},
      {Used::kWrite, "writes"},
      {Used::kStarted, "started"},
      {Used::kStopped, "stopped"},
      {Used::kEnded, "ended"},
      {Used::kProcess, "process"},
      {Used::kGoesOn, "goes on"},
  });
}

// Whether what was passed over could have decided a verdict.
enum class Bearing : uint8_t { kNone, kMayDecide };

class RecordCounts {
 public:
  struct Passed {
    std::string reason;
    Bearing bearing = Bearing::kNone;
    int64_t count = 0;
    // The most frequent first. If there are many, not all are listed.
    std::vector<std::pair<std::string, int64_t>> words;
  };

  void Use(Used as, int64_t count = 1) { used_[static_cast<size_t>(as)] += count; }
  // Counts lines in which an expression of the pattern was found. An empty text keeps the earlier name.
  void Matched(size_t index, std::string_view expression, int64_t count = 1);
  // Nothing of Statement::kOther.
  void CountUsed(const Operation& operation);
  void Pass(std::string_view reason, std::string_view word = {}, Bearing bearing = Bearing::kNone);
  // `wrong` begins with the place.
  void Refuse(std::string wrong);
  // Refuses all but the last, and returns that one, which a LineReader says itself; empty if there is none.
  std::string RefuseButLast(std::vector<std::string> wrong);

  // A change record shows the column of the protocol's table; the name lives on.
  void ShowColumn(std::string_view name) { shown_columns_.insert(name); }
  const std::set<std::string_view>& shown_columns() const { return shown_columns_; }

  int64_t used(Used as) const { return used_[static_cast<size_t>(as)]; }
  int64_t used() const;
  std::vector<Passed> passed() const;
  int64_t passed_count() const;
  // By the expressions of a pattern, in its order.
  const std::vector<std::pair<std::string, int64_t>>& matched() const { return matched_; }
  // Whether anything was passed over that could have decided a verdict.
  bool MayDecide() const { return may_decide_; }
  int64_t refused() const { return refused_; }
  // Those that were refused since this was called last.
  std::vector<std::string> TakeRefused() { return std::exchange(new_refused_, {}); }
  // For people, in one line each: "used: changes 8, leads 2"; "passed over, event not recognised: "Leads" 2".
  std::vector<std::string> Lines() const;

 private:
  static constexpr size_t kWordsKept = 64;
  static constexpr size_t kWordLength = 100;

  struct Reason {
    Bearing bearing = Bearing::kNone;
    int64_t count = 0;
    std::map<std::string, int64_t, std::less<>> words;
  };

  std::array<int64_t, kCountOf<Used>> used_ = {};
  std::map<std::string, Reason, std::less<>> passed_;
  std::vector<std::pair<std::string, int64_t>> matched_;
  std::set<std::string_view> shown_columns_;
  bool may_decide_ = false;
  int64_t refused_ = 0;
  std::vector<std::string> new_refused_;
};

// "event not recognised: "Leads" 2, "Lost" 1".
std::string PassedText(const RecordCounts::Passed& passed);

}  // namespace whorl::check
