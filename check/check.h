// Judges what happened: a history that others recorded, operation by operation.
//
//   operations ─▶ put in order of time, within a window ─▶ rows     (token_monotonic, lease_respected)
//                                                       ├▶ spans    (single_leader_belief, single_worker)
//                                                       ├▶ tokens   (handed_token_monotonic, fenced_writes_ordered)
//                                                       ├▶ answers  (has_lock_truthful), by who owned it
//                                                       ├▶ own tokens (one_live_token), by its token
//                                                       └▶ releases (no_work_after_release)
//
// Soundness: an invariant that may have been violated is never said to hold, and one that may hold is
// never said to be violated, if the history is what it claims to be:
//   1. All commits of the table between the first and the last recorded one of a row are there, or what a
//      change says of the row before shows that some are missing.
//   2. All lines of a process are there of each kind that it has logged at least once, or says that it logs;
//      or their numbers show that some are missing.
//   3. Clocks are within what was declared, or drift by no more than Clock::kDriftPpm.
//   4. Processes send the statements of the protocol, and no two have one id. One that starts anew under its id
//      says so. A write that no process can have made is charged to nobody, nor is what it breaks.
//
// Memory: that of the window, of the newest version of each row, and of the spans that an open one may
// overlap with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/answers.h"
#include "check/line_judge.h"
#include "check/operation.h"
#include "check/own_tokens.h"
#include "check/ownership.h"
#include "check/processes.h"
#include "check/releases.h"
#include "check/rows.h"
#include "check/spans.h"
#include "check/tokens.h"
#include "check/verdict.h"
#include "protocol/protocols.h"

namespace whorl::check {

struct CheckOptions {
  std::optional<Duration> lease;        // of processes that declare none
  std::optional<Duration> clock_error;  // bound, either way, for processes that declare none
  // How much later an operation may come than one that is later by its own time.
  Duration window = Seconds(60);
  // The caller knows when all operations are there: they are judged up to where Advance() says, in their order,
  // whatever comes meanwhile. Then `window` is to be 0.
  bool waits_for_advance = false;
};

// Whether histories of the protocol can be judged: its rows name their holder, or it is NoProtocol()
// (no_protocol.h), of whose locks no row is read.
bool CanJudge(const ProtocolInfo& protocol);

class Checker;
// What was passed over without being understood, for the checker's verdict.
void AddUnclear(const RecordCounts& counts, Checker& checker);

class Checker {
 public:
  // REQUIRES: CanJudge(protocol), which lives longer.
  Checker(const ProtocolInfo& protocol, CheckOptions options);
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  void Add(Operation operation);
  // A record was there and could not be read: nothing is said to hold any more.
  void AddUnread(const Place& place);
  // The same, for another reason.
  void AddMissing(const std::string& because, const std::string& remedy);
  // A record was not understood: lines of processes make nothing certain any more.
  void AddUnclear(const std::string& because, const std::string& remedy);
  // The columns that change records have shown, if any were read: without some of them rows say nothing for certain.
  void AddColumns(const std::set<std::string_view>& shown);
  // Nothing is certain by lines of processes; why is said in the end.
  void DoubtLines() { unclear_ = "what was not recognised could decide it"; }
  // What was read of rows in the place of a change stream, by versions of rows, does not show everything.
  void Add(const Unseen& unseen) { rows_.Add(unseen); }
  // All changes of rows that were committed before `at` have been added.
  void Advance(Timestamp at);
  // What is violated for certain by what has left the window: the first violation of each invariant.
  std::vector<InvariantResult> Certain() const;
  // What has left the window, and was judged.
  std::vector<InvariantResult> SoFar() const;
  const HistoryMetrics& metrics() const { return metrics_; }
  const std::vector<OutsideWrite>& outside_writes() const { return rows_.outside_writes(); }
  int64_t outside_count() const { return rows_.outside_count(); }
  // What was added so far tells of the past that another checker has judged (landmarks.h), and counted.
  void GoOn(const HistoryMetrics& counted) {
    metrics_ = counted;
    rows_.ForgetOutside();
  }
  // The verdict on all that was added. Nothing can be added after it.
  HistoryVerdict Verdict();
  // The verdict on what was judged so far, as if nothing else came. More can be added.
  HistoryVerdict VerdictSoFar() const;
  // Beliefs and works that may yet overlap with others, for measuring.
  size_t SpansKept() const { return lines_.beliefs.kept() + lines_.work.kept(); }
  // What is known by now of each process and its clock.
  const Processes& processes() const { return processes_; }

