// Runs that leave another one: up to an event they go as it does, and then chance and later faults are
// drawn anew.
//
// Invariants:
//   1. A run's name says all: the number of the run that nothing was before, and at which events it was
//      left, with which seeds. With the hunt's options it gives the same world each time.
//   2. A branch goes as the run that it leaves up to its event, to the byte. The faults that have struck
//      by then stay; of the others some are left out, and some are added that strike soon; of worlds with
//      waypoints, often the one that reaches the next of them.
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
  uint64_t run = 0;                  // whose world was drawn
  std::string entry;                 // of a corpus, whose world it is; empty: it was drawn
  std::vector<BranchSpec> branches;  // their seeds are the numbers of the runs that made them
  WHORL_FIELDS(RunName, run, entry, branches);

  // The run of the hunt that has the name; 0 of an entry itself.
  uint64_t Number() const { return branches.empty() ? run : branches.back().seed; }
};
// "17", or "17@1200:903" for the run that leaves it after 1,200 events and draws from seed 903. Of an
// entry its own name: "fenced_lease-0123456789abcdef@1200:903".
std::string NameText(const RunName& name);
// Nothing if the text is no name.
std::optional<RunName> ParseRunName(std::string_view text);

// Worlds by the names of their entries in a corpus (corpus.h).
using Entries = std::map<std::string, std::shared_ptr<const Scenario>>;

// `world` left after `branch.event` events.
// REQUIRES of both: the world has no schedule, and `options` are those by which it was drawn.
Scenario BranchOf(const WorldOptions& options, const Scenario& world, const BranchSpec& branch);
// `world` left after the events at and before `at`, with the seed. The event is that of its last branch.
Scenario BranchOf(const WorldOptions& options, const Scenario& world, Instant at, uint64_t seed);

}  // namespace whorl::sim
