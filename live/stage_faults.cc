// What faults do.
#include <algorithm>
#include <utility>

#include "live/stage.h"
#include "sim/scenario/rules.h"
#include "sim/world/fault_effects.h"

namespace whorl::live {
namespace {

using sim::FaultKind;
using sim::FaultSpec;
using sim::KeyOfDeleted;
using sim::LinkState;
using sim::StrikesOneCall;

// Until an operator's transaction that was aborted is tried again.
constexpr Duration kOperatorRetry = Milliseconds(5);

}  // namespace

void Stage::Observe(const sim::ObservedEvent& what) {
  if (!performing_ || triggers_.empty()) return;
  std::vector<sim::Triggers::Hit> hits;
  triggers_.Observe({.at = Now(), .what = what}, hits);
  StrikeAll(hits);
}

void Stage::StrikeAll(const std::vector<sim::Triggers::Hit>& hits) {
  for (const sim::Triggers::Hit& hit : hits) Begin(hit.fault, &hit.call);
}

// A fault that finds nothing to strike (a crash of a process that is down) does not begin.
void Stage::Begin(uint32_t index, const CallName* trigger) {
  const FaultSpec& fault = scenario_.faults[index];
  if (!CanStrike(fault)) return;
  struck_ = true;
  if (StrikesOneCall(fault)) return StrikeOneCall(index, fault, trigger);
  Tell(sim::FaultBegan{.fault = index});
  if (!Strike(index, fault)) Tell(sim::FaultEnded{.fault = index});
}

bool Stage::CanStrike(const FaultSpec& fault) {
  switch (fault.kind) {
    case FaultKind::kPause:
    case FaultKind::kCrash:
      return NodeAt(fault.node).life != Life::kDown;
    case FaultKind::kStop:
      return NodeAt(fault.node).life == Life::kRunning;
    case FaultKind::kStart:
      return NodeAt(fault.node).life != Life::kRunning;
    case FaultKind::kSessionLoss:
      return !NodeAt(fault.node).sessions.empty();
    case FaultKind::kDeleteRow: {
      std::vector<Row> rows;
      if (!operator_->RowsAt(std::nullopt, rows).ok()) return false;
      const size_t key = sim::RulesOf(scenario_.protocol).key_column;
      const Value wanted = KeyOfDeleted(scenario_, fault);
      return std::ranges::any_of(rows, [&](const Row& row) { return row[key] == wanted; });
    }
    default:
      return true;
  }
}

// Whether the fault goes on: its end will be said by what ends it.
bool Stage::Strike(uint32_t index, const FaultSpec& fault) {
  switch (fault.kind) {
    case FaultKind::kPause:
      PauseNode(fault.node);
      break;
    case FaultKind::kCrash:
    case FaultKind::kStop:
      fault.kind == FaultKind::kCrash ? LetGo(fault.node, /*crashed=*/true) : StopNode(fault.node);
      // The next process connects meanwhile.
      if (fault.restart_after || IsStartedByFault(fault.node)) PrepareSpare(fault.node);
      if (!fault.restart_after) return false;
      At(Now() + *fault.restart_after,
         [this, index] { StartNode(scenario_.faults[index].node, index); });
      return true;
    case FaultKind::kStart:
      StartNode(fault.node, std::nullopt);
      return false;
    case FaultKind::kPartition:
    case FaultKind::kLatency:
    case FaultKind::kAbort:
      NodeAt(fault.node).active.push_back(index);
      if (fault.kind == FaultKind::kPartition) UpdateLinks(fault.node);
      break;
    case FaultKind::kUnavailable:
      if (unavailable_++ == 0) Tell(sim::SpannerAvailability{.available = false});
      break;
    case FaultKind::kSessionLoss:
      LoseSession(fault.node);
      return false;
    case FaultKind::kClock:
      ChangeClock(fault);
      return false;
    case FaultKind::kDeleteRow:
      DeleteRow(index);
      return true;
    default:  // of one call, or refused before the run
      return false;
  }
  if (fault.lasts) {
    const uint32_t incarnation =
        fault.node == FaultSpec::kNoNode ? 0 : NodeAt(fault.node).incarnation;
    At(Now() + *fault.lasts, [this, index, incarnation] { End(index, incarnation); });
  }
  const bool of_network = fault.kind == FaultKind::kPartition || fault.kind == FaultKind::kLatency;
  return of_network || fault.lasts.has_value();
}

bool Stage::IsStartedByFault(int16_t node) const {
  return std::ranges::any_of(scenario_.faults, [node](const FaultSpec& fault) {
    return fault.kind == FaultKind::kStart && fault.node == node;
  });
}

void Stage::End(uint32_t index, uint32_t incarnation) {
  const FaultSpec& fault = scenario_.faults[index];
  switch (fault.kind) {
    case FaultKind::kPause:
      if (NodeAt(fault.node).incarnation == incarnation) ResumeNode(fault.node);
      break;
    case FaultKind::kPartition:
    case FaultKind::kLatency:
    case FaultKind::kAbort:
      std::erase(NodeAt(fault.node).active, index);
      if (fault.kind == FaultKind::kPartition) UpdateLinks(fault.node);
      if (fault.kind == FaultKind::kLatency) EndLatency(fault.node);
      break;
    case FaultKind::kUnavailable:
      if (--unavailable_ == 0) Tell(sim::SpannerAvailability{.available = true});
      break;
    default:
      break;
  }
  Tell(sim::FaultEnded{.fault = index});
}

// --- faults of one call --------------------------------------------------------------------------

// Strikes the call that the trigger names, or waits for the node's next one.
void Stage::StrikeOneCall(uint32_t index, const FaultSpec& fault, const CallName* trigger) {
  Passing* const passing = trigger == nullptr ? nullptr : FindPassing(*trigger);
  const bool can = passing != nullptr && trigger->process.node == fault.node &&
                   (fault.kind != FaultKind::kAbort || passing->wire.IsOfReadWrite());
  if (!can) return NodeAt(fault.node).armed.push_back(index);
  Tell(sim::FaultBegan{.fault = index});
  if (fault.kind == FaultKind::kAbort) passing->abort = true;
  if (fault.kind == FaultKind::kDropReply) passing->drop_reply = true;
  if (fault.kind == FaultKind::kDropRequest) passing->drop_request = true;
  Tell(sim::FaultEnded{.fault = index});
}

// Whether a fault has waited for this call of the node; then it has struck.
bool Stage::StrikesNextCall(int16_t node, FaultKind kind) {
  std::vector<uint32_t>& armed = NodeAt(node).armed;
  const auto found = std::ranges::find_if(
      armed, [&](uint32_t fault) { return scenario_.faults[fault].kind == kind; });
  if (found == armed.end()) return false;
  const uint32_t fault = *found;
  armed.erase(found);
  Tell(sim::FaultBegan{.fault = fault});
  Tell(sim::FaultEnded{.fault = fault});
  return true;
}

// --- the network ---------------------------------------------------------------------------------

void Stage::UpdateLinks(int16_t index) {
  Node& node = NodeAt(index);
  const sim::Links before = std::exchange(node.links, LinksUnder(scenario_, node.active));
  for (const sim::LinkChanged& change : LinkChanges(index, before, node.links)) {
    proxy_->SetLink(index, change.direction, change.link);
    Tell(change);
  }
  const bool heals = before.to != LinkState::kUp && node.links.to == LinkState::kUp;
  if (heals) ReleaseHeld(index, /*passes=*/true);
}

// Calls that are still on their slow way are what the fault leaves behind.
void Stage::EndLatency(int16_t node) {
  for (auto& [number, passing] : passing_) {
    if (passing.call.name.process.node != node || !std::exchange(passing.slowed, false)) continue;
    Hang(passing);
  }
}

// --- at Spanner ----------------------------------------------------------------------------------

void Stage::LoseSession(int16_t index) {
  Node& node = NodeAt(index);
  for (auto& [name, open] : open_) {
    // The emulator does not let go by itself of what a deleted session has locked.
    if (node.sessions.contains(name.first) && !open.aborted) {
      operator_->Rollback(name.first, name.second);
      open.aborted = true;
    }
  }
  for (const SessionName& session : node.sessions) operator_->DeleteSession(session);
  node.lost_sessions.merge(node.sessions);
  node.sessions.clear();
  Tell(sim::SessionLost{.process = ProcessOf(index)});
}

// An operator's transaction, without a network in between.
void Stage::DeleteRow(uint32_t index) {
  Timestamp commit;
  const Status status = operator_->Delete(KeyOfDeleted(scenario_, scenario_.faults[index]), commit);
  if (!status.ok()) return At(Now() + kOperatorRetry, [this, index] { DeleteRow(index); });
  CallName nobody;
  nobody.lock = scenario_.faults[index].lock;
  record_.commits.push_back({.at = Now(),
                             .call = nobody,
                             .step = StepName::kCheck,
                             .commit = commit,
                             .before = {},
                             .after = {}});
  Tell(sim::FaultEnded{.fault = index});
}

// --- clocks --------------------------------------------------------------------------------------

void Stage::ChangeClock(const FaultSpec& fault) {
  const sim::ClockChange& change = fault.clock;
  Node& node = NodeAt(fault.node);
  if (change.offset) node.clock.offset += *change.offset - sim::WallError(node.clock, Now());
  if (change.step) node.clock.offset += *change.step;
  if (change.rate_ppm) {
    sim::Rebase(node.clock, Now());
    node.clock.rate_ppm = *change.rate_ppm;
  }
  if (node.process != nullptr) node.process->Send(SetClock{.clock = node.clock});
  Tell(sim::ClockChanged{.node = fault.node,
                         .error = sim::WallError(node.clock, Now()),
                         .rate_ppm = node.clock.rate_ppm,
                         .stands = false});
}

}  // namespace whorl::live
