// Runs the machine of one lock on real time, chance and Spanner: what sim/world_process.* is to the
// simulation. The machine decides; this carries its events and effects, and publishes how it
// stands.
//
// Invariants:
//   1. Everything but Now() and Term() happens on the loop's thread.
//   2. Leadership is published only while the machine believes, its clock shows less than the end
//   of
//      its belief (or, where the protocol has no such end, than the end of the lease that was last
//      renewed, counted from before the renewal was sent), and, where tokens are handed out, the
//      machine has answered that it has the lock.
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
#include "real_client/os.h"
#include "real_client/transaction_client.h"

namespace whorl::real_client {

class LockHost : public std::enable_shared_from_this<LockHost> {
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
  // Beside the machine.
  void Run(Transaction transaction, TransactionClient::Done done) {
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

  struct Flight {
    TransactionClient::RunId run = 0;
    StepName step = StepName::kCheck;
    bool writes = false;
    bool has_mutations = false;
    bool has_test = false;  // so that FAILED_PRECONDITION is an answer
    Duration began;
  };
  struct Timer {
    LoopTimer timer;
    uint64_t number = 0;
  };
  struct Waiter {
    Patience patience = Patience::kForever;
    std::unique_ptr<LoopTimer> timer;
    std::function<void(Status)> done;
  };

  void Begin();
  // A step of the machine, and what follows from it.
  void Give(const Event& event);
  // The step and its effects alone.
  void StepMachine(const Event& event);
  void Do(RunTransaction& effect);
  void Do(const SetTimer& effect);
  void Do(const CancelTimer& effect);
  void Do(const LeadershipChanged&) {}  // how it stands says more
  void Do(const Answer& effect);
  void Do(const Note& effect);
  void Do(const CancelTransaction& effect);
  void Do(const AnnounceRelease&) { around_.announce(*this); }

  void OnEnded(RequestId request, TransactionResult result);
  void NoticeRenewal(const Flight& flight, const TransactionResult& result);

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
  const ProtocolConfig config_;
  OsEntropy entropy_;

  Phase phase_ = Phase::kIdle;
  bool stays_ = false;  // takes part without anybody who waits
  uint64_t part_ = 0;   // numbers parts, so that an old one's events are dropped
  ProtocolState state_;
  std::map<RequestId, Flight> flights_;
  std::map<TimerId, Timer> timers_;
  uint64_t last_timer_ = 0;
  std::map<AskId, std::function<void(const Answer&)>> asks_;
  AskId last_ask_ = 0;
  std::vector<Waiter> waiters_;
  std::vector<std::function<void()>> stopped_;  // who waits for the end of the part
  bool work_stopped_ = false;
  int64_t ended_ = 0;                // transactions of this part
  Status failure_;                   // of the transaction that ended last
  bool answered_ = false;            // it was an answer
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
