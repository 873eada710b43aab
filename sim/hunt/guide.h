// Guides a hunt to what its runs have rarely shown: remembers moments of runs, by what they were like,
// and says from which of them the next runs branch.
//
// A moment belongs to a cell: a hash of the step, the phase, what the process was told, how long the step
// had taken, and the state of the process. (Kinds of steps, which a hunt counts, tell much more apart: by
// them nearly every run is new, and so none is.) A cell is left the more often the fewer runs had a
// moment in it, and the less often it was left before. Apart from that, the runs are remembered that came
// closer to a violation than those before.
// Invariants:
//   1. The first PlainRuns() runs are those of a hunt without a guide, so what such a hunt finds soon is found
//      as soon. Of the others, one in eight branches once there is a moment to leave (every second one, in a
//      hunt with waypoints, and half of these leave runs that came further along them than any other), and two
//      of three of the rest are drawn by priorities (Style::kPriorities); what is left are the runs of a hunt
//      without a guide, with their numbers.
//   2. What a run is depends on the runs of earlier generations of kGeneration runs alone, so neither
//      threads nor the order in which runs end change anything.
//   3. Memory is bounded: kMomentsOfCell moments of each cell, kCellsMax cells, and kNearestMax runs that
//      came close, for each of what they can come close to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/spanner/fields.h"
#include "sim/hunt/branch.h"
#include "sim/hunt/run_coverage.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/draws.h"

namespace whorl::sim {

// A moment of a run that can be left there.
struct BranchPoint {
  RunName name;
  // Null if it has to be made anew from the name. It is no part of the value.
  std::shared_ptr<const Scenario> world;
  Instant at;
  int64_t distance = 0;  // of a run that came close: as in Nearest
  int64_t left = 0;      // of a run that came close: how often it was left
  friend bool operator==(const BranchPoint& a, const BranchPoint& b) {
    return a.name == b.name && a.at == b.at && a.distance == b.distance && a.left == b.left;
  }
};

struct Cell {
  int64_t runs = 0;                  // that had a moment in it
  int64_t left = 0;                  // how often one of them was left
  std::vector<BranchPoint> moments;  // the latest
  friend bool operator==(const Cell&, const Cell&) = default;
};

class Guide {
 public:
  static constexpr uint64_t kGeneration = 64;
  static constexpr size_t kMomentsOfCell = 3;
  static constexpr size_t kCellsMax = 20'000;
  static constexpr size_t kNearestMax = 16;

  static constexpr uint64_t PlainRuns(bool has_waypoints) {
    return has_waypoints ? kGeneration : 3 * kGeneration;
  }
  // Whether the `place`-th run of the hunt or of its shard, counted from 0, branches if there is a moment
  // to leave.
  static constexpr bool Branches(uint64_t place, bool has_waypoints) {
    if (place < PlainRuns(has_waypoints)) return false;
    return has_waypoints ? place % 2 == 1 : place % 8 == 7;
  }

  // Chooses a moment by `bits`, and counts that it is left; nothing if none is known.
  std::optional<BranchPoint> PickBranchPoint(uint64_t bits);
  void Learn(const RunName& name, const std::shared_ptr<const Scenario>& world,
             const std::vector<KindSeen>& seen, const NearestOfRun& nearest);

  std::vector<BranchPoint>& Of(NearMissKind approach) {
    return nearest[static_cast<size_t>(approach)];
  }

  // All that later choices depend on, for checkpoints.
  std::map<uint64_t, Cell> cells;
  std::array<std::vector<BranchPoint>, kApproaches>
      nearest;  // by Approach, the least distance first
  friend bool operator==(const Guide&, const Guide&) = default;

 private:
  static BranchPoint PickNearest(std::vector<BranchPoint>& moments, Draws& draws);
  BranchPoint PickFurthest(Draws& draws);
};

// By protocol.
using Guides = std::map<std::string, Guide>;

}  // namespace whorl::sim
