// The counter of every checker (Tally), and what a checker can read when it judges (Now).
//
// A checker is an aggregate with a Tally, a constant kInvariant, and a function
//   void On(const X&, const Now&)
// for each kind of observation or change of the ledger that it handles. The ledger has been updated
// before a checker is notified of a change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/spanner/fields.h"
#include "sim/judge/check_report.h"
#include "sim/judge/checkers/setup.h"
#include "sim/judge/ledger.h"
#include "sim/scenario/instant.h"

namespace whorl::sim {

struct Now {
  const CheckerSetup& setup;
  const Ledger& ledger;
  Instant at;
  uint64_t observation = 0;

  std::string NameOf(ProcessId process) const { return setup.NameOf(process); }
  const std::string& LockName(uint16_t lock) const { return setup.LockName(lock); }
};

struct Tally {
  int64_t violations = 0;
  std::optional<Violation> first;
  WHORL_FIELDS(Tally, violations, first);

  // `text()` describes the violation; it is called for the first violation only.
  template <typename Text>
  void Add(const Now& now, Instant at, Text&& text) {
    if (violations++ == 0) first = {.at = at, .observation = now.observation, .text = text()};
  }
  template <typename Text>
  void Add(const Now& now, Text&& text) {
    Add(now, now.at, text);
  }
};

}  // namespace whorl::sim
