#include "base/parse_duration.h"
#include "base/text.h"
#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo DuplicateRequestFault::Describe() {
  return {
      .word = "duplicate_request",
      .about =
          "Spanner gets one request twice, and the answer to the copy reaches nobody, as where a "
          "proxy said that the call had failed and sent it all the same: the request of the step "
          "that `when` names with phase `sent`; with another phase, or `at` a time, the node's "
          "next one. The copy arrives even if the process is gone by then",
      .keys = {{.key = {.name = "after",
                        .form = Form::kDuration,
                        .about = "how much later than the request the copy arrives",
                        .otherwise = WordJson(FormatDuration(DuplicateRequestFault().after))}}},
      .example =
          R"({ "when": { "node": "a", "step": "heartbeat_update", "phase": "sent", "count": 3 },
  "do": "duplicate_request", "after": "2s" })"};
}

std::string DuplicateRequestFault::Detail() const {
  return after.ns == 0 ? std::string() : Cat("+", FormatDuration(after));
}

}  // namespace whorl::sim
