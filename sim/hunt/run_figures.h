// What a run of any world took: time without a holder, and calls to Spanner.
//
// Definitions:
//   1. A takeover is a grant to another process than the last owner. It takes from the moment since which
//      no running process would have been answered "has lock" until one would be again; 0 if the old
//      owner would have been until the grant. One that has not ended when the run ends is not counted.
//   2. Calls are counted when they are sent, resends included. Those by which the application's own
//      questions are answered (the step has_lock) are counted apart.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/spanner/fields.h"
#include "sim/judge/checkers/setup.h"
#include "sim/judge/ledger.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/driver.h"

namespace whorl::sim {

struct RunFigures {
  std::optional<Duration> first_takeover;  // of the run
  int64_t calls = 0;                       // to Spanner, questions apart
  int64_t commits = 0;                     // calls of Commit among them
  int64_t questions = 0;                   // calls of the step has_lock
  WHORL_FIELDS(RunFigures, first_takeover, calls, commits, questions);
};

class FiguresOfRun final : public ObservationSink {
 public:
  explicit FiguresOfRun(const Scenario& scenario);

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  const RunFigures& figures() const { return figures_; }

 private:
  struct OfLock {
    std::optional<Instant> without_holder_since = Instant{};
    std::optional<Instant> takeover_since;  // a takeover that has not ended
  };

  void On(const CallSent& x);
  void On(const VersionChanged& x);
  void Settle(OfLock& lock, bool has_holder);

  CheckerSetup setup_;
  Ledger ledger_;
  Instant now_;
  std::vector<OfLock> locks_;
  RunFigures figures_;
};

}  // namespace whorl::sim
