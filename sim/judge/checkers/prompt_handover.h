// prompt_handover: a lock that its process no longer wants is given back, and one that was given back is taken.
//
//   - A process that led when its part ended has given the lock back R after that and the end of its work, if
//     enough of its lease was left then, also as far as the process itself knew; in some protocols also one for
//     which the lock comes in only then. R is a second and eight slow round trips.
//   - A lock that its owner has given back is taken by another process within R and the longest pause between
//     two looks (HandoverRule), or, where releases are announced, the longest one before a look of a process that
//     hears of one. A process takes part, is up and connected all that time; whenever one starts or ends its part,
//     the time begins anew.
//   - Both are judged if nothing disturbs the run meanwhile, nor did so before for as long as is felt
//     (HandoverRule::settles): no fault is active but an orderly stop or start, no call hangs or is ended by the
//     transport, no session is lost, and no transaction is given up that may have locked rows.
// So it is judged of runs, not of states: a state does not show for how long it has been so.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/judge/checkers/due_times.h"
#include "sim/judge/checkers/run_now.h"
#include "sim/judge/checkers/tally.h"

namespace whorl::sim {

struct PromptHandover {
  static constexpr Invariant kInvariant = Invariant::kPromptHandover;

  // Something that has to happen.
  struct Obligation {
    Instant since;
    Instant due = kNever;  // kNever: nothing has to happen
    WHORL_FIELDS(Obligation, since, due);
  };
  struct Part {
    ProcessId process;
    bool believes = false;
    bool led = false;    // it believed when its part ended
    bool ended = false;  // its part in the lock
    Obligation gives_back;
    WHORL_FIELDS(Part, process, believes, led, ended, gives_back);
  };

  std::vector<Part> parts;        // by CheckerSetup::ParticipationIndex
  std::vector<Obligation> taken;  // by lock: by when it has to be taken
  int64_t faults = 0;             // active, but for orderly ones
  Instant disturbed = kNever;     // when the run was disturbed last; kNever: it never was
  DueTimes due_back;              // Part::gives_back, by the index of the part
  DueTimes due_taken;             // `taken`, by lock
  WHORL_FIELDS(PromptHandover, parts, taken, faults, disturbed, due_back, due_taken);

  static PromptHandover For(const CheckerSetup& setup) {
    return {.parts = std::vector<Part>(setup.ParticipationCount()),
            .taken = std::vector<Obligation>(setup.locks.size()),
            .due_back = {},
            .due_taken = {}};
  }

  void On(const FaultBegan& x, const RunNow& now) { CountFault(x.fault, 1, now); }
  void On(const FaultEnded& x, const RunNow& now) { CountFault(x.fault, -1, now); }
  void On(const CallHangs&, const RunNow& now) { disturbed = now.at; }
  void On(const TransactionLeft& x, const RunNow& now);
  void On(const CallEnded& x, const RunNow& now) {
    if (!x.from_spanner) disturbed = now.at;
  }
  void On(const SessionLost&, const RunNow& now) { disturbed = now.at; }
  void On(const SessionCreated&, const RunNow& now) { disturbed = now.at; }
  void On(const ProcessStarted& x, const RunNow& now) { BeginAnew(x.process, now); }
  void On(const ProcessGone& x, const RunNow& now);
  void On(const ProcessStopped& x, const RunNow& now);
  void On(const ParticipationEnded& x, const RunNow& now);
  void On(const BeliefChanged& x, const RunNow& now);
  void On(const WorkChanged& x, const RunNow& now);
  void On(const VersionChanged& x, const RunNow& now);
  void On(const TransactionFinished& x, const RunNow& now);

  // Called before the observation of this instant is handled.
  void PassTo(const RunNow& now) {
    if (due_back.MayHavePassed(now.at) || due_taken.MayHavePassed(now.at)) Expire(now);
  }

 private:
  void CountFault(uint32_t fault, int64_t more, const RunNow& now);
  void Expire(const RunNow& now);
  // Nothing has disturbed what began then, and has to have ended by now.
  bool IsUndisturbed(const Obligation& obligation, const RunNow& now) const;
  void BeginAnew(ProcessId process, const RunNow& now);
  // Nothing is known of its part any more.
  void Forget(ProcessId process, uint16_t lock, const RunNow& now);
  // A process that has ended its part and its work owns the lock.
  void OweRelease(Part& part, uint16_t lock, const RunNow& now);
  void OweTaking(uint16_t lock, const RunNow& now);
  // Null if the process is not the newest of its node.
  Part* PartOf(ProcessId process, uint16_t lock, const CheckerSetup& setup);
  void SetGivesBack(size_t index, const Obligation& obligation) {
    parts[index].gives_back = obligation;
    due_back.Set(index, obligation.due);
  }
  void SetTaken(uint16_t lock, const Obligation& obligation) {
    taken[lock] = obligation;
    due_taken.Set(lock, obligation.due);
  }
};

}  // namespace whorl::sim
