#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo PauseFault::Describe() {
  return {.word = "pause",
          .about =
              "nothing runs in the process for a while, as in a garbage collection; its timers "
              "and the replies to it wait until it goes on, and its clocks do not stop",
          .keys = {ForKey(/*required=*/true)},
          .example = R"({ "at": "20s", "do": "pause", "node": "a", "for": "15s" })"};
}

}  // namespace whorl::sim
