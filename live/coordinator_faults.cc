// Hosts the machine of active faults (sim/world/fault_effects.h) in a real run.
#include <algorithm>
#include <utility>

#include "live/coordinator.h"
#include "protocol/spindle_v2/words.h"
#include "sim/scenario/rules.h"
#include "sim/world/fault_effects.h"

namespace whorl::live {
namespace {

using sim::FaultSpec;
using sim::KeyOfRow;

// The pause before an operator's aborted transaction is tried again.
constexpr Duration kOperatorRetry = Milliseconds(5);

unsigned LivesOf(unsigned life) { return 1U << life; }

}  // namespace

void Coordinator::Observe(const sim::ObservedEvent& what) {
  if (!running_ || triggers_.empty()) return;
  std::vector<sim::Triggers::Hit> hits;
  triggers_.Observe({.at = Now(), .what = what}, hits);
  StrikeAll(hits);
}

void Coordinator::StrikeAll(const std::vector<sim::Triggers::Hit>& hits) {
  for (const sim::Triggers::Hit& hit : hits) Begin(hit.fault, &hit.call);
}

void Coordinator::Begin(uint32_t index, const CallName* trigger) {
  const FaultSpec& fault = scenario_.faults[index];
  sim::FaultTarget target = {.node = fault.node, .exists = HasTarget(fault), .call = {}};
  if (fault.node >= 0) {
    target.life = LivesOf(static_cast<unsigned>(NodeAt(fault.node).state));
    target.incarnation = NodeAt(fault.node).incarnation;
  }
  if (trigger != nullptr && IsTarget(fault, *trigger)) target.call = *trigger;
  sim::FaultEffects effects;
  OnFaultDue(scenario_, faults_, index, target, effects);
  CarryOut(effects);
}

bool Coordinator::HasTarget(const FaultSpec& fault) {
  if (fault.As<sim::SessionLossFault>() != nullptr) return !NodeAt(fault.node).sessions.empty();
  const sim::RowOfLock* target = TargetOf(fault.what);
  if (target == nullptr) return true;
  std::vector<Row> rows;
  if (!operator_->RowsAt(std::nullopt, rows).ok()) return false;
  const size_t key = sim::RulesOf(scenario_.protocol).key_column;
  const Value wanted = KeyOfRow(scenario_, *target);
  return std::ranges::any_of(rows, [&](const Row& row) { return row[key] == wanted; });
}

// Whether the call is still under way, so that the fault can strike it.
bool Coordinator::IsTarget(const FaultSpec& fault, const CallName& call) {
  const Passing* passing = FindPassing(call);
  if (!StrikesOneCall(fault.what) || passing == nullptr || call.process.node != fault.node) {
    return false;
  }
  const bool is_dropped = fault.As<sim::DropRequestFault>() || fault.As<sim::DropReplyFault>();
  return is_dropped || CanAnswer(fault, AtSpanner(*passing));
}

sim::PassingCall Coordinator::AtSpanner(const Passing& passing) {
  return {.node = passing.call.name.process.node,
          .step = passing.call.step,
          .can_abort = passing.wire.IsOfReadWrite() && !passing.wire.is_rollback,
          .is_rollback = passing.wire.is_rollback,
          .struck_by = passing.struck_by};
}

bool Coordinator::IsStartedByFault(int16_t node) const {
  return std::ranges::any_of(scenario_.faults, [node](const FaultSpec& fault) {
    return fault.As<sim::StartFault>() != nullptr && fault.node == node;
  });
}

// --- effects -------------------------------------------------------------------------------------

void Coordinator::CarryOut(const sim::FaultEffects& effects) {
  for (const sim::FaultEffect& effect : effects) {
    std::visit([this](const auto& what) { CarryOut(what); }, effect);
  }
}

void Coordinator::CarryOut(const sim::ObserveFault& observed) {
  struck_ |= std::holds_alternative<sim::FaultBegan>(observed.what);
  RecordEvent(observed.what);
}

void Coordinator::CarryOut(const sim::CrashProcess& crash) {
  EndProcess(crash.node, /*crashed=*/true);
  // The next process connects in the meantime.
  if (IsStartedByFault(crash.node)) PrepareSpare(crash.node);
}

void Coordinator::CarryOut(const sim::StopProcess& stop) {
  StopNode(stop.node);
  if (IsStartedByFault(stop.node)) PrepareSpare(stop.node);
}

void Coordinator::CarryOut(const sim::StartAgain& start) {
  PrepareSpare(start.node);
  At(Now() + start.after, [this, start] { StartNode(start.node, start.fault); });
}

void Coordinator::CarryOut(const sim::EndLater& end) {
  At(Now() + end.after, [this, end] {
    const uint32_t incarnation = end.node < 0 ? 0 : NodeAt(end.node).incarnation;
    sim::FaultEffects effects;
    OnFaultOver(scenario_, faults_, end.fault, end.node, incarnation, end.incarnation, effects);
    CarryOut(effects);
  });
}

void Coordinator::CarryOut(const sim::SetLink& set) {
  proxy_->SetLink(set.change.node, set.change.direction, set.change.link);
  RecordEvent(set.change);
}

// The proxy itself holds replies back, so only requests are released here.
void Coordinator::CarryOut(const sim::ReleaseMessages& release) {
  if (release.requests) ReleaseHeld(release.node, /*passes=*/true);
}

void Coordinator::CarryOut(const sim::LeaveSlowCalls& leave) {
  for (auto& [number, passing] : passing_) {
    if (passing.call.name.process.node != leave.node) continue;
    if (std::exchange(passing.slowed, false)) Hang(passing);
  }
}

void Coordinator::CarryOut(const sim::DropRequest& drop) {
  FindPassing(drop.call)->drop_request = true;
}
void Coordinator::CarryOut(const sim::DropReply& drop) {
  FindPassing(drop.call)->drop_reply = true;
}
void Coordinator::CarryOut(const sim::MarkCall& mark) {
  FindPassing(mark.call)->struck_by = mark.fault;
}

// --- at Spanner ----------------------------------------------------------------------------------

void Coordinator::CarryOut(const sim::TakeSession& take) {
  LiveNode& node = NodeAt(take.node);
  for (auto& [name, open] : open_) {
    // The emulator does not release the locks of a deleted session by itself.
    if (node.sessions.contains(name.first) && !open.aborted) {
      operator_->Rollback(name.first, name.second);
      open.aborted = true;
    }
  }
  for (const SessionName& session : node.sessions) operator_->DeleteSession(session);
  node.lost_sessions.merge(node.sessions);
  node.sessions.clear();
  RecordEvent(sim::SessionLost{.process = ProcessOf(take.node)});
}

// No network is between the operator and Spanner.
void Coordinator::CarryOut(const sim::ActAsOperator& acts) {
  Timestamp commit;
  const Status status = operator_->Write(OperatorWriteOf(scenario_, acts.fault), commit);
  if (!status.ok()) return At(Now() + kOperatorRetry, [this, acts] { CarryOut(acts); });
  CallName nobody;
  nobody.lock = TargetOf(scenario_.faults[acts.fault].what)->lock;
  record_.commits.push_back({.at = Now(),
                             .call = nobody,
                             .step = spindle_v2::steps::kCheck,
                             .commit = commit,
                             .before = {},
                             .after = {}});
  RecordEvent(sim::FaultEnded{.fault = acts.fault});
}

void Coordinator::CarryOut(const sim::TellOfRelease& tell) {
  const LiveNode& node = NodeAt(tell.node);
  if (node.process == nullptr) return;
  for (const uint16_t lock : scenario_.nodes[static_cast<size_t>(tell.node)].locks) {
    node.process->Send(HearOfRelease{.lock = lock});
  }
}

// --- clocks --------------------------------------------------------------------------------------

void Coordinator::CarryOut(const sim::SetNodeClock& set) {
  const sim::ClockFault& change = set.change;
  LiveNode& node = NodeAt(set.node);
  if (change.offset) node.clock.offset += *change.offset - sim::WallError(node.clock, Now());
  if (change.step) node.clock.offset += *change.step;
  if (change.rate_ppm) {
    sim::Rebase(node.clock, Now());
    node.clock.rate_ppm = *change.rate_ppm;
  }
  if (node.process != nullptr) node.process->Send(SetClock{.clock = node.clock});
  RecordEvent(sim::ClockChanged{.node = set.node,
                                .error = sim::WallError(node.clock, Now()),
                                .rate_ppm = node.clock.rate_ppm,
                                .stands = false});
}

}  // namespace whorl::live
