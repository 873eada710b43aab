#include "sim/hunt/corpus.h"

#include <utility>

#include "base/text.h"
#include "protocol/spanner/fingerprint.h"
#include "sim/scenario/writer.h"

namespace whorl::sim {

Scenario Corpus::EntryOf(const Scenario& world, const std::vector<Invariant>& violates) {
  Scenario entry = WithoutPlace(world);
  entry.name.clear();
  entry.about = "Kept by whorl hunt --corpus.";
  entry.expect = {};
  entry.expect.violates = violates;
  entry.expect.faults_may_miss = true;
  return entry;
}

std::string Corpus::NameOf(const Scenario& entry) {
  Fingerprint fingerprint;
  fingerprint.Add(ScenarioText(entry));
  return Cat(entry.protocol, "-", HashText(fingerprint.value()));
}

Corpus::Rank Corpus::RankOf(const Scenario& world) {
  return {world.faults.size(), world.nodes.size(), world.locks.size(), world.branches.size(),
          world.duration.ns};
}

bool Corpus::Add(const Scenario& world, const std::vector<Invariant>& violates,
                 std::span<const Feature> features) {
  const Rank rank = RankOf(world);
  std::shared_ptr<const Kept> mine;  // made only when needed: most runs are best for no feature
  const auto make = [&] {
    if (mine) return;
    Kept kept{.entry = EntryOf(world, violates), .rank = rank, .name = {}};
    kept.name = NameOf(kept.entry);
    mine = std::make_shared<const Kept>(std::move(kept));
  };
  bool is_better = false;
  for (const auto& [what, distance] : features) {
    Best& best = best_[what];
    if (best.run) {
      const auto order = std::tie(distance, rank) <=> std::tie(best.distance, best.run->rank);
      if (order > 0) continue;
      if (order == 0) {
        make();
        if (mine->name >= best.run->name) continue;
      }
    }
    make();
    best = {.distance = distance, .run = mine};
    is_better = true;
  }
  return is_better;
}

Entries Corpus::entries() const {
  Entries entries;
  for (const auto& [what, best] : best_) {
    // Shares ownership of the entry that the world is a part of.
    entries.try_emplace(best.run->name, best.run, &best.run->entry);
  }
  return entries;
}

}  // namespace whorl::sim
