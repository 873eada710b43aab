#include "sim/judge/waypoints.h"

#include <algorithm>
#include <variant>

#include "sim/world/reached_phase.h"

namespace whorl::sim {
namespace {

// What happened to a process, and the process's node.
std::optional<std::pair<ProcessEvent, int16_t>> ProcessEventOf(const ObservedEvent& what) {
  if (const auto* x = std::get_if<ProcessStarted>(&what)) {
    return std::pair(ProcessEvent::kStarted, x->process.node);
  }
  if (const auto* x = std::get_if<ProcessStopped>(&what)) {
    return std::pair(ProcessEvent::kStopped, x->process.node);
  }
  if (const auto* x = std::get_if<ProcessGone>(&what); x != nullptr && x->crashed) {
    return std::pair(ProcessEvent::kCrashed, x->process.node);
  }
  if (const auto* x = std::get_if<ProcessPaused>(&what)) {
    return std::pair(ProcessEvent::kPaused, x->process.node);
  }
  if (const auto* x = std::get_if<ProcessResumed>(&what)) {
    return std::pair(ProcessEvent::kResumed, x->process.node);
  }
  return std::nullopt;
}

}  // namespace

void WaypointsOfRun::Hear(const Observation& observation, const Ledger& ledger) {
  for (size_t lock = 0; lock < owners_.size(); ++lock) {
    const int16_t owner = ledger.OwnerOf(static_cast<uint16_t>(lock)).node;
    Owners& owners = owners_[lock];
    if (owner < 0 || owner == owners.newest) continue;
    owners = {.newest = owner, .before = owners.newest};
  }
  if (reached_ < waypoints_.size() && IsAt(waypoints_[reached_], observation.what)) {
    ++reached_;
    reached_at_ = observation.at;
  }
}

bool WaypointsOfRun::IsAt(const Waypoint& waypoint, const ObservedEvent& what) const {
  if (const auto* wanted = std::get_if<ProcessEvent>(&waypoint.what)) {
    const auto event = ProcessEventOf(what);
    return event && event->first == *wanted && Is(waypoint.node, event->second, std::nullopt);
  }
  const auto reached = PhaseReachedBy(what, *protocol_);
  const auto& [step, phase] = std::get<StepPhase>(waypoint.what);
  return reached && reached->Is(step, phase) &&
         Is(waypoint.node, reached->call.process.node, reached->call.lock);
}

int16_t WaypointsOfRun::NodeOf(const Waypoint& waypoint) const {
  if (waypoint.node >= 0 || waypoint.node == Waypoint::kAnyNode) return waypoint.node;
  for (const Owners& owners : owners_) {
    const int16_t node = waypoint.node == Waypoint::kLeader ? owners.newest : owners.before;
    if (node >= 0) return node;
  }
  return -1;
}

// Whether it is the node that is wanted; a leader of any lock, if none is given.
bool WaypointsOfRun::Is(int16_t wanted, int16_t node, std::optional<uint16_t> lock) const {
  if (wanted == Waypoint::kAnyNode || wanted == node) return true;
  if (wanted >= 0) return false;
  for (size_t i = 0; i < owners_.size(); ++i) {
    if (lock && *lock != i) continue;
    const Owners& owners = owners_[i];
    if (node == (wanted == Waypoint::kLeader ? owners.newest : owners.before)) return true;
  }
  return false;
}

}  // namespace whorl::sim
