#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo CrashFault::Describe() {
  return {.word = "crash",
          .about = "the process dies with all that it knew; what it sent stays on its way",
          .keys = {RestartAfterKey()},
          .example =
              R"({ "when": { "node": "a", "step": "heartbeat_update", "phase": "sent", "count": 3 },
  "do": "crash", "restart_after": "10s" })"};
}

}  // namespace whorl::sim
