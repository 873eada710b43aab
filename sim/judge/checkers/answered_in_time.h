// answered_in_time: every question of an application is answered.
//
//   - HasLock, HasLock2, Leader and the like are answered at once, or as soon as the transaction has ended that
//     asks Spanner: the client of a process bounds how long its calls take. So a question is lost if 10 ms pass
//     in which no such transaction is under way.
//   - Lock() may wait for the lock, until its context ends: then it is answered as soon as the process looks
//     whether it has (Rules::lock_looks_every), and the question that was under way has ended.
//   - A process that stops answers like any other. One that is paused answers when it goes on; one that is gone
//     never does.
// So it is judged of runs, not of states: a state does not show for how long it has been so.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/judge/checkers/due_times.h"
#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct AnsweredInTime {
  static constexpr Invariant kInvariant = Invariant::kAnsweredInTime;

  struct Part {
    ProcessId process;
    int32_t asked = 0;          // questions without an answer, apart from Lock()
    int32_t asking = 0;         // transactions under way that ask Spanner for an answer
    bool locks = false;         // Lock() has no answer yet
    bool ended = false;         // its part in the lock has ended
    bool overdue = false;       // was violated since there were questions without an answer
    Instant due = kNever;       // of the questions; kNever if there are none, or Spanner is asked
    Instant lock_due = kNever;  // of Lock(); kNever while it may wait
    WHORL_FIELDS(Part, process, asked, asking, locks, ended, overdue, due, lock_due);
  };

  std::vector<Part> parts;  // by CheckerSetup::ParticipationIndex
  DueTimes due_times;       // by the same: the earlier of both
  WHORL_FIELDS(AnsweredInTime, parts, due_times);

  static AnsweredInTime For(const CheckerSetup& setup) {
    return {.parts = std::vector<Part>(setup.ParticipationCount()), .due_times = {}};
  }

  void On(const ProcessStarted& x, const Now& now) { Forget(x.process, now); }
  void On(const ProcessGone& x, const Now& now) { Forget(x.process, now); }
  void On(const ProcessPaused& x, const Now& now) { Update(x.process, now); }
  void On(const ProcessResumed& x, const Now& now) { Update(x.process, now); }
  void On(const ParticipationEnded& x, const Now& now);
  void On(const QuestionAsked& x, const Now& now);
  void On(const QuestionAnswered& x, const Now& now);
  void On(const TransactionStarted& x, const Now& now) {
    if (AsksSpanner(x.step, now)) CountAsking(x.process, x.lock, 1, now);
  }
  void On(const TransactionFinished& x, const Now& now) {
    if (AsksSpanner(x.step, now)) CountAsking(x.process, x.lock, -1, now);
  }

  // Called before the observation of this instant is handled.
  void PassTo(const Now& now) {
    if (due_times.MayHavePassed(now.at)) Expire(now);
  }

 private:
  static bool AsksSpanner(StepName step, const Now& now) {
    return step == steps::kHasLock || step == now.setup.rules->question_step;
  }
  void CountAsking(ProcessId process, uint16_t lock, int32_t more, const Now& now);
  void Expire(const Now& now);
  // The newest process of its node begins anew, or is gone.
  void Forget(ProcessId process, const Now& now);
  void Update(ProcessId process, const Now& now);
  void Update(Part& part, const Now& now);
  // Null if the process is not the newest of its node.
  Part* PartOf(ProcessId process, uint16_t lock, const Now& now);
  size_t IndexOf(const Part& part) const { return static_cast<size_t>(&part - parts.data()); }
};

}  // namespace whorl::sim
