// Defines the operations of a recorded history: changes of the lock table's rows, lines of processes, and
// declarations about processes and their clocks.
//
// Times: a `commit` is a commit timestamp of Spanner. `at`, `sent` and `received` are readings of the
// process's own wall clock, whose offset is not known exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/value.h"
#include "protocol/spanner/words.h"

namespace whorl::check {

// Where an operation was read. `line` counts from 1; 0: it comes from no file.
struct Place {
  std::string file;
  int64_t line = 0;
};

// The columns of a row in the order of the protocol's table; nothing where the value is not known.
using KnownRow = std::vector<std::optional<Value>>;

enum class RowChangeKind : uint8_t { kInserted, kUpdated, kDeleted };

// A committed change of one row of the lock table.
struct RowChange {
  std::string lock;
  Timestamp commit;
  RowChangeKind kind = RowChangeKind::kUpdated;
  KnownRow after;   // of a deletion: nothing is known
  KnownRow before;  // columns that are not known are not compared with what was recorded before
  bool by_system = false;   // a system transaction's, such as that of a row deletion policy
  std::string tag;          // of the transaction
  bool by_process = false;  // one of the processes made it, though which is not known
};

enum class Statement : uint8_t {
  kLeads,
  kLeadsNot,
  kWorks,     // its application begins work under the lock
  kRests,     // and ends it
  kStarted,   // the process has started; with the number 1, or none, anew if it ran before
  kGone,      // the process has ended, however: it neither leads nor works any more
  kSawEnd,    // it saw that another process, the sender, has ended
  kAnswers,   // it answers its application that it has the lock
  kOwns,      // it takes the token for its own, or none
  kAccepts,   // a resource accepts a write that carries a token
  kRefuses,   // and refuses one
  kAborted,   // a call of it was aborted by Spanner
  kCalled,    // a call of it was answered, and committed nothing
  kMayEnd,    // what it led or did may end from now on, at any time
  kHasStill,  // it has not ended: it leads as it did before kMayEnd
  // The line was not understood: it may have said anything.
  kNotUnderstood,
  kOther,  // anything else: shows that the process's log goes on
};

// Kinds of lines that a process may log. A kind counts as complete if the process has logged one such line, or
// declares that it logs them.
enum class Kind : uint8_t {
  kLeading,   // leads, renewed, lost
  kWorking,   // works, rests
  kTokens,    // those that it hands out, with "leads" or "answer"
  kAnswers,   // answer
  kOwning,    // owns
  kReleases,  // calls that name their step
};
constexpr auto WordTableOf(Kind) {
  return MakeWordTable<Kind>({
      {Kind::kLeading, "leads"},
      {Kind::kWorking, "works"},
      {Kind::kTokens, "tokens"},
      {Kind::kAnswers, "answer"},
      {Kind::kOwning, "owns"},
      {Kind::kReleases, "steps"},
  });
}

struct LogLine {
  std::string process;
  std::string lock;  // empty: the statement is about all locks of the process
  Timestamp at;
  // The number of the line, counted from 1 when the process started, by which missing lines are noticed.
  std::optional<int64_t> number;
  Statement statement = Statement::kOther;
  // With kLeads: how long it leads unless it renews. Of a renewal there may be no line, and of a lapse
  // during a pause only a late one.
  std::optional<Duration> lapses_in;
  bool is_renewal = false;  // with kLeads: it led before, and its log has every renewal
  // With kLeadsNot and kRests: what it ends has begun, and the record has a line of that.
  bool ends = false;
  // It is a line of this kind, though it says nothing of the lock that is judged.
  std::optional<Kind> shows;
  std::string unclear;  // with kNotUnderstood: what it was, for people: "event \"Leads\""
  // With kAnswers: when it was asked. With kLeadsNot: when it asked for that.
  std::optional<Timestamp> asked;
  // With kLeads and kAnswers: what the application was handed; with kOwns: which it takes for its own;
  // with kAccepts: what the write carried.
  std::optional<uint64_t> token;
  // With kAborted and kCalled: whose call it was, if another program recorded it; empty: the process's.
  // With kSawEnd: which process has ended.
  std::string sender;
  int64_t attempts = 1;  // likewise: all but the last were aborted
  // One of several beginnings and ends that may be within each other: what they say ends with the last of them.
  bool is_span = false;
  bool is_call = false;  // what CommitRecord says, as a line of its process

  const std::string& Sender() const { return sender.empty() ? process : sender; }
};

// What the process that has ended would have said. REQUIRES: log_line.statement is kSawEnd.
LogLine AsOfEnded(const LogLine& log_line);

// A transaction that Spanner has committed, recorded by the process that sent it, or by a program that it passed.
struct CommitRecord {
  std::string process;  // by whose clock it was sent and received
  std::string lock;
  std::optional<int64_t> number;  // as in LogLine
  Timestamp sent;
  Timestamp received;
  Timestamp commit;
  std::string step;      // of the protocol, such as "release"; empty: not recorded
  std::string sender;    // whose transaction it was; empty: the process's
  int64_t attempts = 1;  // all but the last were aborted

  const std::string& Sender() const { return sender.empty() ? process : sender; }
  bool IsOfAnother() const { return !sender.empty() && sender != process; }
};

// What is declared of a process.
struct ProcessDeclaration {
  std::string process;
  std::string node;  // empty: the process is its own node. Processes of one node are one candidate.
  std::optional<Duration> lease;
  // The clock's reading minus true time, at least and at most.
  std::optional<Duration> clock_least;
  std::optional<Duration> clock_most;
  // Times in its lines are shortened, by at most this.
  std::optional<Duration> resolution;
  std::vector<Kind> logs = {};  // kinds that the process declares to log completely
};

// No version of the lock's row was there at `from`, nor at `to`, and what was in between was not read.
struct Unseen {
  std::string lock;
  Timestamp from;
  Timestamp to;
};

struct Operation {
  Place place;
  std::variant<RowChange, LogLine, CommitRecord, ProcessDeclaration> what;
};

// When it happened, by the clock that says so; nothing of what is declared.
std::optional<Timestamp> TimeOf(const Operation& operation);

}  // namespace whorl::check
