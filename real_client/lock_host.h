// A program's part in one lock: owns the lock's machine (machine_host.h), and publishes to the
// program how it stands.
//
// Invariants:
//   1. Everything but Now() and Term() happens on the loop's thread.
//   2. Leadership is published only while the machine believes, its clock shows less than the end of
//      its belief (or, where the protocol has no such end, than the end of the lease that was last
//      renewed, counted from before the renewal was sent), and, where tokens are handed out, the
//      machine has answered that it has the lock. That is stricter than the protocols' own
//      callbacks, which are not passed on.
//   3. A part that has ended leaves nothing behind: no transaction, no timer, no thread.
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
#include "real_client/transaction_client.h"

namespace whorl::real_client {

class LockHost : public std::enable_shared_from_this<LockHost>, private MachineHost::Owner {
 public:
  // What a host needs of its client. It outlives the host.
  struct Surroundings {
    LockLoop& loop;
    TransactionClient& client;
    // The lock was given back: to be told to the other hosts of this lock.
    std::function<void(const LockHost&)> announce;
  };
  enum class Patience : uint8_t { kForever, kUntil, kOneLook };

  // REQUIRES: `options` are valid for `info`, with an id and a table.
  LockHost(Surroundings surroundings, const ProtocolInfo& info, LockOptions options);

  // From any thread:
  Leadership Now() const;
  std::stop_token Term() const;
  const LockOptions& options() const { return options_; }
  const ProtocolInfo& info() const { return info_; }
  LockLoop& loop() { return around_.loop; }
  // Beside the machine's own transactions.
  void RunBeside(Transaction transaction, TransactionClient::Done done) {
    around_.client.Run(std::move(transaction), std::move(done));
  }

  // On the loop's thread:
  void Start();
  // `done` is called once. `until`: of kUntil.
  void Lead(Patience patience, Duration until, std::function<void(Status)> done);
  void Stop(std::function<void()> done);
  void Ask(Question question, std::function<void(const Answer&)> done);
  void HearOfRelease();

 private:
  enum class Phase : uint8_t { kIdle, kTakingPart, kStopping };

  struct Waiter {
    Patience patience = Patience::kForever;
    std::unique_ptr<LoopTimer> timer;
    std::function<void(Status)> done;
  };

  void Begin();
  // An event for the machine, and what follows from it.
  void Give(const Event& event);

  // As the machine's owner.
  std::shared_ptr<void> KeepAlive() override { return shared_from_this(); }
  TransactionClient::RunId Run(whorl::RequestId request, Transaction transaction,
                               TransactionClient::Done done) override;
  void OnTransactionEnded(whorl::RequestId request, const MachineHost::Flight& flight,
                          const TransactionResult& result) override;
  void OnSettled() override;
  void OnLeadershipChanged(const LeadershipChanged&) override {}  // how it stands says more
  void OnAnswer(Answer answer) override;
  void OnNote(Note note) override;
  void OnReleaseToAnnounce() override { around_.announce(*this); }

  void NoticeRenewal(const MachineHost::Flight& flight, const TransactionResult& result);

  void Publish();
  Leadership Stands();
  void AskForToken(const Standing& standing);
  void SetLapse(const Leadership& leadership);
  void StartWork(std::stop_token stop, std::optional<uint64_t> token);
  void OnWorkReturned();

  void AnswerWaiters(const Status& status);
  // Tells those, and ends the part unless somebody else wants it.
  void FailWaiters(Status status, bool (*fails)(const Waiter&));
  void NoticeLooked();
  Status NotYet() const;
  void EndWork();
  void NoticeEnd();

  Surroundings around_;
  const ProtocolInfo& info_;
  const LockOptions options_;
  const Duration lease_;
  OsClock clock_;
  MachineHost machine_;

  Phase phase_ = Phase::kIdle;
  bool stays_ = false;  // takes part without anybody who waits
  uint64_t part_ = 0;   // numbers parts, so that an old one's events are dropped
  std::map<AskId, std::function<void(const Answer&)>> asks_;
  AskId last_ask_ = 0;
  std::vector<Waiter> waiters_;
  std::vector<std::function<void()>> stopped_;  // who waits for the end of the part
  bool work_stopped_ = false;
  int64_t ended_ = 0;                // transactions of this part
  Status failure_;                   // of the transaction that ended last
  bool answered_ = false;            // it was an answer
  bool failed_for_good_ = false;     // it ended just now with what waiting does not mend
  std::optional<Duration> renewed_;  // when the write that succeeded last was begun

  // What the machine answered about its token, where it has to ask Spanner for that.
  std::optional<Timestamp> asked_for_;
  Duration ask_again_at_;
  std::optional<Answer> answer_;  // a yes

  LoopTimer lapse_;
  LoopTimer patience_;  // with what is under way when the part ends
  std::thread work_;    // the user's, of one term
  bool works_ = false;
  std::stop_token worked_in_;  // the term that the work was begun in last

  mutable std::mutex mutex_;
  Leadership published_;   // guarded by mutex_
  std::stop_source term_;  // guarded by mutex_
};

}  // namespace whorl::real_client
