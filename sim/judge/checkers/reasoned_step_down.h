// reasoned_step_down: a process that ceases to believe that it leads has a reason.
//
// A reason is one of these:
//   - its deadline: it has led for a least part of its lease (Rules::least_lead_percent) since it began the last
//     transaction that renewed the lease and whose success it knows, or the one that took the lock;
//   - a loss: another process or an operator has changed, released or removed the row, so that it is no longer
//     the process's own;
//   - a clock that was changed or stood still since it took the lock: its own, or one of Spanner's.
// A process that crashes, is told to stop, or is paused until its deadline has its reason there: what is judged is
// SteppedDown (ledger.h). If no renewal is known, as of a row that an earlier process wrote under the same id, nothing
// is judged.
// So it is judged of runs, not of states: it needs the times of what is under way. Judged when a process steps down.
#pragma once

#include <optional>
#include <vector>

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct ReasonedStepDown {
  static constexpr Invariant kInvariant = Invariant::kReasonedStepDown;

  // A transaction that is under way.
  struct Open {
    RequestId request = 0;
    StepName step;
    Instant started;
    bool renews = false;  // a commit of its step has renewed the lease
    WHORL_FIELDS(Open, request, step, started, renews);
  };
  // The end of a belief.
  struct Lapse {
    Instant at;
    std::optional<Instant> renewed;  // as of Part, at that time
    WHORL_FIELDS(Lapse, at, renewed);
  };
  struct Part {
    ProcessId process;
    std::vector<Open> open;
    // When the transaction began that took the lock, or renewed the lease last as far as the process knows.
    std::optional<Instant> renewed;
    // When the first transaction began whose outcome the process did not learn, since it last stepped down.
    std::optional<Instant> unknown;
    Instant term_began;  // when it began to take the lock or, if that is not known, to believe
    std::optional<Lapse> lapse;  // of the present belief, if it has ended by itself
    WHORL_FIELDS(Part, process, open, renewed, unknown, term_began, lapse);
  };

  std::vector<Part> parts;             // by CheckerSetup::ParticipationIndex
  std::vector<Instant> clock_changed;  // by node; kNever if it never was
  Instant spanner_changed = kNever;
  WHORL_FIELDS(ReasonedStepDown, parts, clock_changed, spanner_changed);

  static ReasonedStepDown For(const CheckerSetup& setup) {
    return {.parts = std::vector<Part>(setup.ParticipationCount()),
            .clock_changed = std::vector<Instant>(setup.nodes.size(), kNever)};
  }

  void On(const ProcessStarted& x, const Now& now);
  void On(const ClockChanged& x, const Now& now) {
    clock_changed[static_cast<size_t>(x.node)] = now.at;
  }
  void On(const SpannerClocksChanged&, const Now& now) { spanner_changed = now.at; }
  void On(const TransactionStarted& x, const Now& now);
  void On(const RowCommitted& x, const Now& now);
  void On(const TransactionFinished& x, const Now& now);
  void On(const BeliefBegan& x, const Now& now);
  void On(const BeliefChanged& x, const Now& now);
  void On(const SteppedDown& x, const Now& now);

 private:
  // Null if the process is not the newest of its node.
  Part* PartOf(ProcessId process, uint16_t lock, const CheckerSetup& setup);
  bool ClockChangedSince(const Part& part) const;
};

}  // namespace whorl::sim
