// Reports the events of a node's process as lines on standard output, and stops the process at
// points until the coordinator lets it go on.
//
// Each line is a single write(), so that it arrives whole or not at all. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "live/messages.h"
#include "sim/scenario/instant.h"
#include "sim/world/observation.h"

namespace whorl::live {

// The phases of steps for which faults of the scenario wait, as far as the process itself sees them.
class Points {
 public:
  Points(const sim::Scenario& scenario, int16_t node);
  bool Has(StepName step, Phase phase) const { return points_.contains({step, phase}); }

 private:
  std::set<std::pair<StepName, Phase>> points_;
};

class Reporter {
 public:
  // Ends the process if the coordinator has ended.
  void Send(const Report& report);
  // Reports an event that happens now. REQUIRES: SetStart() was called.
  void ReportEvent(sim::ObservedEvent what, std::optional<sim::Instant> lapses_at = std::nullopt);

  // Reports the point that the process has reached, and waits for its Release.
  void StopAt(const CallName& call, StepName step, Phase phase,
              std::vector<sim::ObservedEvent> what = {});
  void Release(uint64_t point);

  void SetStart(LocalInstant run_started) { run_started_ = run_started; }
  sim::Instant Now() const;

 private:
  LocalInstant run_started_;
  std::mutex writing_;
  std::mutex mutex_;
  std::condition_variable released_;
  uint64_t last_point_ = 0;      // guarded by mutex_
  std::set<uint64_t> passable_;  // guarded by mutex_
};

}  // namespace whorl::live
