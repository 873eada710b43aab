// Runs and judges many drawn worlds, and tallies findings and statistics of the runs.
//
// Invariants:
//   1. Run number r of a hunt is a function of the hunt's seed, r and the options; threads and
//      shards change nothing.
//   2. Tallies add up: the tallies of all shards of a hunt, added in any order, equal the tally of
//      the whole hunt.
//      In a guided hunt (guide.h), a run also depends on the earlier runs of its shard.
//   3. One of every 20 consecutive runs is run twice and compared.
//   4. Two tallies of the same runs are equal, and their hashes cover every event.
// Deliberately left out: time limits. The caller says when to stop; runs that are not in the tally by then
// do not count.
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
#include "sim/hunt/corpus.h"
#include "sim/hunt/guide.h"
#include "sim/hunt/run_coverage.h"
#include "sim/hunt/world_generator.h"
#include "sim/judge/batch.h"
#include "sim/judge/check_report.h"
#include "sim/report/breakage.h"
#include "sim/scenario/metrics.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// The corpus entries that names of runs may refer to. They do not count when options are compared: an entry's
// name holds a hash of its text.
struct KnownEntries {
  Entries worlds;
  friend bool operator==(const KnownEntries&, const KnownEntries&) { return true; }
};

struct HuntOptions {
  std::vector<std::string> protocols;  // names from Protocols(), in its order
  // For a comparison: worlds are drawn so that these protocols can run in each of them as well. Empty: so that
  // the run's own protocol can.
  std::vector<std::string> beside;
  // If set, worlds are variations of this scenario (VariationOf).
  // REQUIRES: `protocols` is its protocol.
  std::optional<Scenario> from;
  WorldOptions world;
  uint64_t seed = 1;
  // Shard i of n has the runs i, i + n, i + 2n and so on.
  uint64_t shard = 0;
  uint64_t shards = 1;
  // Whether runs are a mixture of plain ones, those drawn by priorities, and branches (guide.h).
  bool guided = false;
  // Waypoints (Expectations::reach) that runs should pass: counted, and a guided hunt steers to them.
  std::vector<Waypoint> reach;
  KnownEntries entries;  // of a corpus
  // Whether kinds of steps are counted, which a guided hunt needs. Counting takes a tenth of a run's work.
  bool counts_kinds = true;
  std::optional<Invariant> invariant;  // report violations of this one only
  bool promised_only = false;          // report violations of promised invariants only
  WHORL_FIELDS(HuntOptions, protocols, beside, from, world, seed, shard, shards, guided, reach,
               entries, counts_kinds, invariant, promised_only);

  bool Wants(Invariant found, bool promised) const;
};

// The protocol and the world of run number `run` of the hunt.
const ProtocolInfo& ProtocolOfRun(const HuntOptions& options, uint64_t run);
Scenario WorldOfRun(const HuntOptions& options, uint64_t run);

// The world of any run, by the run's name.
Scenario WorldOf(const HuntOptions& options, const RunName& name);

// How often each value occurred.
struct Histogram {
  std::map<int64_t, int64_t> counts;
  friend bool operator==(const Histogram&, const Histogram&) = default;

  void Add(int64_t value) { ++counts[value]; }
  void Add(const Histogram& other);
  // The least value that at least `percent` % of the values do not exceed; 0 if there are no values.
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

// Counts the runs that have some property, and names the first of them.
struct RunsThat {
  int64_t runs = 0;
  RunName first;  // if there are any
  friend bool operator==(const RunsThat&, const RunsThat&) = default;

  void Add(const RunName& name) { Add({.runs = 1, .first = name}); }
  void Add(const RunsThat& other);
};

// One kind of violation of one protocol, and its simplest run.
struct Finding {
  int64_t runs = 0;  // how many runs had it
  // The simplest run: one that broke a promise, if any did, then the one with the fewest faults, then the
  // fewest nodes, then the earliest violation.
  uint64_t run = 0;       // 0 for a corpus entry
  RunName name;           // of that run: only its number, unless it is a branch or an entry
  bool promised = false;  // the protocol promises the invariant in that world
  Size size;              // the size of that run's scenario as drawn
  Instant at;             // when the violation happened in that run
  // Set by shrinking: the smaller scenario with its expectations, and how many runs that took.
  std::optional<Scenario> shrunk;
  int64_t shrink_runs = 0;
  friend bool operator==(const Finding&, const Finding&) = default;

