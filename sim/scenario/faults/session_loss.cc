#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo SessionLossFault::Describe() {
  return {.word = "session_loss",
          .about =
              "Spanner deletes the session of the node's process, whose open transactions are "
              "gone with their locks; calls that name it are answered NOT_FOUND, and the client "
              "creates another session",
          .example = R"({ "at": "20s", "do": "session_loss", "node": "a" })",
          .of_calls = "NOT_FOUND, from now on, as for a session that Spanner has forgotten"};
}

}  // namespace whorl::sim
