#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

FaultInfo TrueTimeFault::Describe() {
  return {
      .word = "truetime",
      .about =
          "the interval of Spanner's TrueTime becomes another one; for good without `for`. "
          "A Commit that has begun to commit waits until the new interval is past it, too",
      .keys = {ForKey(),
               {.key = {.name = "epsilon",
                        .form = Form::kDuration,
                        .about = "half the width of the interval; else that of `spanner`"}},
               {.key = {.name = "truthful",
                        .form = Form::kBoolean,
                        .about = "false: true time lies outside the interval, by `error`",
                        .otherwise = BooleanJson(TrueTimeSpec().truthful)}},
               {.key = {.name = "error",
                        .form = Form::kSignedDuration,
                        .about = "the interval's middle minus true time, beyond epsilon either "
                                 "way"},
                .only = " with truthful false"}},
      .has_node = false,
      .is_noun = false,
      .example =
          R"({ "at": "20s", "do": "truetime", "truthful": false, "error": "10s", "for": "1500ms" })"};
}

std::string_view TrueTimeFault::ConflictingSetting(const TrueTimeFault& other) const {
  return truetime != other.truetime ? "the interval of TrueTime" : "";
}

void TrueTimeFault::Check(const FaultReading& reading) const {
  if (reading.Has("epsilon") || reading.Has("truthful") || reading.Has("error")) return;
  reading.Add("\"truetime\" needs one of the keys epsilon, truthful, error");
}

}  // namespace whorl::sim