  auto Rank() const {
    return std::tuple(!promised, size.faults, size.nodes, at.ns, run, name.entry);
  }
  void Add(const Finding& other);
};

// The tally of one protocol.
struct HuntTally {
  int64_t runs = 0;
  // Covers all runs, in any order: two hunts of the same runs have the same hash unless a run differed.
  uint64_t hash = 0;
  int64_t checked = 0;                                  // how many runs were run twice
  std::vector<uint64_t> differing;                      // runs whose second run differed, ascending
  std::array<RunsThat, kCountOf<Sometimes>> met;        // runs that met the goal
  std::vector<RunsThat> reached;                        // by waypoint: runs that reached it
  std::array<int64_t, kFaultKindCount> struck{};        // runs in which a fault of the kind struck
  std::array<int64_t, kCountOf<Invariant>> violated{};  // runs that violated the invariant
  // Runs in which the protocol promised the invariant and it held, or the run ended too early to tell.
  std::array<int64_t, kCountOf<Invariant>> held{};
  std::array<int64_t, kCountOf<Invariant>> unknown{};
  Duration simulated;
  // By promise: for how much of the simulated time each circumstance voided it.
  std::array<std::array<Duration, kCountOf<Circumstance>>, kCountOf<Invariant>> not_promised{};
  Histogram faults;  // how many faults struck in a run
  Histogram nodes;
  Histogram takeovers;
  Histogram unknown_outcomes;  // transactions with an unknown outcome in a run
  KnownKinds kinds;
  std::map<ViolationKind, Finding> findings;
  friend bool operator==(const HuntTally&, const HuntTally&) = default;

  void Add(const HuntTally& other);
};

// Tallies by protocol.
using HuntTallies = std::map<std::string, HuntTally>;
int64_t RunCount(const HuntTallies& tallies);
// Whether there is any finding, or any run whose second run differed.
bool FoundAnything(const HuntTallies& tallies);

// A digest of one run, by which two revisions can be compared run by run.
struct RunDigest {
  uint64_t hash = 0;  // over all events and observations
  std::array<Verdict, kCountOf<Invariant>> verdicts{};
  RunName name;
  WHORL_FIELDS(RunDigest, hash, verdicts, name);
};

// Called after each run; `done` counts the runs from the hunt's beginning, and `last` is the digest of the run
// that was counted last.
using HuntStep =
    std::function<BatchStep(uint64_t done, const RunDigest& last, const HuntTallies& so_far)>;

// Holds what a hunt remembers of its runs beside the tallies.
struct GuidanceState {
  Guides guides;
  std::optional<Corpus> corpus;
};

// Runs the first `count` runs of the hunt (or of its shard) on `threads` threads, except the first
// `done` of them, which `tallies` and `guidance` already hold. Calls `go_on` on the caller's thread, in the
// order of the runs. At the end of a generation, the guides hold all that later runs of a guided hunt depend
// on, so another hunt can continue from there.
// kInternal: a run failed to run; the message says which.
// REQUIRES: done <= count; with a guide or a corpus, kinds are counted; if options.guided, `done` is a
// multiple of Guide::kGeneration.
absl::Status RunHunt(const HuntOptions& options, uint64_t done, uint64_t count, int threads,
                     const HuntStep& go_on, HuntTallies& tallies, GuidanceState& guidance);
// Runs the first `count` runs of a hunt whose guidance nobody needs later.
absl::Status RunHunt(const HuntOptions& options, uint64_t done, uint64_t count, int threads,
                     const HuntStep& go_on, HuntTallies& tallies);

// Runs the entries of options.entries and adds them to guidance.corpus. If `is_begin`, the hunt begins with
// them: guides learn from them, and the findings of the shard's share of them go into the tallies.
// kInternal: one failed to run.
// REQUIRES: there is a corpus, and kinds are counted.
absl::Status RunEntries(const HuntOptions& options, int threads, bool is_begin,
                        HuntTallies& tallies, GuidanceState& guidance);

// Runs one run of the hunt again.
RunDigest DigestOfRun(const HuntOptions& options, const RunName& name);

// How many runs Shrink may spend on simpler numbers, for each finding.
inline constexpr int64_t kShrinkRuns = 2'500;

// Shrinks every finding. Calls `go_on` after each; if it says stop, the remaining ones stay as
// drawn.
absl::Status ShrinkFindings(const HuntOptions& options, int threads,
                            const std::function<BatchStep(size_t done)>& go_on,
                            HuntTallies& tallies);

// The scenario of a finding, with expectations: the shrunk one if there is one, otherwise as drawn.
Scenario ScenarioOf(const HuntOptions& options, const ViolationKind& kind, const Finding& finding);

}  // namespace whorl::sim
