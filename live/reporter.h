// A node's voice: what happens in its process, as lines on standard output, and the points at which
// it stands still until the stage lets it go on.
//
// Every line is one write, so that it comes whole or not at all. From any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "live/talk.h"
#include "sim/scenario/instant.h"
#include "sim/world/observation.h"

namespace whorl::live {

// Phases of steps that faults of the scenario wait for, of those that a process can see itself.
class Points {
 public:
  Points(const sim::Scenario& scenario, int16_t node);
  bool Has(StepName step, Phase phase) const { return points_.contains({step, phase}); }

 private:
  std::set<std::pair<StepName, Phase>> points_;
};

class Reporter {
 public:
  // A process whose stage has gone ends here.
  void Say(const Report& report);
  // Happens now. `run_started` has to be known.
  void Tell(sim::ObservedEvent what, std::optional<sim::Instant> lapses_at = std::nullopt);

  // Says where the process has come to, and waits to be let go.
  void StopAt(const CallName& call, StepName step, Phase phase,
              std::vector<sim::ObservedEvent> what = {});
  void Release(uint64_t point);

  void SetStart(Duration run_started) { run_started_ = run_started; }
  sim::Instant Now() const;

 private:
  Duration run_started_;
  std::mutex writing_;
  std::mutex mutex_;
  std::condition_variable released_;
  uint64_t last_point_ = 0;      // guarded by mutex_
  std::set<uint64_t> passable_;  // guarded by mutex_
};

}  // namespace whorl::live
