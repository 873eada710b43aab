// Takes part in one lock for a process: runs the protocol's machine by the code that ships
// (real_client/machine_host.h), and the scenario's application, which is the simulation's
// (sim/world/application.h). A Participant connects the two with the run: it provides clocks,
// labels calls, reports events to the coordinator, and stops the process at points.
//
// Programs use real_client/lock_host.h, which owns a machine host, too, but is not used here;
// README.md says why.
// Everything happens on the loop's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "live/call_names.h"
#include "live/hosted_application.h"
#include "live/node_time.h"
#include "live/reporter.h"
#include "protocol/machine.h"
#include "real_client/lock_loop.h"
#include "real_client/loop_timers.h"
#include "real_client/machine_host.h"
#include "real_client/transaction_client.h"
#include "sim/scenario/scenario.h"

namespace whorl::live {

class Participant : private real_client::MachineHost::Owner {
 public:
  // What all participants of the process share. It outlives them.
  struct Dependencies {
    const sim::Scenario& scenario;
    ProcessId process;
    real_client::LockLoop& loop;
    real_client::TransactionClient& client;
    CallNames& calls;
    NodeTime& time;
    Reporter& reporter;
    const Points& points;
  };

  // REQUIRES: it lives as long as the process.
  Participant(Dependencies around, uint16_t lock);
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;

  void Start();
  void StopGracefully();
  void HearOfRelease() { machine_.Give(ReleaseAnnounced{}); }
  // Call it when the node's clock has changed.
  void ClockChanged();

 private:
  // A point at which the process stops as soon as it has acted on the events that led there.
  struct ReachedPoint {
    StepName step;
    sim::ObservedEvent what;
  };

  const sim::NodeSpec& spec() const {
    return around_.scenario.nodes[static_cast<size_t>(around_.process.node)];
  }
  CallName OwnName() const;

  // MachineHost::Owner:
  std::shared_ptr<void> KeepAlive() override { return nullptr; }
  real_client::TransactionClient::RunId Run(RequestId request, Transaction transaction,
                                            real_client::TransactionClient::Done done) override;
  void OnTransactionEnded(RequestId request, const real_client::MachineHost::Flight& flight,
                          const TransactionResult& result) override;
  void OnStep() override { NoticeStanding(); }
  void OnDrained() override { StopAtReached(); }
  void OnLeadershipChanged(const LeadershipChanged& changed) override;
  void OnAnswer(Answer answer) override;
  void OnNote(Note note) override;
  void OnReleaseToAnnounce() override { around_.reporter.Send(Announces{.lock = lock_}); }

  void NoticeStanding();
  bool Believes() const;
  void StopAtReached();

  const Dependencies around_;
  const uint16_t lock_;
  real_client::MachineHost machine_;
  HostedApplication application_;
  std::vector<ReachedPoint> reached_;
  LeadershipView standing_;
  std::optional<sim::Instant> lapses_at_;  // when the belief lapses by the clock
};

}  // namespace whorl::live