 private:
  // The judges by lines of processes. A copy can be finished while these go on.
  struct LineJudges {
    Releases releases;
    Spans beliefs;
    Spans work;
    HandedTokens handed;
    AcceptedWrites accepted;
    Answers answers;
    OwnTokens own_tokens;

    // Null for an invariant that is not judged by lines.
    LineJudge* At(Invariant invariant);
    const LineJudge* At(Invariant invariant) const {
      return const_cast<LineJudges*>(this)->At(invariant);  // NOLINT(*-const-cast)
    }
    template <typename Do>
    void ForEach(const Do& act) {
      for (const Invariant invariant : AllOf<Invariant>()) {
        if (LineJudge* judge = At(invariant)) act(*judge);
      }
    }
  };

  // Calls come before the commits that they are about.
  using Key = std::pair<Timestamp, uint64_t>;

  void Take(const Operation& operation);
  void TakeWaiting();
  InvariantResult Find(Invariant invariant, const LineJudges& lines) const;
  // Ends what `lines` judge, a copy or not.
  HistoryVerdict Conclude(LineJudges& lines) const;
  // What the verdict takes for granted, for people.
  std::vector<std::string> Assumptions() const;
  void On(const RowChange& change);
  void On(const LogLine& log_line, const Place& place);
  // What the line shows of its process beside what it says.
  void Note(const LogLine& log_line);
  // Each of these judges the lines of one statement.
  void NotUnderstood(const LogLine& log_line);
  void Leads(const LogLine& log_line);
  void LeadsNot(const LogLine& log_line);
  void Rests(const LogLine& log_line);
  void SawEnd(const LogLine& log_line);
  void Accepts(const LogLine& log_line);
  // The same, for a line that begins or ends one of several spans (LogLine::is_span).
  void OnSpan(const LogLine& log_line);
  // Judges and forgets what nothing that is yet to come can change: what is older than a window before `at`.
  void AdvanceWatermark(Timestamp at);
  void On(const CommitRecord& commit_record, const Place& place);
  void On(const ProcessDeclaration& declared, const Place& place);
  // Whether the line is new; false: it was there before.
  bool Number(const LogLine& log_line, const Place& place);
  // Follows the numbers of the processes that have the id. Whether two have it at one time.
  static bool FollowNumbers(Process& process, const LogLine& log_line, const Place& place);
  void TwoProcesses(Process& process, const LogLine& log_line, const Place& place);
  // Something ended that had not begun.
  void HadNotBegun(const LogLine& log_line);
  // Processes that have not logged each kind of line that a judge needs of all.
  void MissingKinds(LineJudges& lines) const;
  void Problem(const Place& place, std::string text);
  Process& Known(const std::string& name);
  void Learn(Duration offset);
  void MissingLines(const std::string& because, const std::string& remedy);
  // Of a process that took a lock and logged no line, nothing else is known.
  void MissingLogs(LineJudges& lines) const;
  const ProtocolInfo& protocol_;
  const CheckOptions options_;
  const bool has_tokens_;
  const bool gives_back_;  // the protocol releases locks
  Processes processes_;
  Ownership ownership_;
  LineJudges lines_;
  Rows rows_;
  std::multimap<Key, Operation> waiting_;
  uint64_t added_ = 0;
  std::optional<Timestamp> newest_;
  std::optional<Timestamp> taken_;  // the time of the last operation that left the window
  bool has_forgotten_ = false;      // spans, by that offset
  Timestamp forgotten_;             // those before this
  HistoryMetrics metrics_;
  std::vector<std::string> problems_;
  bool has_misunderstood_ = false;
  bool has_begun_ = false;  // anything that lasts
  std::string unclear_rows_;
  std::string unclear_;  // why nothing is certain by lines; empty: something may be
  struct Unbegun {
    int64_t count = 0;
    std::string lock;
  };
  std::map<std::pair<std::string, Statement>, Unbegun> unbegun_;  // by process
};

}  // namespace whorl::check
