// Many drawn worlds, run and judged: what was found, and what the runs were like.
//
// Invariants:
//   1. Run number r of a hunt is a function of the hunt's seed, r and the options; who runs it, and
//      beside what, changes nothing.
//   2. Tallies add up: the tallies of all shards of a hunt, added in any order, equal the tally of
//      the hunt as a whole.
//   3. Of 20 runs that follow each other, one is run twice and compared.
//   4. Two tallies of the same runs are equal, and their hashes say so of every event.
// Deliberately left out: time. Whoever calls says when to stop; a run that has not been counted by
// then has not been.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "protocol/protocols.h"
#include "sim/hunt/breakage.h"
#include "sim/hunt/world_generator.h"
#include "sim/judge/batch.h"
#include "sim/scenario/metrics.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct HuntOptions {
  std::vector<std::string> protocols;  // of Protocols(), in its order
  WorldOptions world;
  uint64_t seed = 1;
  // Of shard i of n: the runs i, i + n, i + 2n and so on.
  uint64_t shard = 0;
  uint64_t shards = 1;
  std::optional<Invariant> invariant;  // look for this one alone
  bool promised_only = false;          // for what a protocol promises alone
  WHORL_FIELDS(HuntOptions, protocols, world, seed, shard, shards, invariant, promised_only);

  bool Wants(Invariant found, bool promised) const;
};

// Which protocol and which world run number `run` of the hunt has.
const ProtocolInfo& ProtocolOfRun(const HuntOptions& options, uint64_t run);
Scenario WorldOfRun(const HuntOptions& options, uint64_t run);

// How often each value came.
struct Histogram {
  std::map<int64_t, int64_t> counts;
  friend bool operator==(const Histogram&, const Histogram&) = default;

  void Add(int64_t value) { ++counts[value]; }
  void Add(const Histogram& other);
  // The least value that `percent` of a hundred do not exceed; 0 when there is none.
  int64_t Quantile(int64_t percent) const;
};

struct Size {
  int64_t faults = 0;
  int64_t nodes = 0;
  int64_t locks = 0;
  Duration duration;
  WHORL_FIELDS(Size, faults, nodes, locks, duration);
};
Size SizeOf(const Scenario& scenario);

// What is known of one kind of violation of one protocol.
struct Finding {
  int64_t runs = 0;  // that had it
  // The run with the smallest scenario: one that broke a promise, where any did, then fewest
  // faults, then nodes, then soonest.
  uint64_t run = 0;
  bool promised = false;  // the protocol promises otherwise in that world
  Size size;              // of its scenario as drawn
  Instant at;             // when it broke there
  // Once it was shrunk: the scenario, which says what it violates, and how often that was asked.
  std::optional<Scenario> shrunk;
  int64_t shrink_runs = 0;
  friend bool operator==(const Finding&, const Finding&) = default;

  auto Rank() const { return std::tuple(!promised, size.faults, size.nodes, at.ns, run); }
  void Add(const Finding& other);
};

// Of one protocol.
struct HuntTally {
  int64_t runs = 0;
  // Over all runs, in any order: two hunts of the same runs have the same one, or a run differs.
  uint64_t hash = 0;
  int64_t checked = 0;                             // run twice
  std::vector<uint64_t> differing;                 // runs whose second run was another, in order
  std::array<int64_t, kCountOf<Sometimes>> met{};  // runs in which it happened
  std::array<int64_t, kFaultKindCount> struck{};   // runs in which such a fault struck
  std::array<int64_t, kCountOf<Invariant>> violated{};  // runs
  std::array<int64_t, kCountOf<Invariant>> unknown{};   // runs that ended too early to tell
  Histogram faults;                                     // that struck in a run
  Histogram nodes;
  Histogram takeovers;
  Histogram unknown_outcomes;  // of transactions
  std::map<ViolationKind, Finding> findings;
  friend bool operator==(const HuntTally&, const HuntTally&) = default;

  void Add(const HuntTally& other);
};

// By protocol.
using HuntTallies = std::map<std::string, HuntTally>;
int64_t RunCount(const HuntTallies& tallies);
// Whether anything was found, runs that could not be repeated included.
bool FoundAnything(const HuntTallies& tallies);

// Runs of the hunt (of its shard) from the first on, at most `count`, on `threads` threads. `go_on`
// is asked after each, on the caller's thread; `done` counts the runs.
// kInternal: a run could not be run at all, and which.
absl::Status RunHunt(
    const HuntOptions& options, uint64_t count, int threads,
    const std::function<BatchStep(uint64_t done, const HuntTallies& so_far)>& go_on,
    HuntTallies& tallies);

// How many questions go into plainer numbers for each finding.
inline constexpr int64_t kShrinkRuns = 2'500;

// Shrinks every finding. `go_on` is asked after each; those that are left stay as they were drawn.
absl::Status ShrinkFindings(const HuntOptions& options, int threads,
                            const std::function<BatchStep(size_t done)>& go_on,
                            HuntTallies& tallies);

// The scenario of a finding: the shrunk one, or as it was drawn, saying what it violates.
Scenario ScenarioOf(const HuntOptions& options, const ViolationKind& kind, const Finding& finding);

}  // namespace whorl::sim
