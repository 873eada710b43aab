// Runs the same worlds for two protocols, and tells which invariants only one of them breaks and what each
// run cost.
//
// Invariants:
//   1. Both have the same world in each run: nodes, leases, clocks, Spanner, network, workload, faults and
//      seed are equal, as are the draws for calls of steps of the same name. Both can run in it, and it keeps
//      the assumptions of both (shared_capabilities.h).
//   2. Their order changes no world. If both are the same protocol, the worlds are those of a hunt for it.
//   3. Threads change nothing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "sim/hunt/hunt.h"
#include "sim/judge/batch.h"
#include "sim/judge/checkers/setup.h"
#include "sim/judge/ledger.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/driver.h"

namespace whorl::sim {

// Measures a run: takeover time and calls to Spanner.
//
// Definitions:
//   1. A takeover is a grant to another process than the last owner. It begins when no running process would
//      be answered "has lock" any more, and ends when one would be again; it takes 0 if the old owner would
//      have been answered so until the grant. One that has not ended when the run ends is not counted.
//   2. Calls are counted when they are sent, resends included. Calls for the application's own questions (the
//      step has_lock) are counted apart.

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
  void UpdateTakeover(OfLock& lock, bool has_holder);

  CheckerSetup setup_;
  Ledger ledger_;
  Instant now_;
  std::vector<OfLock> locks_;
  RunFigures figures_;
};

inline constexpr size_t kSides = 2;

// How many runs broke an invariant, and the first of them.
struct RunsThatBroke {
  int64_t runs = 0;
  std::optional<uint64_t> first;
  WHORL_FIELDS(RunsThatBroke, runs, first);

  void Add(uint64_t run) {
    ++runs;
    if (!first) first = run;
  }
};

struct ComparedInvariant {
  std::array<RunsThatBroke, kSides> alone;  // that side only, in the same world
  RunsThatBroke both;
  WHORL_FIELDS(ComparedInvariant, alone, both);

  int64_t BrokenBy(size_t side) const { return alone[side].runs + both.runs; }
};

// Costs of one side's run.
struct SideOfRun {
  RunFigures figures;
  Duration without_holder;  // the longest time
  WHORL_FIELDS(SideOfRun, figures, without_holder);
};
struct ComparedRun {
  Duration lock_time;  // simulated time of the run, for each of its locks
  std::array<SideOfRun, kSides> sides;
  WHORL_FIELDS(ComparedRun, lock_time, sides);
};

struct ProtocolComparison {
  std::array<HuntOptions, kSides> hunts;  // as each side's own
  std::array<HuntTally, kSides> tallies;
  std::array<ComparedInvariant, kCountOf<Invariant>> invariants;  // by what the hunt looks for
  std::vector<ComparedRun> runs;                                  // in their order
  int64_t equal = 0;  // runs that were the same to the event

  const std::string& Name(size_t side) const { return hunts[side].protocols.front(); }
  // Whether that side broke the invariant in some run, and the other one in none.
  bool IsBrokenByAlone(Invariant invariant, size_t side) const;
};

// A comparison without runs. REQUIRES: `hunt` has no shard and does not start from a scenario; both names are
// of Protocols().
ProtocolComparison ComparisonOf(const HuntOptions& hunt,
                                const std::array<std::string, kSides>& names);

// Runs the first `count` worlds and adds them. Calls `go_on` after each, on the caller's thread.
// kInternal: a run failed to run; the message says which.
absl::Status RunComparison(uint64_t count, int threads,
                           const std::function<BatchStep(uint64_t done)>& go_on,
                           ProtocolComparison& comparison);

}  // namespace whorl::sim
