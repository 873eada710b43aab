// paced_calls: while the transactions of one step end alike, a process starts at most N of them in any
// second. N follows from its lease (StartsInSecondMax in sim/scenario/rules.h). And the calls of one transaction are
// no more than it needs if none fails (Rules::calls_of_transaction), and at most 64 in a second if some do.
//
//   - Alike: with the same outcome and code, as the process sees them, be it that all is well. One whose
//     end the process does not see changes nothing: what is lost is repeated like what is refused.
//   - A transaction is one however often its client sends a call of it again. A call fails if it ends with
//     an error or hangs; from then on only the 64 count, in seconds that follow each other.
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
  // The calls of a transaction that is under way.
  struct Calls {
    RequestId request = 0;
    bool failed = false;    // one of them
    int64_t sent = 0;       // until one failed
    Instant second;         // when the present second began
    int64_t in_second = 0;  // sent since then
    WHORL_FIELDS(Calls, request, failed, sent, second, in_second);
  };
  struct Part {
    ProcessId process;
    std::vector<Repeats> steps;
    std::vector<Calls> open;
    WHORL_FIELDS(Part, process, steps, open);
  };

  std::vector<Part> parts;  // by CheckerSetup::ParticipationIndex
  WHORL_FIELDS(PacedCalls, parts);

  static PacedCalls For(const CheckerSetup& setup) {
    return {.parts = std::vector<Part>(setup.ParticipationCount())};
  }

  void On(const TransactionStarted& x, const Now& now);
  void On(const TransactionFinished& x, const Now& now);
  void On(const CallSent& x, const Now& now);
  void On(const CallEnded& x, const Now& now) {
    if (x.code != Code::kOk) Fails(x.call, now);
  }
  void On(const CallHangs& x, const Now& now) { Fails(x.call, now); }
  // What is under way begins anew on it.
  void On(const SessionCreated& x, const Now& now);

 private:
  // Null if the process does not wait for the call's transaction.
  Calls* CallsOf(const CallName& call, const Now& now);
  void Fails(const CallName& call, const Now& now) {
    if (Calls* calls = CallsOf(call, now)) calls->failed = true;
  }
  Part& PartOf(ProcessId process, uint16_t lock, const CheckerSetup& setup);
  static Repeats& RepeatsOf(Part& part, StepName step);
};

}  // namespace whorl::sim
