// Hosts the machine of active faults (sim/world/fault_effects.h) in a real run.
#include <algorithm>
#include <iterator>
#include <utility>

#include "live/coordinator.h"
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

// Whether the call, or the write, is still under way, so that the fault can strike it.
bool Coordinator::IsTarget(const FaultSpec& fault, const CallName& call) {
  if (call.process.node != fault.node) return false;
  if (SlowsItsTrigger(fault)) return FindNewestWrite(call.process, call.lock) != writes_.end();
  const Passing* passing = FindPassing(call);
  if (!StrikesOneCall(fault.what) || passing == nullptr) return false;
  if (fault.As<sim::DropReplyFault>() != nullptr) return true;
  if (passing->is_applied) return CanAnswer(fault, AtSpanner(*passing));
  // What Spanner has served is neither lost on its way there nor answered in its place.
  if (passing->at_spanner) return false;
  return fault.As<sim::DropRequestFault>() != nullptr || CanAnswer(fault, AtSpanner(*passing));
}

Coordinator::Writes::iterator Coordinator::FindNewestWrite(ProcessId process, uint16_t lock) {
  auto newest = writes_.end();
  for (auto write = writes_.begin(); write != writes_.end(); ++write) {
    const sim::WriteSent& sent = write->second.write;
    if (sent.process == process && sent.lock == lock) newest = write;
  }
  return newest;
}

sim::PassingCall Coordinator::AtSpanner(const Passing& passing) const {
  const WireCall& wire = passing.wire;
  const auto open = open_.find({wire.session, wire.transaction});
  const bool may_commit = open == open_.end() || open->second.committing;
  return {.node = passing.call.name.process.node,
          .step = passing.call.step,
          .method = wire.method,
          .is_first_statement = wire.is_statement && wire.sequence_number <= 1,
          .can_abort = CanAbort(wire),
          .comes_again = wire.is_commit && !wire.transaction.empty() && may_commit,
          .is_applied = passing.is_applied,
          .struck_by = passing.struck_by};
}

// Whether Spanner could answer the call ABORTED, as model::AbortCall decides it in the simulation: never
// once the transaction may have been committed.
bool Coordinator::CanAbort(const WireCall& wire) const {
  if (wire.is_rollback || wire.method == "BeginTransaction") return false;
  if (wire.begins_read_write) return true;
  const auto open = open_.find({wire.session, wire.transaction});
  return open != open_.end() && !open->second.committing;
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

// A write to both resources is reported as one to each.
void Coordinator::CarryOut(const sim::DelayWrite& delay) {
  const auto& slow = *scenario_.faults[delay.fault].As<sim::SlowResourceFault>();
  const Duration late = chance_.Delay(delay.fault, slow.add);
  const auto newest = FindNewestWrite(delay.process, delay.lock);
  newest->second.due = newest->second.due + late;
  if (newest == writes_.begin()) return;
  const auto before = std::prev(newest);
  const sim::WriteSent& sent = newest->second.write;
  const sim::WriteSent& other = before->second.write;
  const bool is_same = other.process == sent.process && other.lock == sent.lock &&
                       other.token == sent.token && other.fenced != sent.fenced;
  if (is_same) before->second.due = before->second.due + late;
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
  record_.commits.push_back(
      {.at = Now(), .call = nobody, .step = {}, .commit = commit, .before = {}, .after = {}});
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
