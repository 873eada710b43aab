// One process's participation in one lock: owns the lock's machine (machine_host.h) and publishes
// its leadership to the program.
//
// Invariants:
//   1. Everything but Now() and Term() happens on the loop's thread.
//   2. Leadership is published only while the machine believes that it leads, its clock shows less
//      than the end of that belief (or, if the protocol has no such end, than the end of the last
//      renewed lease, counted from before the renewal was sent), and, if the protocol has tokens,
//      the machine has answered that it has the lock. That is stricter than the protocols' own
//      callbacks, which are not passed on.
//   3. After the participation has ended, no transaction, timer or thread of it is left.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "protocol/machine.h"
#include "protocol/protocol.h"
#include "protocol/protocols.h"
#include "real_client/lock.h"
#include "real_client/lock_loop.h"
#include "real_client/machine_clock.h"
#include "real_client/machine_host.h"
#include "real_client/owner_thread.h"
#include "real_client/transaction_client.h"

namespace whorl::real_client {

class LockHost : public std::enable_shared_from_this<LockHost>, private MachineHost::Owner {
 public:
  // The parts of the client that a host uses. They outlive the host.
  struct Dependencies {
    LockLoop& loop;
    TransactionClient& client;
    // Called when the lock was released, to inform the other hosts of this lock.
    std::function<void(const LockHost&)> announce;
    // Whether Spanner did not answer when a lock was last given back, and has not since: then the
    // next ones hardly wait. Shared by a client's hosts; used on the loop's thread only.
    std::shared_ptr<bool> spanner_unresponsive = std::make_shared<bool>(false);
  };
  enum class Patience : uint8_t { kForever, kUntil, kTryOnce };

  // REQUIRES: `options` are valid for `info`, with an id and a table.
  LockHost(Dependencies surroundings, const ProtocolInfo& info, LockOptions options);

  // Callable from any thread:
  bool IsInChild() const { return mark_.IsInChild(); }
  // Whether this thread runs the user's `lead`.
  bool IsWorkThread() const;
  Leadership Now() const;
  std::stop_token Term() const;
  const LockOptions& options() const { return options_; }
  const ProtocolInfo& info() const { return info_; }
  LockLoop& loop() { return around_.loop; }
  // Runs a transaction beside those of the machine.
  void RunSeparately(Transaction transaction, TransactionClient::Done done) {
    around_.client.Run(std::move(transaction), std::move(done));
  }

  // On the loop's thread:
  void Start();
  // `done` is called once. `until` counts for kUntil only.
  void Lead(Patience patience, LocalInstant until, std::function<void(LockResult)> done);
  // Reads the row: kHeld if another process holds the lock, or else kFailed, with what is known.
  void Sight(std::function<void(LockResult)> done);
  // `release_timeout`: how long transactions under way may take once the user's work has stopped; empty: the lease,
  // at most 10 s, and less where Spanner was waited for in vain before.
  void Stop(std::function<void()> done, std::optional<Duration> release_timeout = std::nullopt);
  void Ask(Question question, std::function<void(const Answer&)> done);
  void HearOfRelease();
  // Cancels what still has to be heard from Spanner before Stop() is done. Work that ends later has the usual time.
  void GiveUpReleasing() {
    release_timeout_.reset();
    if (phase_ == Phase::kStopping && work_stopped_) machine_.CancelTransactions();
  }

 private:
  enum class Phase : uint8_t { kIdle, kTakingPart, kStopping };

  struct Waiter {
    Patience patience = Patience::kForever;
    std::unique_ptr<LoopTimer> timer;
    std::function<void(LockResult)> done;
    bool gives_up = false;  // it is told what a last look at the row shows
  };

  void Begin();
  // Looks first whether the table is another protocol's, where that can be; then `begins`.
  void LookAtTable();
  void OnTableSeen(const ProtocolInfo& whose, const Status& read);
  // Looks who holds the lock, now and again, for the user's `on_leader`.
  void LookForLeader();
  void OnHoldings(const std::vector<Holding>& holdings);
  // Gives the machine an event and acts on the outcome.
  void Give(const Event& event);

