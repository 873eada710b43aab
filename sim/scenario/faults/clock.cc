#include "sim/scenario/faults/keys.h"

namespace whorl::sim {

namespace {

template <typename T>
bool Differ(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b && *a != *b;
}

}  // namespace

FaultInfo ClockFault::Describe() {
  return {
      .word = "clock",
      .about =
          "the node's clocks go wrong: `offset` or `step` of its wall clock, `rate_ppm` of "
          "both, or both stand still (`stands`, the only one that takes `for`). Timers keep "
          "to the node's monotonic clock",
      .keys = {ForKey(),
               {.key = {.name = "offset",
                        .form = Form::kSignedDuration,
                        .about = "what the wall clock shows minus true time, from now on"}},
               {.key = {.name = "step",
                        .form = Form::kSignedDuration,
                        .about = "how far the wall clock is moved, back when negative; the "
                                 "monotonic clock does not notice"}},
               {.key = {.name = "rate_ppm",
                        .form = Form::kInteger,
                        .about = "how much faster than true time both clocks run, from now on",
                        .min = -100'000,
                        .max = 100'000}},
               {.key = {.name = "stands",
                        .form = Form::kBoolean,
                        .about = "true, with `for`: the machine is suspended. Nothing runs, and "
                                 "both clocks stand still and are not set right afterwards"}}},
      .example = R"({ "at": "20s", "do": "clock", "node": "a", "stands": true, "for": "15s" })"};
}

std::string_view ClockFault::ConflictingSetting(const ClockFault& other) const {
  constexpr std::string_view kOffset = "the offset of a clock";
  if (Differ(offset, other.offset)) return kOffset;
  if (Differ(rate_ppm, other.rate_ppm)) return "the rate of a clock";
  const bool both = (offset && other.step) || (step && other.offset);
  return both ? kOffset : std::string_view();
}

void ClockFault::Check(const FaultReading& reading) const {
  if (stands) {
    for (const std::string_view key : {"offset", "step", "rate_ppm"}) {
      if (reading.Has(key)) reading.AddAtKey(key, "a clock that stands does nothing else");
    }
    if (!lasts) reading.Add("a clock that stands needs the key \"for\"");
    return;
  }
  if (lasts) {
    reading.AddAtKey("for", "\"for\" needs \"stands\": true; other changes are for good");
  }
  if (offset && step) {
    reading.AddAtKey("step",
                     "\"offset\" sets the clock's error and \"step\" adds to it: expected one of "
                     "them");
  }
  if (offset || rate_ppm || step) return;
  reading.Add("a clock needs one of the keys offset, step, rate_ppm, stands");
}

}  // namespace whorl::sim
