// Writes a run as text for the terminal: one line for each transition, the time on the left, one
// column for Spanner and one for each node.
//
//            s  spanner                           a                b
//     0.000000                                    | started        | started
//     0.021034  lock: token 0.013000 by a         |                |
//
// Invariants:
//   1. Only changes have lines. A heartbeat or a read has none, nor an answer, a failure or a
//      write that repeats the last one. Stale writes, and legitimate ones that were refused, are counted
//      in the line of the first of them, so that the lines add up to the run's metrics.
//   2. No text is truncated: a long one extends over the columns to its right and into the next
//      line.
//   3. If there are too many nodes for columns, there is one column, and each line names its node.
//   4. Memory is bounded: lines beyond kMaxLines are only counted. A trace has all of them.
// Tokens are shown as seconds since the start, like the time on the left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "sim/judge/check_report.h"
#include "sim/judge/checkers/setup.h"
#include "sim/judge/ledger.h"
#include "sim/judge/lock_writes.h"
#include "sim/judge/run.h"
#include "sim/report/timeline_layout.h"
#include "sim/scenario/names.h"
#include "sim/scenario/rules.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

class Timeline : public ObservationSink {
 public:
  static constexpr size_t kMaxLines = 20'000;

  // `scenario` outlives this. REQUIRES: it came from the loader, or is valid as the loader would
  // have it.
  explicit Timeline(const Scenario& scenario);

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  // The lines, with the first violation of each invariant at its time.
  std::vector<TimelineLine> Lines(const CheckReport& checks) const;
  // The lines so far, without violations.
  const std::vector<TimelineLine>& changes() const { return lines_; }
  // How many lines beyond kMaxLines there were.
  uint64_t left_out() const { return left_out_; }
  // Prints Lines().
  void Print(const CheckReport& checks, const TimelineStyle& style, std::ostream& out) const;

 private:
  struct NodeActivity {
    bool runs = false;
    bool paused = false;
    int beliefs = 0;  // in how many locks its process believes that it leads
  };
  // What the last lines about a node and a lock showed, so that only changes get a line.
  static constexpr size_t kNoLine = ~size_t{0};
  struct LastShown {
    bool leader = false;    // from the callback
    bool has_lock = false;  // from the answer
    struct Write {
      std::optional<uint64_t> token;
      bool accepted = false;
      bool late = false;  // the process's belief had lapsed
      bool legitimate = true;
      friend bool operator==(const Write&, const Write&) = default;
    };
    struct Writes {
      std::optional<Write> last;
      int64_t count = 0;      // of those like the last one
      std::string text;       // of the line of the first of them
      size_t line = kNoLine;  // its place
    };
    Writes write;         // at the resource that does not fence
    Writes fenced_write;  // at the one that does
    bool believes = false;
    bool lapsed = false;  // its belief has, and nothing said yes to it since
    std::map<StepName, std::pair<Outcome, Code>> failures;
  };

  void On(const ProcessStarted& x);
  void On(const ProcessStopped& x);
  void On(const ProcessGone& x);
  void On(const ProcessPaused& x);
  void On(const ProcessResumed& x);
  void On(const ParticipationEnded& x);
  void On(const LinkChanged& x);
  void On(const SpannerAvailability& x);
  void On(const ClockChanged& x);
  void On(const SpannerClocksChanged& x);
  void On(const SessionLost& x);
  void On(const SessionCreated& x);
  void On(const FaultBegan& x);
  void On(const FaultEnded& x);
  void On(const TransactionFinished& x);
  void On(const RowCommitted& x);
  void On(const BeliefChanged& x);
  void On(const Noted& x);
  void On(const CalledBack& x);
  void On(const QuestionAnswered& x);
  void On(const WriteSent& x);
  void On(const WriteArrived& x);
  void On(const WorkChanged& x);
  void On(const auto&) {}  // no transition

  void OnLockRow(const RowCommitted& x, const VersionChanged& change);
  // "token 0.013000"; the owner in a protocol without tokens.
  std::string GrantText(const RowCommitted& x) const;
  void OnHasLock(const QuestionAnswered& x);
  // Counts one more write like the last: the line of the first one says how many, as the metrics count them.
  void CountWrite(LastShown::Writes& writes);
  // Whether there was room for it.
  bool Add(int16_t node, Tone tone, std::string text);
  static int16_t NodeOf(const FaultSpec& fault);
  Lane LaneOf(int16_t node) const;
  NodeActivity& ActivityOf(int16_t node) { return activities_[static_cast<size_t>(node)]; }
  LastShown& LastShownOf(ProcessId process, uint16_t lock);
  // "job: " if there are several locks.
  std::string Prefix(uint16_t lock) const;
  std::string FaultName(uint32_t fault) const;
  std::string WriterText(ProcessId writer) const;

  const Scenario& scenario_;
  Names names_;
  const Rules& rules_;
  CheckerSetup setup_;
  Ledger ledger_;                         // hears of rows alone
  std::vector<LockWrites> writes_;        // by lock
  std::vector<NodeActivity> activities_;  // by node
  std::vector<LastShown> last_shown_;     // nodes x locks
  std::vector<std::optional<Instant>> fault_began_;
  Instant now_;
  uint64_t ordinal_ = 0;
  std::vector<TimelineLine> lines_;
  uint64_t left_out_ = 0;
};

}  // namespace whorl::sim
