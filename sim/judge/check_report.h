// The result of checking a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/names.h"
#include "protocol/protocols.h"
#include "protocol/spanner/fields.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/metrics.h"
#include "sim/scenario/verdict.h"

namespace whorl::sim {

struct Violation {
  Instant at;                // when it happened; for a missed deadline, the deadline
  uint64_t observation = 0;  // ordinal of the observation that showed it; a run's first one is 1
  std::string text;          // for people
  WHORL_FIELDS(Violation, at, observation, text);
};

struct InvariantResult {
  Invariant invariant = Invariant::kOneLiveToken;
  Promise promise = Promise::kNotPromised;  // whether the scenario's protocol promises it
  Verdict verdict = Verdict::kHolds;
  int64_t violations = 0;
  std::optional<Violation> first;
  std::string unknown_because;  // for people; empty unless the verdict is kUnknown
  WHORL_FIELDS(InvariantResult, invariant, promise, verdict, violations, first, unknown_because);
};

struct CheckReport {
  std::vector<InvariantResult> invariants;  // all of them, in the order of Invariant
  Metrics metrics;
  WHORL_FIELDS(CheckReport, invariants, metrics);

  const InvariantResult& operator[](Invariant name) const {
    return invariants[static_cast<size_t>(name)];
  }
};

}  // namespace whorl::sim
