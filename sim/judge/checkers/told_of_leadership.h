// told_of_leadership: the application is told that its process leads when the process begins to believe so,
// not earlier, and is told of the end when the belief ends. So callbacks come in pairs.
//
//   - Told is who had a callback with 1, until the next one with 0. A callback that repeats the last one is no
//     violation.
//   - A callback may come 10 ms after belief has changed, and no earlier than that. A process that is paused is
//     told when it goes on; one that is gone is never told.
//   - Some protocols tell the application later, or not at all, of an end that the application itself asked for
//     (Rules::told_of_stop_within).
//   - An application that uses Lock() learns from its answers, and has no callbacks.
// So it is judged of runs, not of states: a state does not show for how long it has been so.
#pragma once

#include <vector>

#include "sim/judge/checkers/due_times.h"
#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct ToldOfLeadership {
  static constexpr Invariant kInvariant = Invariant::kToldOfLeadership;

  struct Part {
    ProcessId process;
    bool believes = false;
    bool told = false;     // the last callback said that it leads
    bool ended = false;    // its part in the lock has ended
    bool overdue = false;  // was violated since the two agreed
    Instant due =
        kNever;  // when it has to be told at the latest; kNever if there is nothing to tell
    WHORL_FIELDS(Part, process, believes, told, ended, overdue, due);
  };

  std::vector<Part> parts;  // by CheckerSetup::ParticipationIndex
  DueTimes due_times;       // by the same
  WHORL_FIELDS(ToldOfLeadership, parts, due_times);

  static ToldOfLeadership For(const CheckerSetup& setup) {
    return {.parts = std::vector<Part>(setup.ParticipationCount()), .due_times = {}};
  }

  void On(const ProcessStarted& x, const Now& now) { Forget(x.process, now); }
  void On(const ProcessGone& x, const Now& now) { Forget(x.process, now); }
  void On(const ProcessStopped& x, const Now& now);
  void On(const ProcessPaused& x, const Now& now) { Update(x.process, now); }
  void On(const ProcessResumed& x, const Now& now) { Update(x.process, now); }
  void On(const ParticipationEnded& x, const Now& now);
  void On(const BeliefChanged& x, const Now& now);
  void On(const CalledBack& x, const Now& now);

  // Called before the observation of this instant is handled.
  void PassTo(const Now& now) {
    if (due_times.MayHavePassed(now.at)) Expire(now);
  }

 private:
  void Expire(const Now& now);
  // The newest process of its node begins anew, or is gone.
  void Forget(ProcessId process, const Now& now);
  void Update(ProcessId process, const Now& now);
  void Update(Part& part, const Now& now);
  size_t IndexOf(const Part& part) const { return static_cast<size_t>(&part - parts.data()); }
};

}  // namespace whorl::sim
