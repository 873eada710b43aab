#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo StartFault::Describe() {
  return {.word = "start",
          .about = "the process starts",
          .example = R"({ "at": "30s", "do": "start", "node": "spare" })"};
}

}  // namespace whorl::sim
