#include "sim/hunt/guide.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace whorl::sim {
namespace {

// Keeps these draws apart from others of the run.
constexpr uint64_t kPickSalt = 0x6d6f6d656e74;
constexpr int64_t kTournament = 6;        // this many cells are drawn, and the cheapest is picked
constexpr int64_t kPercentNearest = 15;   // of the picks are runs that came close to a violation
constexpr int64_t kPercentFurthest = 50;  // of the picks are runs that reached the most waypoints
constexpr int64_t kMostPicks = 32;        // of one point of `nearest`
constexpr size_t kBranchesMax = 8;        // in one name

int64_t CostOf(const Cell& cell) { return cell.runs * (1 + cell.picked); }

Instant Before(Instant at, Duration duration) {
  return {std::max<int64_t>(at.ns - duration.ns, 1)};
}

// Draws two of the first `count` points and picks the one that was picked less often. Removes it after
// kMostPicks picks.
BranchPoint TakeOneOf(std::vector<BranchPoint>& points, size_t count, Draws& draws) {
  const auto last = static_cast<int64_t>(count) - 1;
  auto best = static_cast<size_t>(draws.Between(0, last));
  const auto other = static_cast<size_t>(draws.Between(0, last));
  if (points[other].picked < points[best].picked) best = other;
  ++points[best].picked;
  BranchPoint point = points[best];
  if (point.picked >= kMostPicks) points.erase(points.begin() + static_cast<ptrdiff_t>(best));
  return point;
}

}  // namespace

std::optional<BranchPoint> Guide::PickBranchPoint(uint64_t bits) {
  Draws draws(Combine(bits, kPickSalt));
  if (!Of(NearMissKind::kReach).empty() && draws.Percent(kPercentFurthest))
    return PickFurthest(draws);
  if (draws.Percent(kPercentNearest)) {
    constexpr auto kLast = static_cast<int64_t>(NearMissKind::kWedge);
    std::vector<BranchPoint>& points = nearest[static_cast<size_t>(draws.Between(0, kLast))];
    if (!points.empty()) return PickNearest(points, draws);
  }
  if (cells.empty()) return std::nullopt;
  Cell* best = nullptr;
  for (int64_t i = 0; i < kTournament; ++i) {
    const int64_t place = draws.Between(0, static_cast<int64_t>(cells.size()) - 1);
    Cell& cell = std::next(cells.begin(), place)->second;
    if (best == nullptr || CostOf(cell) < CostOf(*best)) best = &cell;
  }
  ++best->picked;
  BranchPoint point = draws.Pick(best->points);
  // The events before the point may matter more than those after it.
  const Duration before = draws.Log(Milliseconds(1), Seconds(20));
  if (draws.Percent(30)) point.at = Before(point.at, before);
  return point;
}

// A point shortly before the run came close, so that the branch may come closer.
BranchPoint Guide::PickNearest(std::vector<BranchPoint>& points, Draws& draws) {
  BranchPoint point = TakeOneOf(points, points.size(), draws);
  point.at = Before(point.at, draws.Log(Milliseconds(1), Seconds(30)));
  return point;
}

// A run that reached the most waypoints, mostly at the last of these or soon after it.
BranchPoint Guide::PickFurthest(Draws& draws) {
  std::vector<BranchPoint>& points = Of(NearMissKind::kReach);
  const auto equal = static_cast<size_t>(
      std::ranges::count(points, points.front().distance, &BranchPoint::distance));
  BranchPoint point = TakeOneOf(points, equal, draws);
  const Duration some = draws.Log(Milliseconds(1), Seconds(20));
  if (draws.Percent(20)) {
    point.at = Before(point.at, some);
  } else if (draws.Percent(40)) {
    point.at = point.at + some;
  }
  return point;
}

void Guide::Learn(const RunName& name, const std::shared_ptr<const Scenario>& world,
                  const std::vector<KindSeen>& seen, const NearestOfRun& came) {
  // A world with many branches would be slow to make anew.
  const bool can_branch = name.branches.size() < kBranchesMax;
  std::set<uint64_t> had;
  for (const KindSeen& kind : seen) {
    if (!had.insert(kind.cell).second) continue;
    auto found = cells.find(kind.cell);
    if (found == cells.end()) {
      if (!can_branch || cells.size() >= kCellsMax) continue;
      found = cells.emplace(kind.cell, Cell{}).first;
    }
    Cell& cell = found->second;
    ++cell.runs;
    if (!can_branch) continue;
    if (cell.points.size() == kPointsOfCell) cell.points.erase(cell.points.begin());
    cell.points.push_back({.name = name, .world = world, .at = kind.at});
  }
  for (size_t i = 0; can_branch && i < kNearMissKinds; ++i) {
    if (!came[i] || came[i]->distance < 0) continue;  // a violation is a finding
    if (i == static_cast<size_t>(NearMissKind::kReach) && came[i]->distance == 0) continue;
    std::vector<BranchPoint>& points = nearest[i];
    // Ties are common; keep the first.
    if (points.size() == kNearestMax && came[i]->distance >= points.back().distance) continue;
    const auto after = std::ranges::find_if(
        points, [&](const BranchPoint& other) { return other.distance > came[i]->distance; });
    points.insert(after,
                  {.name = name, .world = world, .at = came[i]->at, .distance = came[i]->distance});
    if (points.size() > kNearestMax) points.pop_back();
  }
}

}  // namespace whorl::sim
