#include "sim/hunt/guide.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace whorl::sim {
namespace {

// Keeps these draws apart from others of the run.
constexpr uint64_t kChoiceOfMoment = 0x6d6f6d656e74;
constexpr int64_t kTournament = 6;        // cells of which the cheapest is taken
constexpr int64_t kPercentNearest = 15;   // of branches leave runs that came close
constexpr int64_t kPercentFurthest = 50;  // leave runs that reached the most waypoints
constexpr int64_t kMostLeft = 32;         // how often such a run is left
constexpr size_t kBranchesMax = 8;        // in a row

int64_t CostOf(const Cell& cell) { return cell.runs * (1 + cell.left); }

Instant Before(Instant at, Duration duration) {
  return {std::max<int64_t>(at.ns - duration.ns, 1)};
}

// The one of two of the first `count` that was left less often. One that was left often enough goes.
BranchPoint TakeOneOf(std::vector<BranchPoint>& moments, size_t count, Draws& draws) {
  const auto last = static_cast<int64_t>(count) - 1;
  auto best = static_cast<size_t>(draws.Between(0, last));
  const auto other = static_cast<size_t>(draws.Between(0, last));
  if (moments[other].left < moments[best].left) best = other;
  ++moments[best].left;
  BranchPoint moment = moments[best];
  if (moment.left >= kMostLeft) moments.erase(moments.begin() + static_cast<ptrdiff_t>(best));
  return moment;
}

}  // namespace

std::optional<BranchPoint> Guide::PickBranchPoint(uint64_t bits) {
  Draws draws(Combine(bits, kChoiceOfMoment));
  if (!Of(NearMissKind::kReach).empty() && draws.Percent(kPercentFurthest))
    return PickFurthest(draws);
  if (draws.Percent(kPercentNearest)) {
    constexpr auto kLast = static_cast<int64_t>(NearMissKind::kWedge);
    std::vector<BranchPoint>& moments = nearest[static_cast<size_t>(draws.Between(0, kLast))];
    if (!moments.empty()) return PickNearest(moments, draws);
  }
  if (cells.empty()) return std::nullopt;
  Cell* best = nullptr;
  for (int64_t i = 0; i < kTournament; ++i) {
    const int64_t place = draws.Between(0, static_cast<int64_t>(cells.size()) - 1);
    Cell& cell = std::next(cells.begin(), place)->second;
    if (best == nullptr || CostOf(cell) < CostOf(*best)) best = &cell;
  }
  ++best->left;
  BranchPoint moment = draws.Pick(best->moments);
  // What led to it may matter more than what follows.
  const Duration before = draws.Log(Milliseconds(1), Seconds(20));
  if (draws.Percent(30)) moment.at = Before(moment.at, before);
  return moment;
}

// Shortly before the run came so close, so that it may come closer.
BranchPoint Guide::PickNearest(std::vector<BranchPoint>& moments, Draws& draws) {
  BranchPoint moment = TakeOneOf(moments, moments.size(), draws);
  moment.at = Before(moment.at, draws.Log(Milliseconds(1), Seconds(30)));
  return moment;
}

// One of the runs that reached the most waypoints, mostly at the last of these or soon after it.
BranchPoint Guide::PickFurthest(Draws& draws) {
  std::vector<BranchPoint>& moments = Of(NearMissKind::kReach);
  const auto equal = static_cast<size_t>(
      std::ranges::count(moments, moments.front().distance, &BranchPoint::distance));
  BranchPoint moment = TakeOneOf(moments, equal, draws);
  const Duration some = draws.Log(Milliseconds(1), Seconds(20));
  if (draws.Percent(20)) {
    moment.at = Before(moment.at, some);
  } else if (draws.Percent(40)) {
    moment.at = moment.at + some;
  }
  return moment;
}

void Guide::Learn(const RunName& name, const std::shared_ptr<const Scenario>& world,
                  const std::vector<KindSeen>& seen, const NearestOfRun& came) {
  // One that has left others so often would be slow to make anew.
  const bool can_be_left = name.branches.size() < kBranchesMax;
  std::set<uint64_t> had;
  for (const KindSeen& kind : seen) {
    if (!had.insert(kind.cell).second) continue;
    auto found = cells.find(kind.cell);
    if (found == cells.end()) {
      if (!can_be_left || cells.size() >= kCellsMax) continue;
      found = cells.emplace(kind.cell, Cell{}).first;
    }
    Cell& cell = found->second;
    ++cell.runs;
    if (!can_be_left) continue;
    if (cell.moments.size() == kMomentsOfCell) cell.moments.erase(cell.moments.begin());
    cell.moments.push_back({.name = name, .world = world, .at = kind.at});
  }
  for (size_t i = 0; can_be_left && i < kApproaches; ++i) {
    if (!came[i] || came[i]->distance < 0) continue;  // what is violated is found
    if (i == static_cast<size_t>(NearMissKind::kReach) && came[i]->distance == 0) continue;
    std::vector<BranchPoint>& moments = nearest[i];
    // Ties are common, where the protocol lets none come closer; keep the first.
    if (moments.size() == kNearestMax && came[i]->distance >= moments.back().distance) continue;
    const auto after = std::ranges::find_if(
        moments, [&](const BranchPoint& other) { return other.distance > came[i]->distance; });
    moments.insert(
        after, {.name = name, .world = world, .at = came[i]->at, .distance = came[i]->distance});
    if (moments.size() > kNearestMax) moments.pop_back();
  }
}

}  // namespace whorl::sim
