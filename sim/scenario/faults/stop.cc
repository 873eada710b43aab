#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo StopFault::Describe() {
  return {
      .word = "stop",
      .about = "the process is told to stop, and does what the protocol does then",
      .keys = {RestartAfterKey()},
      .example =
          R"({ "at": "20s", "do": "stop", "node": "pod-*", "stagger": "5s", "restart_after": "2s" })"};
}

}  // namespace whorl::sim
