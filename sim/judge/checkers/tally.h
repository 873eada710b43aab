// Holds what a checker can read and say when it judges (Now), and how often each invariant was
// violated (Tallies).
//
// A checker is an aggregate of what it remembers, with a constant kInvariant, and a function
//   void On(const X&, const Now&)
// for each kind of observation or change of the ledger that it handles. The ledger has been updated
// before a checker is notified of a change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/text.h"
#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "sim/judge/check_report.h"
#include "sim/judge/checkers/setup.h"
#include "sim/judge/ledger.h"
#include "sim/judge/promise_clock.h"
#include "sim/scenario/instant.h"

namespace whorl::sim {

// How often an invariant was violated, and the first time: of those that break a promise, if there are any.
struct Tally {
  int64_t violations = 0;
  bool breaks_promise = false;
  std::optional<Violation> first;
  WHORL_FIELDS(Tally, violations, breaks_promise, first);
};

// Of all invariants of a run.
struct Tallies {
  uint64_t observations = 0;  // so far: the ordinal of the present one
  std::array<Tally, kCountOf<Invariant>> of;
  PromiseClock promises;  // what is promised at present
  WHORL_FIELDS(Tallies, observations, of, promises);

  Tally& operator[](Invariant invariant) { return of[static_cast<size_t>(invariant)]; }
  const Tally& operator[](Invariant invariant) const { return of[static_cast<size_t>(invariant)]; }
};

struct Now {
  const CheckerSetup& setup;
  const Ledger& ledger;
  Instant at;
  uint32_t& violated;          // the invariants that were, as bits by Invariant
  Tallies* tallies = nullptr;  // null if nobody asks how often, or for a text

  std::string NameOf(ProcessId process) const { return setup.NameOf(process); }
  std::string QuotedLock(uint16_t lock) const { return Quoted(setup.LockName(lock)); }

  struct Breach {
    Invariant invariant = Invariant::kOneLiveToken;
    uint16_t lock = 0;
    Instant at;
    Duration by;  // as of PromiseClock::IsVoid
  };
  // `text()` describes the violation; it is called for the first one only, and for the first that breaks a promise.
  template <typename Text>
  void Violated(const Breach& breach, Text&& text) const {
    violated |= 1U << static_cast<uint32_t>(breach.invariant);
    if (tallies == nullptr) return;
    Tally& tally = (*tallies)[breach.invariant];
    const bool breaks_promise =
        setup.promises[static_cast<size_t>(breach.invariant)] == Promise::kPromised &&
        !tallies->promises.IsVoid(breach.invariant, breach.lock, breach.at, breach.by, setup);
    if (tally.violations++ > 0 && (tally.breaks_promise || !breaks_promise)) return;
    tally.breaks_promise = breaks_promise;
    tally.first = {.at = breach.at, .observation = tallies->observations, .text = text()};
  }
  template <typename Text>
  void Violated(Invariant invariant, uint16_t lock, Text&& text) const {
    Violated({.invariant = invariant, .lock = lock, .at = at, .by = {}}, text);
  }
};

}  // namespace whorl::sim
