#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo AnnounceFault::Describe() {
  return {.word = "announce",
          .about =
              "the node's process hears that its locks were released, which is not true; only a "
              "protocol that listens to announcements looks sooner because of it",
          .is_noun = false,
          .example = R"({ "at": "20s", "do": "announce", "node": "b" })"};
}

}  // namespace whorl::sim
