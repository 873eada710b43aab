// What of hunts is worth keeping: of each thing that runs have shown, the simplest run that showed it.
//
// What a run shows are things of these kinds:
//   - a process reached a phase of a step, was told something, and was in some state (KindSeen::moment);
//   - a word of `sometimes`, a violation (by invariant and step), and each further waypoint of the hunt;
//   - it came close to a violation (NearMissKind): the closest run comes before the simplest one.
// Invariants:
//   1. A corpus is a function of the set of runs that were added: their order changes nothing, nor does it
//      that a run is added twice. So corpora can be joined, and whoever takes out what another run covers
//      takes out nothing that a second one needs.
//   2. Its size is bounded by the number of things that can be shown.
// Deliberately left out: what runs show is not kept; a reader of a corpus runs it again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "sim/hunt/branch.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// A thing that a run showed.
struct Shown {
  uint64_t what = 0;     // a hash, of the protocol, too
  int64_t distance = 0;  // how far the run was from what it came close to; else 0
};

class Corpus {
 public:
  // Takes the world in if it shows something better than any other. True if it does. `violates`: what its
  // run violated, or what it is kept for, if it is an entry.
  bool Add(const Scenario& world, const std::vector<Invariant>& violates,
           std::span<const Shown> shown);

  // As they are to be kept.
  Entries entries() const;

  // The world as it is kept: without a name, and with no other expectations.
  static Scenario EntryOf(const Scenario& world, const std::vector<Invariant>& violates);
  // The name of an entry: its protocol, and a hash of the text that ScenarioText writes.
  static std::string NameOf(const Scenario& entry);

 private:
  // The lesser, the simpler.
  using Rank = std::tuple<size_t, size_t, size_t, size_t, int64_t>;
  struct Kept {
    Scenario entry;
    Rank rank;
    std::string name;
  };
  struct Best {
    int64_t distance = 0;
    std::shared_ptr<const Kept> run;
  };
  static Rank RankOf(const Scenario& world);

  std::map<uint64_t, Best> best_;  // by what they show
};

}  // namespace whorl::sim
