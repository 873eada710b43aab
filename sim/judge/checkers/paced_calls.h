// paced_calls: while the transactions of one step end alike, a process starts at most N of them in any
// second. N follows from its lease (StartsInSecondMax in sim/scenario/rules.h).
//
//   - Alike: with the same outcome and code, as the process sees them, be it that all is well. One whose
//     end the process does not see changes nothing: what is lost is repeated like what is refused.
//   - A transaction is one however often its client sends a call of it again: the policy of the client
//     says how that is paced.
//   - What the application asks for (has_lock) comes as often as it asks.
// So it is judged of runs, not of states: it needs the times of up to N starts of each step. Judged when a
// transaction starts.
#pragma once

#include <optional>
#include <vector>

#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct PacedCalls {
  static constexpr Invariant kInvariant = Invariant::kPacedCalls;

  struct Ending {
    Outcome outcome = Outcome::kUnknown;
    Code code = Code::kOk;
    WHORL_FIELDS(Ending, outcome, code);
  };
  // The transactions of a step that end alike.
  struct Repeats {
    StepName step;
    std::optional<Ending> ending;  // of the last one that has ended
    std::vector<Instant> starts;   // in the last second, since they end so
    WHORL_FIELDS(Repeats, step, ending, starts);
  };
  struct Part {
    ProcessId process;
    std::vector<Repeats> steps;
    WHORL_FIELDS(Part, process, steps);
  };

  std::vector<Part> parts;  // by CheckerSetup::ParticipationIndex
  WHORL_FIELDS(PacedCalls, parts);

  static PacedCalls For(const CheckerSetup& setup) {
    return {.parts = std::vector<Part>(setup.ParticipationCount())};
  }

  void On(const TransactionStarted& x, const Now& now);
  void On(const TransactionFinished& x, const Now& now);

 private:
  Part& PartOf(ProcessId process, uint16_t lock, const CheckerSetup& setup);
  static Repeats& RepeatsOf(Part& part, StepName step);
};

}  // namespace whorl::sim
