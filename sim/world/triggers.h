// Faults that strike when something happens: the count-th time that a process of a node reaches a
// phase of a step.
//
// Invariant: it is fed with observations, and with the one thing that comes before an observation:
// that the next event would end a step (phase `replied`).
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/names.h"
#include "protocol/spanner/rpc.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

class Triggers {
 public:
  struct Hit {
    uint32_t fault = 0;
    CallName call;  // that reached the phase; only its process and lock for a write
  };

  explicit Triggers(const Scenario& scenario);

  // Whether any trigger still waits for a reply to this node.
  bool WaitsForReply(int16_t node) const;
  bool empty() const { return armed_.empty(); }

  // Appends the faults that strike now.
  void Observe(const Observation& observation, std::vector<Hit>& hits);
  void Replied(const CallName& call, StepName step, std::vector<Hit>& hits);

 private:
  struct Armed {
    uint32_t fault = 0;
    When when;
    int64_t seen = 0;
  };
  void Reach(const CallName& call, StepName step, Phase phase, std::vector<Hit>& hits);

  bool answers_locally_ = false;  // has_lock ends with its answer
  std::vector<Armed> armed_;
};

}  // namespace whorl::sim
