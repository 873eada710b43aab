#include "base/text.h"
#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo AbortFault::Describe() {
  return {.word = "abort",
          .about =
              "Spanner answers ABORTED, and the transaction is over there: with `for`, every "
              "statement and Commit of the node's read-write transactions that comes meanwhile "
              "(or `percent` of them); without, one: the call that `when` names with phase "
              "`sent`, or else the node's next one. \"node\": \"*\" is a storm that hits all",
          .keys = {ForKey(), PercentKey()},
          .example = R"({ "at": "20s", "do": "abort", "node": "*", "for": "15s", "percent": 50 })",
          .of_calls = "ABORTED, with RetryInfo as Spanner sends it"};
}

std::string AbortFault::Detail() const {
  return lasts ? Cat(std::to_string(percent), "%") : std::string();
}

void AbortFault::Check(const FaultReading& reading) const {
  if (!reading.Has("percent") || lasts) return;
  reading.AddAtKey("percent", "\"percent\" needs \"for\": without it, one call is aborted");
}

}  // namespace whorl::sim
