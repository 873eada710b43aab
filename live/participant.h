// A process's part in one lock: the protocol's machine on real time, chance and Spanner, and the
// scenario's application that uses it. What sim/world/process.cc is to the simulation; each word
// and order of events there has its counterpart here.
//
// It is not real_client/lock_host.*, which publishes leadership more strictly than the protocols'
// own callbacks do (never past a lease) and so would hide what scenarios are there to show;
// tests/contract/ holds that one to account.
// All of it belongs to the loop's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "live/call_names.h"
#include "live/node_time.h"
#include "live/reporter.h"
#include "protocol/machine.h"
#include "protocol/protocol.h"
#include "real_client/lock_loop.h"
#include "real_client/os.h"
#include "real_client/transaction_client.h"
#include "sim/scenario/scenario.h"

namespace whorl::live {

class Participant {
 public:
  // What it shares with the process's other parts; all of it outlives them.
  struct Surroundings {
    const sim::Scenario& scenario;
    ProcessId process;
    real_client::LockLoop& loop;
    real_client::TransactionClient& client;
    CallNames& calls;
    NodeTime& time;
    Reporter& reporter;
    const Points& points;
  };

  Participant(Surroundings around, uint16_t lock);
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;

  void Start();
  void StopGracefully();
  void HearOfRelease() { Give(ReleaseAnnounced{}); }
  // The node's clock runs in another way from now on.
  void ClockChanged();

 private:
  enum class TimerOwner : uint8_t { kMachine, kApplication, kWork, kDeadline };
  using TimerKey = std::pair<TimerOwner, uint16_t>;
  struct Timer {
    real_client::LoopTimer timer;
    uint64_t number = 0;
    Duration at;  // of the process's monotonic clock
  };
  struct Flight {
    real_client::TransactionClient::RunId run = 0;
    StepName step = StepName::kCheck;
  };
  struct Application {
    bool running = false;
    bool asking = false;
    bool leading = false;
    bool working = false;
    std::optional<uint64_t> token;
    sim::Instant asked_at;
  };
  // Where the process is to stand still once what happens has been acted upon.
  struct ReachedPoint {
    StepName step = StepName::kCheck;
    sim::ObservedEvent what;
  };

  const sim::NodeSpec& spec() const {
    return around_.scenario.nodes[static_cast<size_t>(around_.process.node)];
  }
  CallName OwnName() const;

  // The machine. Events that come of an event are taken after it, in their order.
  void Give(Event event);
  void StepMachine(const Event& event);
  void Do(RunTransaction& effect);
  void Do(const SetTimer& effect) { SetTimerAt({TimerOwner::kMachine, effect.timer}, effect.at); }
  void Do(const CancelTimer& effect) { timers_.erase({TimerOwner::kMachine, effect.timer}); }
  void Do(const LeadershipChanged& effect);
  void Do(Answer& effect);
  void Do(Note& effect);
  void Do(const CancelTransaction& effect);
  void Do(const AnnounceRelease&) { around_.reporter.Say(Announces{.lock = lock_}); }
  void OnEnded(RequestId request, TransactionResult result);
  void NoticeStanding();
  bool Believes() const;
  void StopAtReached();

  void SetTimerAt(TimerKey key, Duration local);
  void Arm(TimerKey key, Timer& timer);
  void OnTimer(TimerKey key);

  // The application.
  void Ask(AskId ask, Question question);
  void BeginLeading();
  void EndLeading();
  void StopWork();
  void OnApplicationTimer();
  void BeginWork();
  void SendWrite();
  void EndParticipation(StopReason reason);

  const Surroundings around_;
  const uint16_t lock_;
  const ProtocolConfig config_;
  real_client::OsEntropy entropy_;
  ProtocolState machine_;
  std::deque<Event> events_;
  bool stepping_ = false;
  std::vector<ReachedPoint> reached_;
  std::map<RequestId, Flight> flights_;
  std::map<TimerKey, Timer> timers_;
  uint64_t last_timer_ = 0;
  Standing standing_;
  Application application_;
  bool ended_ = false;    // takes part no more
  bool stopped_ = false;  // its process was asked to end
};

}  // namespace whorl::live
