#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo DropReplyFault::Describe() {
  return {
      .word = "drop_reply",
      .about =
          "one reply of Spanner is lost on its way, and its call hangs until the connection "
          "or the call times out: the reply to the call that `when` names, or else the next "
          "one to the node",
      .example =
          R"({ "when": { "node": "a", "step": "first_insert", "phase": "committed" }, "do": "drop_reply" })",
      .of_calls =
          "Spanner serves the call, and the client gets no answer: without a deadline it waits for "
          "ever"};
}

}  // namespace whorl::sim
