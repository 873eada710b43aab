#include "sim/hunt/speed_worlds.h"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/hunt/hunt.h"
#include "sim/scenario/error_text.h"

namespace whorl::sim {

Scenario QuietWorld(int64_t nodes, Duration duration) {
  Scenario scenario;
  scenario.name = "quiet";
  scenario.about = "The speed of a quiet time, without faults.";
  scenario.protocol = "spindle_v2";
  scenario.locks = {"lock"};
  scenario.duration = duration;
  scenario.seed = 1;
  for (int64_t i = 0; i < nodes; ++i) {
    NodeSpec node;
    node.name = i == 0 ? "leader" : Cat("follower", std::to_string(i));
    node.locks = {0};
    node.lease = Seconds(10);
    node.use = i == 0 ? Use::kHasLock : Use::kCallback;
    if (i > 0) node.start_at = Instant{} + Seconds(1);
    scenario.nodes.push_back(std::move(node));
  }
  return scenario;
}

Duration QuietDuration(int64_t nodes) {
  constexpr int64_t kNodeSeconds = 300'000;
  return Seconds(std::max<int64_t>(600, kNodeSeconds / nodes));
}

Scenario HuntedWorld(uint64_t run) {
  HuntOptions options;
  options.protocols = {"fenced_lease"};
  options.world.duration = Seconds(120);
  return WorldOfRun(options, run);
}

}  // namespace whorl::sim
