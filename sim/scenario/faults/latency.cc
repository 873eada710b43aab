#include "base/parse_duration.h"
#include "base/text.h"
#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo LatencyFault::Describe() {
  return {
      .word = "latency",
      .about =
          "messages between the node and Spanner take longer, by what `add` says; for good "
          "without `for`. The request or the reply of the node's own step in `when`, on its way "
          "then, does so, too. Calls still end at their deadlines; the connection holds. Several "
          "at once add up",
      .keys = {{.key = {.name = "add",
                        .form = Form::kDelay,
                        .about = "how much later each message arrives: always the same duration, "
                                 "or drawn for each message",
                        .required = true,
                        .object = ObjectId::kDelay}},
               ForKey(),
               DirectionKey()},
      .example = R"({ "at": "20s", "do": "latency", "node": "a", "for": "30s",
  "add": { "p50": "200ms", "p99": "2s", "max": "8s" } })",
      .of_calls = "it is late by `add`"};
}

std::string LatencyFault::Detail() const {
  const std::string most = FormatDuration(add.max);
  const std::string_view way = WayText(direction);
  if (add.min == add.max) return Cat("+", most, way);
  return Cat("+", FormatDuration(add.min), " to ", most, way);
}

}  // namespace whorl::sim
