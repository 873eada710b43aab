// Runs the machine of one lock on real time, chance and Spanner: it delivers events, sets timers
// and runs transactions. The machine's other effects go to its owner: LockHost, which publishes
// leadership to a program, or the scenario's application in a real process of `whorl replay --on`.
//
// Invariants:
//   1. Everything happens on the loop's thread.
//   2. Events are taken in the order in which they were queued, and all effects of one are carried
//      out before the next is taken.
//   3. After End() no timer and no queued event of the machine is left.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "protocol/machine.h"
#include "protocol/protocol.h"
#include "real_client/lock_loop.h"
#include "real_client/loop_timers.h"
#include "real_client/machine_clock.h"
#include "real_client/os.h"
#include "real_client/transaction_client.h"

namespace whorl::real_client {

class MachineHost {
 public:
  // A transaction of the machine that is under way.
  struct Flight {
    TransactionClient::RunId run = 0;
    StepName step;
    bool writes = false;
    bool has_mutations = false;
    bool has_test = false;  // so that FAILED_PRECONDITION is an answer
    LocalInstant began;     // by MonotonicNow()
  };

  class Owner {
   public:
    virtual ~Owner() = default;
    // Held while a timer is set or a transaction is under way; null if the owner outlives both.
    virtual std::shared_ptr<void> KeepAlive() = 0;

    // Passes the transaction to the client.
    virtual TransactionClient::RunId Run(RequestId request, Transaction transaction,
                                         TransactionClient::Done done) = 0;
    // The transaction has ended; the machine gets the result next.
    virtual void OnTransactionEnded(RequestId request, const Flight& flight,
                                    const TransactionResult& result) = 0;
    // The machine has taken a step, whose effects are carried out next.
    virtual void OnStep() {}
    // The machine has taken a timer or the end of a transaction, and all events that followed.
    virtual void OnDrained() = 0;

    // Effects of the machine.
    virtual void OnLeadershipChanged(const LeadershipChanged& /*changed*/) {}
    virtual void OnAnswer(Answer answer) = 0;
    virtual void OnNote(Note note) = 0;
    virtual void OnReleaseToAnnounce() = 0;
  };

  // All arguments taken by reference outlive the host.
  MachineHost(LockLoop& loop, TransactionClient& client, const MachineClock& clock, Owner& owner,
              ProtocolConfig config);
  MachineHost(const MachineHost&) = delete;
  MachineHost& operator=(const MachineHost&) = delete;

  // Creates a new machine, which has not been given Started yet.
  void Begin(bool blocking_wrapper);
  // REQUIRES: no transaction is under way, or its end will no longer be posted to the loop.
  void End();

  void Queue(Event event) { events_.push_back(std::move(event)); }
  // Takes the queued events, unless a call of it is running already.
  void TakeQueued();
  void Give(Event event) {
    Queue(std::move(event));
    TakeQueued();
  }

  // REQUIRES: between Begin() and End().
  LeadershipView standing() const { return LeadershipViewOf(state_, clock_.Local()); }
  bool has_transactions() const { return !flights_.empty(); }
  // Cancels reads, or all transactions; they end soon, with CANCELLED unless they end otherwise.
  void CancelReads();
  void CancelTransactions();
  // Call it when the offset or rate of the machine's clock has changed.
  void ClockChanged() { timers_.ArmAgain(); }

 private:
  void Take(const Event& event);
  void Do(RunTransaction& effect);
  void Do(const SetTimer& effect) { timers_.Set(effect.timer, effect.at, owner_.KeepAlive()); }
  void Do(const CancelTimer& effect) { timers_.Cancel(effect.timer); }
  void Do(const CancelTransaction& effect);
  void Do(const LeadershipChanged& effect) { owner_.OnLeadershipChanged(effect); }
  void Do(Answer& effect) { owner_.OnAnswer(std::move(effect)); }
  void Do(Note& effect) { owner_.OnNote(std::move(effect)); }
  void Do(const AnnounceRelease&) { owner_.OnReleaseToAnnounce(); }
  void OnTimer(TimerId timer);
  void OnEnded(RequestId request, TransactionResult result);

  LockLoop& loop_;
  TransactionClient& client_;
  const MachineClock& clock_;
  Owner& owner_;
  const ProtocolConfig config_;
  OsEntropy entropy_;
  ProtocolState state_;
  std::deque<Event> events_;
  bool taking_ = false;
  std::map<RequestId, Flight> flights_;
  LoopTimers<TimerId> timers_;
};

}  // namespace whorl::real_client