  // MachineHost::Owner:
  std::shared_ptr<void> KeepAlive() override { return shared_from_this(); }
  TransactionClient::RunId Run(RequestId request, Transaction transaction,
                               TransactionClient::Done done) override;
  void OnTransactionEnded(RequestId request, const MachineHost::Flight& flight,
                          const TransactionResult& result) override;
  void OnDrained() override;
  void OnAnswer(Answer answer) override;
  void OnNote(Note note) override;
  void OnReleaseToAnnounce() override {
    own_until_ = {};
    around_.announce(*this);
  }

  void NoticeRenewal(const MachineHost::Flight& flight, const TransactionResult& result);
  void NoticeStatus(StepName step, const Status& status);
  void NoticeOwnRow() { own_until_ = MonotonicNow() + lease_ + info_.lease_grace + Seconds(1); }

  // Publishes the leadership that the machine's belief is worth. Asks the machine for its token first, which
  // may start a transaction: then leadership is published when that has ended.
  void Publish();
  void Publish(const Leadership& next);
  // The part of the machine's view that may be published now: nothing before the token was answered.
  Leadership LeadershipOf(const LeadershipView& view) const;
  void AskForToken(const LeadershipView& view);
  void SetLapse(const Leadership& leadership);
  void StartWork(std::stop_token stop, std::optional<uint64_t> token);
  void OnWorkReturned();

  void AnswerWaiters(const LockResult& result);
  // Answers the waiters for which `fails` is true, and stops unless another one remains.
  void FailWaiters(LockResult result, bool (*fails)(const Waiter&));
  // The same, when it is known whether another process holds the lock.
  void GiveUp(bool (*gives_up)(const Waiter&));
  void NoticeLooked();
  LockResult ResultOf(const TransactionResult& look) const;
  LockResult NotTaken(const std::string& why) const;
  void EndWork();
  void NoticeEnd();

  Dependencies around_;
  const ProtocolInfo& info_;
  const LockOptions options_;
  const Duration lease_;
  OsClock clock_;
  const ForkMark mark_;
  MachineHost machine_;

  Phase phase_ = Phase::kIdle;
  bool table_seen_ = false;  // it is not another protocol's
  bool stays_ = false;       // Start() was called: competes even if nothing waits
  uint64_t part_ = 0;        // counts participations, so that events of an old one are dropped
  std::map<AskId, std::function<void(const Answer&)>> asks_;
  AskId last_ask_ = 0;
  std::vector<Waiter> waiters_;
  std::vector<std::function<void()>> stopped_;  // called when the participation has ended
  bool work_stopped_ = false;
  int64_t ended_ = 0;            // the number of transactions that have ended
  Status failure_;               // the status of the last transaction
  std::string error_;            // the last one that was an error, with its step
  Code error_code_ = Code::kOk;  // its code
  int writes_ = 0;               // transactions under way that may take the lock
  // Until then a row with this process's id may be its own: it has written it, or may have. Not of this
  // participation alone, since some protocols never give a row back.
  LocalInstant own_until_;
  bool failed_for_good_ = false;         // it ended just now with an error that waiting cannot mend
  std::optional<LocalInstant> renewed_;  // when the last successful write was begun

  // The machine's answer about its token, if it has to query Spanner for that.
  std::optional<Token> asked_for_;
  LocalInstant ask_again_at_;
  std::optional<Answer> answer_;  // a yes

  LoopTimer lapse_;
  LoopTimer look_again_;  // at the table
  LoopTimer look_for_leader_;
  std::optional<std::string> leader_;        // as `on_leader` knows it
  std::optional<Duration> release_timeout_;  // as given to Stop
  LoopTimer patience_;  // limits the wait for transactions under way at the end
  std::thread work_;    // runs the user's `lead` for one term
  bool works_ = false;
  std::stop_token worked_in_;  // the term in which `lead` was last started

  mutable std::mutex mutex_;
  Leadership published_;   // guarded by mutex_
  std::stop_source term_;  // guarded by mutex_
};

}  // namespace whorl::real_client
