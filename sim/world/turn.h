// One Take of a World. Only the files of sim/world include this header.
//
// A Turn works on the state of its world, draws from its driver's Chance and writes to its driver's
// Outbox; it lives as long as the Take. process.cc has what happens inside a process, network.cc
// the calls between processes and Spanner, sessions.cc the sessions of processes, spanner.cc
// Spanner's side, faults.cc the effects of faults.
#pragma once

#include <cstdint>
#include <utility>

#include "sim/world/latency.h"
#include "sim/world/node_clock.h"
#include "sim/world/world.h"

namespace whorl::sim {

// Chance of faults, for one message or call.
class DrawnFaultChance final : public FaultChance {
 public:
  DrawnFaultChance(Chance& chance, Draw draw, const DrawnFor& whom)
      : chance_(chance), draw_(draw), whom_(whom) {}
  bool Hits(uint32_t fault, int64_t percent) override {
    const uint64_t bits = chance_.BitsOfFault(fault, draw_, whom_);
    return (bits >> 32) * 100 >> 32 < static_cast<uint64_t>(percent);
  }
  Duration Delay(uint32_t fault, const DelaySpec& delay) override {
    return Pick(delay, chance_.BitsOfFault(fault, draw_, whom_));
  }

 private:
  Chance& chance_;
  Draw draw_;
  DrawnFor whom_;
};

class Turn {
 public:
  // `chance` may be null if no draw is needed (Trigger, the constructor of World).
  Turn(const WorldSetup& setup, WorldState& state, Chance* chance, Outbox& out)
      : setup_(setup),
        scenario_(setup.scenario),
        latencies_(LatenciesOf(setup.scenario.spanner.preset)),
        state_(state),
        chance_(chance),
        out_(out) {}

  void Happen(PendingEvent event, int16_t node);
  // Steps the machines with the events that Happen queued for them.
  void RunMachines();

  // --- bookkeeping -----------------------------------------------------------------------------
  void Observe(ObservedEvent what) { out_.observed.push_back({state_.now, std::move(what)}); }
  uint32_t Schedule(Instant at, ChoiceKind kind, int16_t node, PendingEvent event);
  uint32_t Store(PendingEvent event);  // pending, but not due until it is scheduled
  void Cancel(uint32_t place);

  // --- processes -------------------------------------------------------------------------------
  void StartNode(int16_t node, std::optional<uint32_t> fault);
  void LetGo(int16_t node, bool crashed);
  void StopNode(int16_t node);
  void PauseNode(int16_t node);
  void ResumeNode(int16_t node);

 private:
  Node& NodeAt(int16_t node) { return state_.nodes[static_cast<size_t>(node)]; }
  const NodeSpec& SpecOf(int16_t node) const { return scenario_.nodes[static_cast<size_t>(node)]; }
  const Links& LinksOf(int16_t node) const { return state_.faults.At(node).links; }
  ProcessId ProcessOf(int16_t node) { return {node, NodeAt(node).incarnation}; }
  LocalTime ClocksOf(int16_t node) {
    return ReadClocks(NodeAt(node).clock, NodeAt(node).started, state_.now);
  }
  static DrawnFor DrawnForCall(const Call& call) {
    return {.node = call.name.process.node,
            .lock = call.name.lock,
            .step = call.step,
            .request = static_cast<uint8_t>(call.request.index())};
  }
  Duration PickLatency(const LatencyTable& table, Draw draw, const DrawnFor& whom) {
    return Pick(table, chance_->Bits(draw, whom));
  }
  Instant WhenShown(int16_t node, Duration monotonic) {
    return WhenShows(NodeAt(node).clock, NodeAt(node).started, monotonic);
  }
  Participant* FindParticipant(ProcessId process, uint16_t lock);

  // process.cc
  void OnTimer(const TimerDue& timer);
  void OnResourceWrite(const ResourceWrite& write);
  void SetTimerAt(int16_t node, Participant& participant, TimerOwner owner, uint16_t id,
                  Duration local);
  void CancelTimerOf(Participant& participant, TimerOwner owner, uint16_t id);
  void RescheduleTimers(int16_t node);
  void TellMachine(int16_t node, const Participant& participant, Event event);
  void StepMachine(int16_t node, Participant& participant, const Event& event);
  void DoEffect(int16_t node, Participant& participant, Effect effect);
  void NoticeStanding(int16_t node, Participant& participant);
  void UpdateBelief(int16_t node, Participant& participant);
  void StartParticipant(int16_t node, uint16_t place);
  void AnnounceReleaseOf(int16_t node, const Participant& participant);
  void OnReleaseHeard(int16_t node, const ReleaseHeard& heard);
  class Hosting;
  void TellApplication(int16_t node, Participant& participant, const ApplicationEvent& event);
  void ResourceHears(const ResourceWrite& write, bool fenced);

