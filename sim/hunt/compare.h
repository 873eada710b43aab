// Runs the same worlds for two protocols: which invariants only one of them breaks, and what each run took.
//
// Invariants:
//   1. Both have the same world in each run: nodes, leases, clocks, Spanner, network, workload, faults and
//      seed are equal, and all that is drawn for calls of a step of one name. It is a world in which both can
//      run and that keeps the assumptions of both (common_ground.h).
//   2. Which of them is named first changes no world. If both are one protocol, the worlds are those of a
//      hunt for it alone.
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
#include "sim/hunt/hunt.h"
#include "sim/hunt/run_figures.h"
#include "sim/judge/batch.h"

namespace whorl::sim {

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

// What one side's run took.
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
