// Hosts a scenario's application in a node's process, beside what takes part in the lock for it: a
// protocol's machine, or a program that was not written here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "live/node_time.h"
#include "live/reporter.h"
#include "real_client/lock_loop.h"
#include "real_client/loop_timers.h"
#include "sim/scenario/scenario.h"
#include "sim/world/application.h"
#include "sim/world/hosting.h"

namespace whorl::live {

// On the loop's thread only.
class HostedApplication {
 public:
  // Everything outlives this.
  struct Dependencies {
    const sim::Scenario& scenario;
    ProcessId process;
    uint16_t lock = 0;
    real_client::LockLoop& loop;
    NodeTime& time;
    Reporter& reporter;
    const Points& points;
    // An event for what takes part in the lock. It must not take a step at once.
    std::function<void(Event)> queue;
    // Called after a step, when the queued events can be taken.
    std::function<void()> take_queued;
  };
  explicit HostedApplication(Dependencies around);

  void Give(const sim::ApplicationEvent& event);
  void Carry(const LeadershipChanged& changed);
  // Returns what was observed if it answers HasLock.
  std::optional<sim::QuestionAnswered> Carry(Answer answer);
  void Carry(Note note);
  void ClockChanged() { timers_.ArmAgain(); }

 private:
  // The host of sim/world/hosting.h.
  class Host;

  CallName OwnName() const;
  // Stops the process at the point where it has sent a write, if a fault waits for that.
  void StopAtWrites();

  const Dependencies around_;
  const sim::ApplicationConfig config_;
  sim::ApplicationState state_;
  std::vector<sim::ApplicationEffect> effects_;
  real_client::LoopTimers<sim::ApplicationTimer> timers_;
  std::map<AskId, sim::Instant> asked_at_;
  std::vector<sim::ObservedEvent> writes_;  // of the current step
  std::optional<sim::QuestionAnswered> answered_;
};

}  // namespace whorl::live
