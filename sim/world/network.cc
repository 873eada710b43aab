// Calls between processes and Spanner: requests, replies, and what the network does to them.
//
// A black hole holds messages back, as TCP does: they arrive when it ends. If the connection times
// out before, the call ends UNAVAILABLE and the message is lost.
#include <algorithm>
#include <utility>

#include "sim/world/turn.h"

namespace whorl::sim {
namespace {

ActiveRunner* FindRunner(Participant& participant, RequestId request) {
  for (ActiveRunner& runner : participant.runners) {
    if (runner.request == request) return &runner;
  }
  return nullptr;
}

// Serves WouldEnd(): no draw can change whether a transaction ends.
class NoEntropy final : public Entropy {
 public:
  int64_t Between(Purpose, int64_t lo, int64_t) override { return lo; }
};

}  // namespace

// --- the client's side -------------------------------------------------------------------------

void Turn::StartRunnerFor(int16_t node, Participant& participant, RunTransaction run) {
  Observe(TransactionStarted{.process = ProcessOf(node),
                             .lock = participant.lock,
                             .request = run.request,
                             .step = run.transaction.step});
  ActiveRunner& runner = participant.runners.emplace_back();
  runner.request = run.request;
  runner.generation = NodeAt(node).generation;
  // A process without a session pool runs its transactions on its one permanent session.
  const auto session = NodeAt(node).sessions ? std::nullopt : std::optional(Session{});
  RunnerAction action = StartRunner(setup_.retry_policy, runner.state, std::move(run.transaction),
                                    ClocksOf(node).monotonic, session);
  DoRunnerAction(node, participant, run.request, std::move(action));
}

void Turn::DoRunnerAction(int16_t node, Participant& participant, RequestId request,
                          RunnerAction action) {
  ActiveRunner& runner = *FindRunner(participant, request);
  if (auto* send = std::get_if<SendCall>(&action)) {
    return SendToSpanner(node, participant, runner, std::move(*send));
  }
  if (const auto* wait = std::get_if<WaitFor>(&action)) {
    return SetTimerAt(node, participant, TimerOwner::kRunner, request,
                      ClocksOf(node).monotonic + wait->pause);
  }
  if (std::holds_alternative<NeedSession>(action)) {
    return NeedSessionFor(node, participant, request);
  }
  const StepName step = runner.state.transaction.step;
  const SessionName lost = runner.state.session_lost ? runner.state.session.name : SessionName();
  TransactionResult result = std::move(std::get<Finished>(action).result);
  participant.runners.erase(participant.runners.begin() + (&runner - participant.runners.data()));
  Observe(TransactionFinished{.process = ProcessOf(node),
                              .lock = participant.lock,
                              .request = request,
                              .step = step,
                              .outcome = result.outcome,
                              .code = result.status.code});
  TellMachine(node, participant,
              TransactionEnded{.request = request, .step = step, .result = std::move(result)});
  if (!lost.empty()) OnSessionLost(node, lost);
}

// The transaction's caller no longer wants it. Messages that were sent stay on their way, and their
// replies are ignored. A transaction that waits for a session still gets it.
void Turn::CancelRunnerOf(int16_t node_index, Participant& participant, RequestId request) {
  ActiveRunner* runner = FindRunner(participant, request);
  if (runner == nullptr) return;
  Node& node = NodeAt(node_index);
  const bool has_session = !runner->state.session_lost && !runner->state.session.name.empty();
  if (node.sessions && !has_session) return;
  CancelTimerOf(participant, TimerOwner::kRunner, request);
  for (uint32_t place = 0; place < state_.calls.size(); ++place) {
    if (!state_.calls[place].call || !state_.calls[place].call->awaited) continue;
    const CallName& name = state_.calls[place].call->name;
    const bool is_its = name.process == ProcessOf(node_index) && name.lock == participant.lock &&
                        name.request == request && name.call != kSessionCall;
    if (!is_its) continue;
    ++node.generation;
    Abandon(place);
  }
  std::optional<RunnerAction> action =
      OnCancelled(setup_.retry_policy, runner->state, ClocksOf(node_index).monotonic,
                  Error(Code::kCancelled, "its context was cancelled"));
  if (action) DoRunnerAction(node_index, participant, request, *std::move(action));
}

void Turn::OnRunnerWaited(int16_t node, Participant& participant, RequestId request) {
  ActiveRunner& runner = *FindRunner(participant, request);
  ProcessEntropy entropy(*chance_, ProcessOf(node), participant.lock,
                         runner.state.transaction.step);
  DoRunnerAction(node, participant, request,
                 OnWaited(setup_.retry_policy, runner.state, ClocksOf(node).monotonic, entropy));
}

void Turn::SendToSpanner(int16_t node, Participant& participant, const ActiveRunner& runner,
                         SendCall send) {
  Call call;
  call.name = {.process = ProcessOf(node),
               .lock = participant.lock,
               .request = runner.request,
               .generation = runner.generation,
               .attempt = send.attempt,
               .call = send.call};
  call.step = send.step;
  call.request = std::move(send.request);
  call.sent_at = state_.now;
  call.deadline = send.deadline;
  SendCallOf(node, std::move(call));
}

void Turn::SendCallOf(int16_t node, Call&& call) {
  Observe(CallSent{
      .call = call.name, .step = call.step, .request = static_cast<uint8_t>(call.request.index())});
  const uint32_t place = AddCall(std::move(call));
  if (HasFaultFor(node, LosesRequest)) {
    state_.calls[place].call->at_spanner = false;
    return MarkHanging(place);
  }
  switch (LinksOf(node).to) {
    case LinkState::kUp:
      Schedule(state_.now + WayOf(place, Draw::kRequestLatency), ChoiceKind::kDeliver, -1,
               CallArrives{.call = place});
      return;
    case LinkState::kBlackHoled:
      return Hold(place, CallArrives{.call = place});
    case LinkState::kRefused:
      return Refuse(place);
  }
}

void Turn::OnReplyArrives(const ReplyArrives& reply) {
  Call& call = *state_.calls[reply.call].call;
  if (!call.awaited) {
    Observe(LateReplyIgnored{.call = call.name});
    call.at_spanner = false;
    return FreeIfDone(reply.call);
  }
  const LinkState link = LinksOf(call.name.process.node).from;
  if (reply.from_spanner && link == LinkState::kBlackHoled) return Hold(reply.call, reply);
  call.at_spanner = false;
  if (reply.from_spanner && link == LinkState::kRefused) {
    // The call was executed and the process will never hear of it, so a transaction may stay open.
    ++NodeAt(call.name.process.node).generation;
    return Refuse(reply.call);
  }
  // Moved out, because the call may be freed before the reply has been handled.
  EndCall(reply.call, reply.from_spanner, std::exchange(call.response, {}));
}

void Turn::OnCallTimesOut(uint32_t place) {
  Call& call = *state_.calls[place].call;
  call.timeout.reset();
  if (!call.awaited) return FreeIfDone(place);
  if (call.held) {
    Cancel(*call.held);
    call.held.reset();
    call.at_spanner = false;
  }
  const bool deadline = state_.now >= DeadlineOf(call);
  Response response;
  response.status = deadline ? Error(Code::kDeadlineExceeded, "the call's deadline passed")
                             : Error(Code::kUnavailable, "the connection timed out");
  // Spanner may still be working on this call.
  ++NodeAt(call.name.process.node).generation;
  EndCall(place, /*from_spanner=*/false, std::move(response));
}

// The process hears how its call ended.
void Turn::EndCall(uint32_t place, bool from_spanner, Response&& response) {
  Call& call = *state_.calls[place].call;
  call.awaited = false;
  if (call.timeout) Cancel(*call.timeout);
  call.timeout.reset();
  const CallName name = call.name;
  Observe(CallEnded{
      .call = name, .step = call.step, .code = response.status.code, .from_spanner = from_spanner});
  FreeIfDone(place);
  const int16_t node = name.process.node;
  Participant* participant = FindParticipant(name.process, name.lock);
  if (participant == nullptr) return;
  if (name.call == kSessionCall) return OnSessionReply(node, response);
  ActiveRunner* runner = FindRunner(*participant, name.request);
  if (runner == nullptr) return;
  ProcessEntropy entropy(*chance_, name.process, name.lock, runner->state.transaction.step);
  DoRunnerAction(node, *participant, name.request,
                 OnReply(setup_.retry_policy, runner->state, ClocksOf(node).monotonic, entropy,
                         std::move(response)));
}

// --- the network -------------------------------------------------------------------------------

void Turn::OnCallArrives(uint32_t place) {
  Call& call = *state_.calls[place].call;
  const LinkState link = LinksOf(call.name.process.node).to;
  const bool sender_lives = FindParticipant(call.name.process, call.name.lock) != nullptr;
  if (sender_lives && call.awaited && link == LinkState::kBlackHoled) {
    return Hold(place, CallArrives{.call = place});
  }
  if (sender_lives && call.awaited && link == LinkState::kRefused) return Refuse(place);
  ServeAtSpanner(place);
}

// The connection is refused; the process learns of it after one network latency.
void Turn::Refuse(uint32_t place) {
  Call& call = *state_.calls[place].call;
  const int16_t node = call.name.process.node;
  call.at_spanner = true;  // keeps the call's slot until the refusal has arrived
  SayHangs(call);
  call.response = {};
  call.response.status = Error(Code::kUnavailable, "connection refused");
  Schedule(state_.now + PickLatency(latencies_.one_way, Draw::kReplyLatency, DrawnForCall(call)),
           ChoiceKind::kDeliver, node, ReplyArrives{.call = place, .from_spanner = false});
}

void Turn::Hold(uint32_t place, PendingEvent message) {
  MarkHanging(place);
  state_.calls[place].call->held = Store(std::move(message));
}

void Turn::MarkHanging(uint32_t place) {
  Call& call = *state_.calls[place].call;
  SayHangs(call);
  SetTimeout(place,
             std::min(call.sent_at + scenario_.network.connection_timeout, DeadlineOf(call)));
}

void Turn::SayHangs(Call& call) {
  if (call.hangs) return;
  call.hangs = true;
  Observe(CallHangs{.call = call.name, .step = call.step});
}

// Moves the call's timeout forward to `at`, never back.
void Turn::SetTimeout(uint32_t place, Instant at) {
  Call& call = *state_.calls[place].call;
  if (call.timeout) {
    if (state_.pending[*call.timeout].due <= at) return;
    Cancel(*call.timeout);
  }
  call.timeout =
      Schedule(at, ChoiceKind::kSettle, call.name.process.node, CallTimesOut{.call = place});
}

Instant Turn::DeadlineOf(const Call& call) {
  return WhenShown(call.name.process.node, call.deadline);
}

// Sends the messages on that black holes have held back.
void Turn::ReleaseHeld(int16_t node, bool requests, bool replies) {
  if (!requests && !replies) return;
  for (uint32_t place = 0; place < state_.calls.size(); ++place) {
    const CallSlot& slot = state_.calls[place];
    if (!slot.call || !slot.call->held || slot.call->name.process.node != node) continue;
    const uint32_t held = *slot.call->held;
    const bool request = std::holds_alternative<CallArrives>(*state_.pending[held].event);
    if (request ? !requests : !replies) continue;
    PendingEvent message = std::move(*state_.pending[held].event);
    Cancel(held);
    state_.calls[place].call->held.reset();
    const Duration way = WayOf(place, request ? Draw::kRequestLatency : Draw::kReplyLatency);
    const int16_t to = request ? int16_t{-1} : node;
    Schedule(state_.now + way, ChoiceKind::kDeliver, to, std::move(message));
  }
}

// How long a message of the call takes, with `service` at Spanner added.
Duration Turn::WayOf(uint32_t place, Draw draw, Duration service) {
  Call& call = *state_.calls[place].call;
  const Duration way = service + PickLatency(latencies_.one_way, draw, DrawnForCall(call));
  if (state_.faults.At(call.name.process.node).active.empty()) return way;
  const Duration slow = way + AddedLatency(call, draw);
  // Without faults no call takes as long as its deadline, so there is no need for a timeout.
  if (call.awaited && slow > way) {
    call.slowed = true;
    const Instant deadline = DeadlineOf(call);
    if (state_.now + slow > deadline) SetTimeout(place, deadline);
  }
  return slow;
}

Duration Turn::AddedLatency(const Call& call, Draw draw) {
  const Direction way = draw == Draw::kRequestLatency ? Direction::kTo : Direction::kFrom;
  DrawnFaultChance chance(*chance_, draw, DrawnForCall(call));
  return sim::AddedLatency(scenario_, state_.faults, call.name.process.node, way, chance);
}

// Sends a reply from Spanner to the process that waits for it.
void Turn::SendReply(uint32_t place, Response&& response, Duration service) {
  Call& call = *state_.calls[place].call;
  const int16_t node = call.name.process.node;
  if (!call.awaited) {
    Observe(LateReplyIgnored{.call = call.name});
    call.at_spanner = false;
    return FreeIfDone(place);
  }
  const bool lost = call.drop_reply || HasFaultFor(node, LosesReply);
  if (lost) {
    call.at_spanner = false;
    return MarkHanging(place);
  }
  call.response = std::move(response);
  Schedule(state_.now + WayOf(place, Draw::kReplyLatency, service), ChoiceKind::kDeliver, node,
           ReplyArrives{.call = place, .from_spanner = true});
}

// --- calls -------------------------------------------------------------------------------------

uint32_t Turn::AddCall(Call&& call) {
  call.at_spanner = true;
  if (state_.free_calls.empty()) {
    state_.calls.push_back({.call = std::move(call)});
    return static_cast<uint32_t>(state_.calls.size() - 1);
  }
  const uint32_t place = state_.free_calls.back();
  state_.free_calls.pop_back();
  state_.calls[place].call = std::move(call);
  return place;
}

// Marks a call as no longer awaited; a message that the network holds back never arrives.
void Turn::Abandon(uint32_t place) {
  Call& call = *state_.calls[place].call;
  call.awaited = false;
  if (call.timeout) Cancel(*call.timeout);
  call.timeout.reset();
  if (call.held) {
    Cancel(*call.held);
    call.held.reset();
    call.at_spanner = false;
  }
  FreeIfDone(place);
}

void Turn::FreeIfDone(uint32_t place) {
  const Call& call = *state_.calls[place].call;
  if (call.awaited || call.at_spanner || call.timeout) return;
  state_.calls[place].call.reset();
  state_.free_calls.push_back(place);
}

std::optional<uint32_t> Turn::FindCall(const CallName& name) const {
  for (uint32_t place = 0; place < state_.calls.size(); ++place) {
    if (state_.calls[place].call && state_.calls[place].call->name == name) return place;
  }
  return std::nullopt;
}

// The place of a call's pending request that has not arrived at Spanner yet.
std::optional<uint32_t> Turn::FindRequestOnItsWay(uint32_t call) const {
  for (uint32_t at = 0; at < state_.pending.size(); ++at) {
    if (!state_.pending[at].event) continue;
    const auto* arrives = std::get_if<CallArrives>(&*state_.pending[at].event);
    if (arrives != nullptr && arrives->call == call) return at;
  }
  return std::nullopt;
}

std::optional<World::StepEnd> World::WouldEnd(const Choice& choice) const {
  if (!IsPending(choice)) return std::nullopt;
  const auto* reply = std::get_if<ReplyArrives>(&*state_.pending[choice.place].event);
  if (reply == nullptr || !state_.calls[reply->call].call->awaited) return std::nullopt;
  const Call& call = *state_.calls[reply->call].call;
  const Node& node = state_.nodes[static_cast<size_t>(call.name.process.node)];
  if (node.pauses > 0 || node.life == Life::kDown) return std::nullopt;
  if (reply->from_spanner && state_.faults.At(call.name.process.node).links.from != LinkState::kUp)
    return std::nullopt;
  for (const Participant& participant : node.participants) {
    if (participant.lock != call.name.lock) continue;
    for (const ActiveRunner& runner : participant.runners) {
      if (runner.request != call.name.request) continue;
      // A statement with a step of its own ends with its reply.
      if (call.step != runner.state.transaction.step) return StepEnd{call.name, call.step};
      RunnerState copy = runner.state;
      NoEntropy entropy;
      const Duration local = ReadClocks(node.clock, node.started, state_.now).monotonic;
      const RunnerAction action =
          OnReply(setup_->retry_policy, copy, local, entropy, call.response);
      if (std::holds_alternative<Finished>(action)) return StepEnd{call.name, call.step};
    }
  }
  return std::nullopt;
}

}  // namespace whorl::sim
