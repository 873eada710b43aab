// Makes branches of a run: worlds that repeat the run up to an event and draw chance and later faults
// anew from there.
//
// Invariants:
//   1. A run's name determines its world, given the hunt's options: it holds the number of the run whose
//      world was drawn, and each branch's event and seed.
//   2. Up to its event, a branch is the same as its parent run, to the byte. Faults that have struck by
//      then stay. Some of the later faults are removed, and some are added that strike soon; in a hunt with
//      waypoints, one of them is often the fault that reaches the next waypoint.
//   3. A branch keeps the assumptions that the worlds of the hunt keep.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/spanner/fields.h"
#include "sim/hunt/world_generator.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct RunName {
  uint64_t run = 0;                  // the run whose world was drawn
  std::string entry;                 // the corpus entry whose world it is; empty: it was drawn
  std::vector<BranchSpec> branches;  // their seeds are the numbers of the runs that made them
  WHORL_FIELDS(RunName, run, entry, branches);

  // The number of this run in the hunt; 0 for a corpus entry itself.
  uint64_t Number() const { return branches.empty() ? run : branches.back().seed; }
};
// "17", or "17@1200:903" for the run that branches from it after 1,200 events and draws from seed 903. A
// branch of a corpus entry begins with the entry's name: "fenced_lease-0123456789abcdef@1200:903".
std::string NameText(const RunName& name);
// nullopt if the text is no name.
std::optional<RunName> ParseRunName(std::string_view text);

// The worlds of a corpus, by the names of their entries (corpus.h).
using Entries = std::map<std::string, std::shared_ptr<const Scenario>>;

// The branch of `world` after `branch.event` events.
// REQUIRES, for both overloads: the world has no schedule, and it was drawn with `options`.
Scenario BranchOf(const WorldOptions& options, const Scenario& world, const BranchSpec& branch);
// The branch of `world` after its events at and before `at`, with the seed. The result's last BranchSpec
// holds the number of these events.
Scenario BranchOf(const WorldOptions& options, const Scenario& world, Instant at, uint64_t seed);

}  // namespace whorl::sim
