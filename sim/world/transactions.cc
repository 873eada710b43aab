#include <optional>
#include <utility>

#include "sim/world/calls.h"
#include "sim/world/parts.h"

namespace whorl::sim {
namespace {

ActiveRunner* FindRunner(Participant& participant, RequestId request) {
  for (ActiveRunner& runner : participant.runners) {
    if (runner.request == request) return &runner;
  }
  return nullptr;
}

void SendCallOf(WorldContext& work, int16_t node, const Participant& participant,
                const ActiveRunner& runner, const SendCall& send) {
  const uint32_t place = AddCall(work);
  Call& call = work.CallAt(place);
  call.name = {.process = work.ProcessOf(node),
               .lock = participant.lock,
               .request = runner.request,
               .generation = runner.generation,
               .attempt = send.attempt,
               .call = send.call};
  call.step = send.step;
  PutRequest(runner.state, call.request);
  call.deadline = send.deadline;
  SendToSpanner(work, place);
}

void Finish(WorldContext& work, int16_t node, Participant& participant, const ActiveRunner& runner,
            TransactionResult&& result) {
  const RequestId request = runner.request;
  const StepName step = runner.state.transaction.step;
  const SessionName lost = runner.state.session_lost ? runner.state.session.name : SessionName();
  participant.runners.erase(participant.runners.begin() + (&runner - participant.runners.data()));
  work.Observe(TransactionFinished{.process = work.ProcessOf(node),
                                   .lock = participant.lock,
                                   .request = request,
                                   .step = step,
                                   .outcome = result.outcome,
                                   .code = result.status.code});
  QueueForMachine(work, node, participant,
                  TransactionEnded{.request = request, .step = step, .result = std::move(result)});
  if (!lost.empty()) OnSessionLost(work, node, lost);
}

void ApplyAction(WorldContext& work, int16_t node, Participant& participant,
                 const ActiveRunner& runner, RunnerAction&& action) {
  if (const auto* send = std::get_if<SendCall>(&action)) {
    return SendCallOf(work, node, participant, runner, *send);
  }
  if (const auto* wait = std::get_if<WaitFor>(&action)) {
    return SetTimerAt(work, node, participant, TimerOwner::kRunner, runner.request,
                      work.MonotonicOf(node) + wait->pause);
  }
  if (std::holds_alternative<NeedSession>(action)) {
    return RequestSession(work, node, participant, runner);
  }
  Finish(work, node, participant, runner, std::move(std::get<Finished>(action).result));
}

}  // namespace

void StartTransaction(WorldContext& work, int16_t node, Participant& participant,
                      RunTransaction&& run) {
  work.Observe(TransactionStarted{.process = work.ProcessOf(node),
                                  .lock = participant.lock,
                                  .request = run.request,
                                  .step = run.transaction.step});
  ActiveRunner& runner = participant.runners.emplace_back();
  runner.request = run.request;
  runner.generation = ++work.NodeAt(node).generation;
  // A process without a session pool runs its transactions on its one permanent session.
  auto session = work.NodeAt(node).sessions ? std::nullopt : std::optional<Session>(std::in_place);
  RunnerAction action =
      StartRunner(work.setup.retry_policy, runner.state, std::move(run.transaction),
                  work.MonotonicOf(node), std::move(session));
  ApplyAction(work, node, participant, runner, std::move(action));
}

void GiveUpTransaction(WorldContext& work, int16_t node_index, Participant& participant,
                       RequestId request) {
  ActiveRunner* runner = FindRunner(participant, request);
  if (runner == nullptr) return;
  Node& node = work.NodeAt(node_index);
  const bool has_session = !runner->state.session_lost && !runner->state.session.name.empty();
  if (node.sessions && !has_session) StopRequestingSession(work, node_index, participant, request);
  CancelTimerOf(work, participant, TimerOwner::kRunner, request);
  const std::vector<CallSlot>& calls = work.state.calls;
  for (uint32_t place = 0; place < calls.size(); ++place) {
    if (!calls[place].is_taken() || !calls[place].call().awaited) continue;
    const CallName& name = calls[place].call().name;
    const bool is_its = name.process == work.ProcessOf(node_index) &&
                        name.lock == participant.lock && name.request == request &&
                        name.call != kSessionCall;
    if (!is_its) continue;
    AbandonCall(work, place);
  }
  std::optional<RunnerAction> action =
      OnCancelled(work.setup.retry_policy, runner->state, work.MonotonicOf(node_index),
                  Error(Code::kCancelled, "its context was cancelled"));
  if (action) ApplyAction(work, node_index, participant, *runner, *std::move(action));
}

void OnBackoffOver(WorldContext& work, int16_t node, Participant& participant, RequestId request) {
  ActiveRunner& runner = *FindRunner(participant, request);
  ProcessEntropy entropy(*work.chance, work.ProcessOf(node), participant.lock,
                         runner.state.transaction.step);
  ApplyAction(work, node, participant, runner,
              OnWaited(work.setup.retry_policy, runner.state, work.MonotonicOf(node), entropy));
}

void OnSessionGranted(WorldContext& work, int16_t node, Participant& participant, RequestId request,
                      const Session& session) {
  ActiveRunner& runner = *FindRunner(participant, request);
  ApplyAction(work, node, participant, runner,
              OnSession(work.setup.retry_policy, runner.state, work.MonotonicOf(node), session));
}

void OnSessionRefused(WorldContext& work, int16_t node, Participant& participant, RequestId request,
                      const Status& status) {
  ActiveRunner& runner = *FindRunner(participant, request);
  ApplyAction(work, node, participant, runner, OnNoSession(runner.state, status));
}

void OnCallEnded(WorldContext& work, const CallName& name, Response&& response) {
  const int16_t node = name.process.node;
  Participant* participant = FindParticipant(work, name.process, name.lock);
  if (participant == nullptr) return;
  if (name.call == kSessionCall) return OnSessionReply(work, node, response);
  ActiveRunner* runner = FindRunner(*participant, name.request);
  if (runner == nullptr) return;
  ProcessEntropy entropy(*work.chance, name.process, name.lock, runner->state.transaction.step);
  ApplyAction(work, node, *participant, *runner,
              OnReply(work.setup.retry_policy, runner->state, work.MonotonicOf(node), entropy,
                      std::move(response)));
}

}  // namespace whorl::sim
