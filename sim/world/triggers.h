// Decides when `when` faults strike: the count-th time that a process of a node reaches a phase of
// a step. Those that the scenario's schedule begins strike there and not here.
//
// Invariant: the input is observations, and before a reply is taken the fact that it would end a
// step (phase `replied`).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/names.h"
#include "protocol/protocols.h"
#include "protocol/spanner/rpc.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

class Triggers {
 public:
  struct Hit {
    uint32_t fault = 0;
    CallName call;  // the call that reached the phase; for a write, only its process and lock
  };

  explicit Triggers(const Scenario& scenario);

  // Whether any trigger still waits for phase `replied` of the step at this node.
  bool WaitsForReply(int16_t node, StepName step) const;
  bool empty() const { return armed_.empty(); }

  // Each appends the faults that strike now to `hits`.
  void Observe(const Observation& observation, std::vector<Hit>& hits);
  void Replied(const CallName& call, StepName step, std::vector<Hit>& hits);

 private:
  struct Armed {
    uint32_t fault = 0;
    When when;
    int64_t seen = 0;
  };
  static constexpr uint32_t BitOf(Phase phase) {
    return uint32_t{1} << static_cast<uint32_t>(phase);
  }
  void NotePhases();
  void Reach(const CallName& call, StepName step, Phase phase, std::vector<Hit>& hits);

  const ProtocolInfo* protocol_;
  std::vector<Armed> armed_;
  uint32_t phases_ = 0;  // those for which one is armed, a bit for each
};

}  // namespace whorl::sim
