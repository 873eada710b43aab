// Keeps the runs of hunts that are worth keeping: for each feature, the simplest run that has it.
//
// Features of a run are:
//   - a process reached a phase of a step, heard a result, and was in some state (KindSeen::moment);
//   - a word of `sometimes`, a violation (by invariant and step), and each further waypoint of the hunt;
//   - it came close to a violation (NearMissKind): here the closest run comes before the simplest one.
// Invariants:
//   1. A corpus is a function of the set of runs that were added: neither their order nor adding a run twice
//      changes it. So corpora can be joined.
//   2. Its size is bounded by the number of possible features.
// Deliberately left out: the features themselves. A reader of a corpus runs its entries again.
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

// A feature of a run.
struct Feature {
  uint64_t what = 0;     // a hash, which covers the protocol
  int64_t distance = 0;  // of a near miss: as in Nearest; else 0
};

class Corpus {
 public:
  // Keeps the world if it is the best one for some feature, and returns whether it is. `violates`: what its
  // run violated; of an entry, what it is kept for.
  bool Add(const Scenario& world, const std::vector<Invariant>& violates,
           std::span<const Feature> features);

  // The entries to write to files.
  Entries entries() const;

  // The entry for the world: without its name and with only these expectations.
  static Scenario EntryOf(const Scenario& world, const std::vector<Invariant>& violates);
  // The name of an entry: its protocol, and a hash of the text that ScenarioText writes.
  static std::string NameOf(const Scenario& entry);

 private:
  // Less is simpler.
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

  std::map<uint64_t, Best> best_;  // by feature
};

}  // namespace whorl::sim
