#include "base/parse_duration.h"
#include "base/text.h"
#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo SlowResourceFault::Describe() {
  return {.word = "slow_resource",
          .about =
              "the node's writes take longer to the resource that the lock protects, by what "
              "`add` says; for good without `for`. So does the write that `when` names with phase "
              "`sent`. A later write may overtake an earlier one. "
              "Calls to Spanner are as they were",
          .keys = {{.key = {.name = "add",
                            .form = Form::kDelay,
                            .about = "how much later each write arrives: always the same "
                                     "duration, or drawn for each write",
                            .required = true,
                            .object = ObjectId::kDelay}},
                   ForKey()},
          .is_noun = false,
          .example = R"({ "at": "20s", "do": "slow_resource", "node": "a", "for": "30s",
  "add": "8s" })"};
}

std::string SlowResourceFault::Detail() const {
  const std::string most = FormatDuration(add.max);
  return add.min == add.max ? Cat("+", most) : Cat("+", FormatDuration(add.min), " to ", most);
}

}  // namespace whorl::sim
