#include "sim/judge/waypoints.h"

#include <algorithm>
#include <variant>

namespace whorl::sim {
namespace {

ReachedPhase OfCall(const CallName& call, StepName step, Phase phase, uint8_t told = 0) {
  return {call.process, call.lock, step, phase, told};
}

// What becomes of a process, and of which node.
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

std::optional<ReachedPhase> PhaseReachedBy(const ObservedEvent& what) {
  if (const auto* sent = std::get_if<CallSent>(&what)) {
    return OfCall(sent->call, sent->step, Phase::kSent);
  }
  if (const auto* served = std::get_if<CallServed>(&what)) {
    return OfCall(served->call, served->step, Phase::kServed, static_cast<uint8_t>(served->code));
  }
  if (const auto* committed = std::get_if<TransactionCommitted>(&what)) {
    return OfCall(committed->call, committed->step, Phase::kCommitted);
  }
  if (const auto* ended = std::get_if<CallEnded>(&what)) {
    return OfCall(ended->call, ended->step, Phase::kReplied, static_cast<uint8_t>(ended->code));
  }
  if (const auto* finished = std::get_if<TransactionFinished>(&what)) {
    return ReachedPhase{finished->process, finished->lock, finished->step, Phase::kEnded,
                        static_cast<uint8_t>(finished->outcome)};
  }
  if (const auto* sent = std::get_if<WriteSent>(&what)) {
    return ReachedPhase{sent->process, sent->lock, steps::kWrite, Phase::kSent, 0};
  }
  if (const auto* arrived = std::get_if<WriteArrived>(&what)) {
    return ReachedPhase{arrived->process, arrived->lock, steps::kWrite, Phase::kServed,
                        static_cast<uint8_t>(arrived->accepted ? 1 : 0)};
  }
  return std::nullopt;
}

void WaypointsOfRun::Hear(const Observation& observation, const Ledger& ledger) {
  for (size_t lock = 0; lock < owners_.size(); ++lock) {
    const int16_t owner = ledger.OwnerOf(static_cast<uint16_t>(lock)).node;
    Owners& owners = owners_[lock];
    if (owner < 0 || owner == owners.newest) continue;
    owners = {.newest = owner, .before = owners.newest};
  }
  if (reached_ < waypoints_.size() && IsAt(waypoints_[reached_], observation.what)) ++reached_;
}

bool WaypointsOfRun::IsAt(const Waypoint& waypoint, const ObservedEvent& what) const {
  if (const auto* wanted = std::get_if<ProcessEvent>(&waypoint.what)) {
    const auto event = ProcessEventOf(what);
    return event && event->first == *wanted && Is(waypoint.node, event->second, std::nullopt);
  }
  const auto reached = PhaseReachedBy(what);
  const auto& [step, phase] = std::get<StepPhase>(waypoint.what);
  return reached && reached->step == step && reached->phase == phase &&
         Is(waypoint.node, reached->process.node, reached->lock);
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
