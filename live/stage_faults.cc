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
using sim::KeyOfRow;
using sim::LinkState;

// Until an operator's transaction that was aborted is tried again.
constexpr Duration kOperatorRetry = Milliseconds(5);

sim::Lives LivesOf(int life) { return static_cast<sim::Lives>(1 << life); }

}  // namespace

void Stage::Observe(const sim::Happening& what) {
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
  if (StrikesOneCall(fault.what)) return StrikeOneCall(index, fault, trigger);
  Tell(sim::FaultBegan{.fault = index});
  if (!Strike(index, fault)) Tell(sim::FaultEnded{.fault = index});
}

bool Stage::CanStrike(const FaultSpec& fault) {
  if (fault.As<sim::SessionLossFault>() != nullptr) return !NodeAt(fault.node).sessions.empty();
  if (const auto* deletion = fault.As<sim::DeleteRowFault>()) {
    std::vector<Row> rows;
    if (!operator_->RowsAt(std::nullopt, rows).ok()) return false;
    const size_t key = sim::RulesOf(scenario_.protocol).key_column;
    const Value wanted = KeyOfRow(scenario_, deletion->target);
    return std::ranges::any_of(rows, [&](const Row& row) { return row[key] == wanted; });
  }
  if (fault.node == FaultSpec::kNoNode) return true;
  return (LivesOf(static_cast<int>(NodeAt(fault.node).life)) & StrikesIn(fault.what)) !=
         sim::kNoLife;
}

// Whether the fault goes on: its end will be said by what ends it.
bool Stage::Strike(uint32_t index, const FaultSpec& fault) {
  const int16_t node = fault.node;
  std::visit(
      sim::Overloaded{[&](const sim::PauseFault&) { PauseNode(node); },
                      [&](const sim::CrashFault&) { LetGo(node, /*crashed=*/true); },
                      [&](const sim::StopFault&) { StopNode(node); },
                      [&](const sim::StartFault&) { StartNode(node, std::nullopt); },
                      [&](const sim::PartitionFault&) {
                        NodeAt(node).active.push_back(index);
                        UpdateLinks(node);
                      },
                      [&](const sim::LatencyFault&) { NodeAt(node).active.push_back(index); },
                      [&](const sim::AbortFault&) { NodeAt(node).active.push_back(index); },
                      [&](const sim::UnavailableFault&) {
                        if (unavailable_++ > 0) return;
                        Tell(sim::SpannerAvailability{.available = false});
                      },
                      [&](const sim::SessionLossFault&) { LoseSession(node); },
                      [&](const sim::ClockFault& change) { ChangeClock(node, change); },
                      [&](const sim::DeleteRowFault&) { DeleteRow(index); },
                      [](const auto&) {}},  // of one call, or refused before the run
      fault.what);
  const std::optional<Duration> after = RestartAfterOf(fault.what);
  // The next process connects meanwhile.
  const bool is_down =
      LeadsTo(fault.what) == sim::kIsDown || LeadsTo(fault.what) == sim::kIsStopped;
  if (is_down && (after || IsStartedByFault(node))) PrepareSpare(node);
  if (after) {
    At(Now() + *after, [this, index, node] { StartNode(node, index); });
    return true;
  }
  const std::optional<Duration> lasts = LastsOf(fault.what);
  if (lasts) {
    const uint32_t incarnation = node == FaultSpec::kNoNode ? 0 : NodeAt(node).incarnation;
    At(Now() + *lasts, [this, index, incarnation] { End(index, incarnation); });
  }
  return lasts || GoesOn(fault.what) || fault.As<sim::DeleteRowFault>() != nullptr;
}

bool Stage::IsStartedByFault(int16_t node) const {
  return std::ranges::any_of(scenario_.faults, [node](const FaultSpec& fault) {
    return fault.As<sim::StartFault>() != nullptr && fault.node == node;
  });
}

void Stage::End(uint32_t index, uint32_t incarnation) {
  const FaultSpec& fault = scenario_.faults[index];
  const int16_t node = fault.node;
  const auto no_longer = [&] { std::erase(NodeAt(node).active, index); };
  std::visit(sim::Overloaded{[&](const sim::PauseFault&) {
                               if (NodeAt(node).incarnation == incarnation) ResumeNode(node);
                             },
                             [&](const sim::PartitionFault&) {
                               no_longer();
                               UpdateLinks(node);
                             },
                             [&](const sim::LatencyFault&) {
                               no_longer();
                               EndLatency(node);
                             },
                             [&](const sim::AbortFault&) { no_longer(); },
                             [&](const sim::UnavailableFault&) {
                               if (--unavailable_ > 0) return;
                               Tell(sim::SpannerAvailability{.available = true});
                             },
                             [](const auto&) {}},  // lasts no time
             fault.what);
  Tell(sim::FaultEnded{.fault = index});
}

// --- faults of one call --------------------------------------------------------------------------

// Strikes the call that the trigger names, or waits for the node's next one.
void Stage::StrikeOneCall(uint32_t index, const FaultSpec& fault, const CallName* trigger) {
  Passing* const passing = trigger == nullptr ? nullptr : FindPassing(*trigger);
  const bool can = passing != nullptr && trigger->process.node == fault.node &&
                   (fault.As<sim::AbortFault>() == nullptr || passing->wire.IsOfReadWrite());
  if (!can) return NodeAt(fault.node).armed.push_back(index);
  Tell(sim::FaultBegan{.fault = index});
  if (fault.As<sim::AbortFault>() != nullptr) passing->abort = true;
  if (fault.As<sim::DropReplyFault>() != nullptr) passing->drop_reply = true;
  if (fault.As<sim::DropRequestFault>() != nullptr) passing->drop_request = true;
  Tell(sim::FaultEnded{.fault = index});
}

// Whether a fault has waited for this call of the node; then it has struck.
bool Stage::StrikesNextCall(int16_t node, FaultKind kind) {
  std::vector<uint32_t>& armed = NodeAt(node).armed;
  const auto found = std::ranges::find_if(
      armed, [&](uint32_t fault) { return scenario_.faults[fault].kind() == kind; });
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
  const sim::RowOfLock& target = scenario_.faults[index].As<sim::DeleteRowFault>()->target;
  Timestamp commit;
  const Status status = operator_->Delete(KeyOfRow(scenario_, target), commit);
  if (!status.ok()) return At(Now() + kOperatorRetry, [this, index] { DeleteRow(index); });
  CallName nobody;
  nobody.lock = target.lock;
  record_.commits.push_back({.at = Now(),
                             .call = nobody,
                             .step = StepName::kCheck,
                             .commit = commit,
                             .before = {},
                             .after = {}});
  Tell(sim::FaultEnded{.fault = index});
}

// --- clocks --------------------------------------------------------------------------------------

void Stage::ChangeClock(int16_t index, const sim::ClockFault& change) {
  Node& node = NodeAt(index);
  if (change.offset) node.clock.offset += *change.offset - sim::WallError(node.clock, Now());
  if (change.step) node.clock.offset += *change.step;
  if (change.rate_ppm) {
    sim::Rebase(node.clock, Now());
    node.clock.rate_ppm = *change.rate_ppm;
  }
  if (node.process != nullptr) node.process->Send(SetClock{.clock = node.clock});
  Tell(sim::ClockChanged{.node = index,
                         .error = sim::WallError(node.clock, Now()),
                         .rate_ppm = node.clock.rate_ppm,
                         .stands = false});
}

}  // namespace whorl::live
