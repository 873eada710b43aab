#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo CurrentTimestampFault::Describe() {
  return {
      .word = "current_timestamp",
      .about = "the clock behind CURRENT_TIMESTAMP goes wrong by `error`; for good without `for`",
      .keys = {{.key = {.name = "error",
                        .form = Form::kSignedDuration,
                        .about = "CURRENT_TIMESTAMP minus true time",
                        .required = true}},
               ForKey()},
      .has_node = false,
      .example = R"({ "at": "20s", "do": "current_timestamp", "error": "-6ms", "for": "10s" })"};
}

std::string_view CurrentTimestampFault::ConflictingSetting(
    const CurrentTimestampFault& other) const {
  return error != other.error ? "the error of CURRENT_TIMESTAMP" : "";
}

}  // namespace whorl::sim