  // network.cc
  void StartRunnerFor(int16_t node, Participant& participant, RunTransaction run);
  void CancelRunnerOf(int16_t node, Participant& participant, RequestId request);
  void DoRunnerAction(int16_t node, Participant& participant, RequestId request,
                      RunnerAction action);
  void SendToSpanner(int16_t node, Participant& participant, const ActiveRunner& runner,
                     SendCall send);
  void SendCallOf(int16_t node, Call&& call);
  Duration WayOf(uint32_t call, Draw draw, Duration service = {});
  Duration AddedLatency(const Call& call, Draw draw);
  void SendReply(uint32_t call, Response&& response, Duration service);
  void OnCallArrives(uint32_t call);
  void OnReplyArrives(const ReplyArrives& reply);
  void OnCallTimesOut(uint32_t call);
  void OnRunnerWaited(int16_t node, Participant& participant, RequestId request);
  void EndCall(uint32_t call, bool from_spanner, Response&& response);
  void Refuse(uint32_t call);
  void Hold(uint32_t call, PendingEvent message);
  void MarkHanging(uint32_t call);
  void SayHangs(Call& call);
  void ReleaseHeld(int16_t node, bool requests, bool replies);
  void SetTimeout(uint32_t call, Instant at);
  Instant DeadlineOf(const Call& call);
  uint32_t AddCall(Call&& call);
  void Abandon(uint32_t place);
  void FreeIfDone(uint32_t call);
  std::optional<uint32_t> FindCall(const CallName& name) const;
  std::optional<uint32_t> FindRequestOnItsWay(uint32_t call) const;

  // sessions.cc
  void MakeSessions(int16_t node);
  void NeedSessionFor(int16_t node, Participant& participant, RequestId request);
  void OnSessionLost(int16_t node, const SessionName& name);
  void OnSessionReply(int16_t node, const Response& response);
  void OnSessionsTimer(int16_t node);
  void SetSessionsTimer(int16_t node);
  void DoPoolEffects(int16_t node, std::vector<PoolEffect> effects);
  void CreateSessionOf(int16_t node, const CreateSessions& create);
  const SessionName* SessionOfNode(int16_t node);
  void LoseSession(int16_t node);

  // spanner.cc
  model::Moment MomentNow() const;
  Instant WhenSurelyPast(Timestamp commit) const;
  Instant WhenServerShows(Timestamp server_time) const;
  void ServeAtSpanner(uint32_t call);
  void DoDatabaseEffects(bool waited_for_truetime);
  void OnReplied(model::Replied&& replied);
  void OnCommitStarted(const model::CommitStarted& started);
  void OnCommitVisible(const CommitBecomesVisible& visible);
  void TrueTimeHolds(const CallName& commit);
  void OnSpannerLooksAgain();
  bool IsAnsweredByFault(uint32_t call, const Request& request, const model::Moment& leader);
  void AnswerUnavailable(uint32_t call);
  void DeleteRow(const OperatorDeletes& deletes);
  void OnOperatorHears(const model::Replied& replied);
  void SetClocksOfSpanner(const SetSpannerClocks& set);

  // faults.cc
  void OnFaultBegins(const FaultBegins& begins);
  void OnFaultEnds(const FaultEnds& ends);
  bool HasTarget(const FaultSpec& fault);
  std::optional<uint32_t> TargetOf(const FaultSpec& fault, const CallName& call) const;
  // The machine's effects, in their order.
  void CarryOut(const FaultEffects& effects);
  void CarryOut(const ObserveFault& observed);
  void CarryOut(const PauseProcess& pause) { PauseNode(pause.node); }
  void CarryOut(const ResumeProcess& resume) { ResumeNode(resume.node); }
  void CarryOut(const CrashProcess& crash) { LetGo(crash.node, /*crashed=*/true); }
  void CarryOut(const StopProcess& stop) { StopNode(stop.node); }
  void CarryOut(const StartProcess& start) { StartNode(start.node, std::nullopt); }
  void CarryOut(const StartAgain& start);
  void CarryOut(const EndLater& end);
  void CarryOut(const SetLink& set) { Observe(set.change); }
  void CarryOut(const ReleaseMessages& release) {
    ReleaseHeld(release.node, release.requests, release.replies);
  }
  void CarryOut(const LeaveSlowCalls& leave);
  void CarryOut(const TakeSession& take) { LoseSession(take.node); }
  void CarryOut(const SetNodeClock& set);
  void CarryOut(const ReleaseNodeClock& release);
  void CarryOut(const SetSpannerClocks& set) { SetClocksOfSpanner(set); }
  void CarryOut(const RemoveRow& removal) { DeleteRow({.fault = removal.fault}); }
  void CarryOut(const DropRequest& drop);
  void CarryOut(const DropReply& drop);
  void CarryOut(const MarkCall& mark);
  // Whether a fault waited for the node's next call to do this to it (LosesRequest or LosesReply).
  template <typename Loses>
  bool HasFaultFor(int16_t node, const Loses& loses) {
    if (state_.faults.At(node).armed.empty()) return false;
    FaultEffects effects;
    const bool lost = loses(scenario_, state_.faults, node, effects);
    CarryOut(effects);
    return lost;
  }
  void ClockGoesOn(int16_t node);
  void ObserveClock(int16_t node);

  const WorldSetup& setup_;
  const Scenario& scenario_;
  const Latencies& latencies_;
  WorldState& state_;
  Chance* chance_;
  Outbox& out_;
};

// CallName::call of calls for sessions, which belong to no transaction of a lock. No transaction
// makes so many calls.
inline constexpr uint16_t kSessionCall = 0xFFFF;

}  // namespace whorl::sim
