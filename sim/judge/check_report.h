// Holds the result of checking a run.
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

// For how long a circumstance voided a promise. Gaps of several circumstances may overlap.
struct PromiseGap {
  Circumstance circumstance = Circumstance::kOperatorWrites;
  Duration time;
  WHORL_FIELDS(PromiseGap, circumstance, time);
};

struct InvariantResult {
  Invariant invariant = Invariant::kOneLiveToken;
  // Whether the protocol promises it in this run; of a violation, whether it breaks the promise.
  Promise promise = Promise::kNotPromised;
  Verdict verdict = Verdict::kHolds;
  int64_t violations = 0;
  std::optional<Violation> first;
  std::string unknown_because;           // for people; empty unless the verdict is kUnknown
  std::vector<PromiseGap> not_promised;  // in the order of the protocol's limits; of a promise only
  WHORL_FIELDS(InvariantResult, invariant, promise, verdict, violations, first, unknown_because,
               not_promised);
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
