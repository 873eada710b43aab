#include "base/text.h"
#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo DropRequestFault::Describe() {
  return {
      .word = "drop_request",
      .about =
          "one request is lost before Spanner hears it, and its call hangs until the "
          "connection or the call times out: the request of the step that `when` names with "
          "phase `sent`, or else the node's next one",
      .example =
          R"({ "when": { "node": "a", "step": "heartbeat_update", "phase": "sent", "count": 3 },
  "do": "drop_request" })",
      .of_calls = "Spanner never gets the call, and the client no answer: its deadline decides"};
}

// What the trigger points at must still be on its way.
void DropRequestFault::Check(const FaultReading& reading) const {
  const When* when = std::get_if<When>(&reading.fault.trigger);
  if (when == nullptr || when->phase == Phase::kSent || when->phase == Phase::kEnded) return;
  if (reading.Has("node") || when->step == steps::kWrite) return;
  reading.problems.Add(*reading.fields.Object("when")->Find("phase"),
                       Cat(kNeverFires, "in the phase ", WordOf(when->phase),
                           " the request has been heard. \"sent\" loses the step's request, "
                           "\"ended\" the node's next one."));
}

}  // namespace whorl::sim
