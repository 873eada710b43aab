#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo UnavailableFault::Describe() {
  return {.word = "unavailable",
          .about =
              "Spanner, that is, the leader of every split, answers UNAVAILABLE to every call "
              "that comes; a Commit that has begun to commit goes on",
          .keys = {ForKey(/*required=*/true)},
          .has_node = false,
          .is_noun = false,
          .example = R"({ "at": "20s", "do": "unavailable", "for": "9s" })"};
}

}  // namespace whorl::sim
