// Steers a hunt towards behaviour that its runs have rarely shown: remembers branch points of earlier runs
// and picks those from which the next runs branch.
//
// A branch point belongs to a cell: a hash of the step, the phase, the result that the process heard, how
// long the step had taken, and the state of the process. (The kinds of steps that a hunt counts are too fine
// for this: nearly every run shows a new one.) The guide picks a cell more often if few runs had a branch
// point in it, and less often if it was picked before. It also remembers the runs that came closer to a
// violation than any before them.
// Invariants:
//   1. The first PlainRuns() runs equal those of a hunt without a guide, so the guide delays no early
//      finding. Once there is a branch point, one in eight of the later runs is a branch; in a hunt with
//      waypoints every second one is, and half of these branch from the runs that reached most waypoints.
//      Two thirds of the others are drawn by priorities (Style::kPriorities), and a sixth of them with what
//      is rare (Style::kRare). The remaining runs equal those with the same numbers of a hunt without a guide.
//   2. A run depends only on the runs of earlier generations (of kGeneration runs each), so neither threads
//      nor the order in which runs end change anything.
//   3. Memory is bounded: kPointsOfCell branch points for each cell, kCellsMax cells, and kNearestMax runs
//      for each NearMissKind.
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

// An instant of a run at which another run can branch.
struct BranchPoint {
  RunName name;
  // A cache, no part of the value; null if the world has to be made anew from the name.
  std::shared_ptr<const Scenario> world;
  Instant at;
  int64_t distance = 0;  // in `nearest`: as in Nearest
  int64_t picked = 0;    // in `nearest`: how often it was picked
  friend bool operator==(const BranchPoint& a, const BranchPoint& b) {
    return a.name == b.name && a.at == b.at && a.distance == b.distance && a.picked == b.picked;
  }
};

struct Cell {
  int64_t runs = 0;                 // that had a branch point in it
  int64_t picked = 0;               // how often one of its points was picked
  std::vector<BranchPoint> points;  // the latest ones
  friend bool operator==(const Cell&, const Cell&) = default;
};

class Guide {
 public:
  static constexpr uint64_t kGeneration = 64;
  static constexpr size_t kPointsOfCell = 3;
  static constexpr size_t kCellsMax = 20'000;
  static constexpr size_t kNearestMax = 16;

  static constexpr uint64_t PlainRuns(bool has_waypoints) {
    return has_waypoints ? kGeneration : 3 * kGeneration;
  }
  // Whether the `place`-th run of the hunt or of its shard, counted from 0, is a branch, if the guide knows
  // a branch point.
  static constexpr bool Branches(uint64_t place, bool has_waypoints) {
    if (place < PlainRuns(has_waypoints)) return false;
    return has_waypoints ? place % 2 == 1 : place % 8 == 7;
  }

  // Picks a branch point by `bits`, and counts that; nullopt if none is known.
  std::optional<BranchPoint> PickBranchPoint(uint64_t bits);
  void Learn(const RunName& name, const std::shared_ptr<const Scenario>& world,
             const std::vector<KindSeen>& seen, const NearestOfRun& nearest);

  std::vector<BranchPoint>& Of(NearMissKind kind) { return nearest[static_cast<size_t>(kind)]; }

  // All that later choices depend on, for checkpoints.
  std::map<uint64_t, Cell> cells;
  // By NearMissKind, the least distance first.
  std::array<std::vector<BranchPoint>, kNearMissKinds> nearest;
  friend bool operator==(const Guide&, const Guide&) = default;

 private:
  static BranchPoint PickNearest(std::vector<BranchPoint>& points, Draws& draws);
  BranchPoint PickFurthest(Draws& draws);
};

// By protocol.
using Guides = std::map<std::string, Guide>;

}  // namespace whorl::sim
