// Defines the verdicts on an invariant: of a simulated run, of programs that are served, and of a
// recorded history.
//
// Invariant: kUnknown and kPossiblyViolated are never as good as kHolds.
#pragma once

#include <cstdint>

#include "protocol/spanner/words.h"

namespace whorl::sim {

enum class Verdict : uint8_t {
  kHolds,
  kViolated,
  kPossiblyViolated,  // the clocks, or what was recorded, do not decide it; a simulated run knows all
  kUnknown,           // the run ended too early to tell, or what would show it was not recorded
  kNotApplicable,  // the protocol lacks what it is about, such as tokens; or histories cannot show it
};
constexpr auto WordTableOf(Verdict) {
  return MakeWordTable<Verdict>({
      {Verdict::kHolds, "holds"},
      {Verdict::kViolated, "violated"},
      {Verdict::kPossiblyViolated, "possible"},
      {Verdict::kUnknown, "unknown"},
      {Verdict::kNotApplicable, "n/a"},
  });
}

}  // namespace whorl::sim
