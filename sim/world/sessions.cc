// The sessions of a process that may lose a session to a fault: the pool of the real client, whose
// calls go through the simulated network.
#include <algorithm>
#include <utility>

#include "sim/world/turn.h"

namespace whorl::sim {
namespace {

AskerId AskerOf(uint16_t lock, RequestId request) { return AskerId{lock} << 16 | request; }

}  // namespace

// The process's first session exists when it starts, as the permanent session of other processes
// does, so a scenario runs the same way until the fault strikes.
void Turn::MakeSessions(int16_t node_index) {
  Node& node = NodeAt(node_index);
  const CallName name = {.process = ProcessOf(node_index),
                         .lock = node.participants.front().lock,
                         .call = kSessionCall};
  std::vector<model::DatabaseEffect> effects;
  const model::Moment leader = MomentNow();
  model::Serve(*setup_.catalogue, state_.database, name, CreateSession{.multiplexed = true},
               {&leader, 1}, effects);
  const auto& made = std::get<model::Replied>(effects.front()).response.sessions.front();
  node.sessions.emplace();
  std::vector<PoolEffect> asked;
  OpenPool(setup_.session_policy, node.sessions->pool, Duration{}, asked);
  OnSessionsCreated(setup_.session_policy, node.sessions->pool, Duration{}, /*asked=*/1,
                    {&made.name, 1}, asked);
}

void Turn::NeedSessionFor(int16_t node_index, Participant& participant, RequestId request) {
  Node& node = NodeAt(node_index);
  const auto runner = std::find_if(participant.runners.begin(), participant.runners.end(),
                                   [&](const ActiveRunner& one) { return one.request == request; });
  if (!node.sessions) {
    // A process without a pool gets a new session at once.
    return DoRunnerAction(
        node_index, participant, request,
        OnSession(setup_.retry_policy, runner->state, ClocksOf(node_index).monotonic, Session{}));
  }
  node.sessions->lock = participant.lock;
  node.sessions->request = request;
  node.sessions->step = runner->state.transaction.step;
  const Duration now = ClocksOf(node_index).monotonic;
  std::vector<PoolEffect> effects;
  if (runner->state.session_lost) {
    ReturnSession(setup_.session_policy, node.sessions->pool, now, runner->state.session.name,
                  /*lost=*/true, effects);
  }
  AskForSession(setup_.session_policy, node.sessions->pool, now, AskerOf(participant.lock, request),
                effects);
  DoPoolEffects(node_index, std::move(effects));
}

// A transaction has ended because its session was lost.
void Turn::OnSessionLost(int16_t node, const SessionName& name) {
  std::vector<PoolEffect> effects;
  ReturnSession(setup_.session_policy, NodeAt(node).sessions->pool, ClocksOf(node).monotonic, name,
                /*lost=*/true, effects);
  DoPoolEffects(node, std::move(effects));
}

void Turn::DoPoolEffects(int16_t node_index, std::vector<PoolEffect> effects) {
  for (PoolEffect& effect : effects) {
    if (const auto* create = std::get_if<CreateSessions>(&effect)) {
      CreateSessionOf(node_index, *create);
      continue;
    }
    const auto* granted = std::get_if<SessionGranted>(&effect);
    const auto* refused = std::get_if<SessionRefused>(&effect);
    if (granted == nullptr && refused == nullptr) continue;
    const AskerId asker = granted != nullptr ? granted->asker : refused->asker;
    Participant* participant =
        FindParticipant(ProcessOf(node_index), static_cast<uint16_t>(asker >> 16));
    const auto request = static_cast<RequestId>(asker & 0xFFFF);
    const auto runner =
        std::find_if(participant->runners.begin(), participant->runners.end(),
                     [&](const ActiveRunner& one) { return one.request == request; });
    DoRunnerAction(node_index, *participant, request,
                   granted != nullptr ? OnSession(setup_.retry_policy, runner->state,
                                                  ClocksOf(node_index).monotonic, granted->session)
                                      : OnNoSession(runner->state, refused->status));
  }
  SetSessionsTimer(node_index);
}

void Turn::SetSessionsTimer(int16_t node_index) {
  Participant& first = NodeAt(node_index).participants.front();
  const auto next = NextPoolTime(setup_.session_policy, NodeAt(node_index).sessions->pool);
  if (!next) return CancelTimerOf(first, TimerOwner::kSessions, 0);
  const bool is_set =
      std::any_of(first.timers.begin(), first.timers.end(), [&](const ActiveTimer& timer) {
        return timer.owner == TimerOwner::kSessions && timer.at == *next;
      });
  // Not rescheduled for each transaction, because drivers keep cancelled events until they are due.
  if (!is_set) SetTimerAt(node_index, first, TimerOwner::kSessions, 0, *next);
}

void Turn::CreateSessionOf(int16_t node_index, const CreateSessions& create) {
  Node& node = NodeAt(node_index);
  Call call;
  call.name = {.process = ProcessOf(node_index),
               .lock = node.sessions->lock,
               .request = node.sessions->request,
               .generation = node.generation,
               .attempt = ++node.sessions->asked,
               .call = kSessionCall};
  call.step = node.sessions->step;
  call.request = CreateSession{.multiplexed = create.multiplexed};
  call.sent_at = state_.now;
  call.deadline = ClocksOf(node_index).monotonic + setup_.retry_policy.statement_timeout;
  SendCallOf(node_index, std::move(call));
}

void Turn::OnSessionReply(int16_t node_index, const Response& response) {
  Node& node = NodeAt(node_index);
  const Duration now = ClocksOf(node_index).monotonic;
  std::vector<PoolEffect> effects;
  if (response.status.ok()) {
    Observe(SessionCreated{.process = ProcessOf(node_index)});
    OnSessionsCreated(setup_.session_policy, node.sessions->pool, now, /*asked=*/1,
                      {&response.sessions.front().name, 1}, effects);
  } else {
    ProcessEntropy entropy(*chance_, ProcessOf(node_index), node.participants.front().lock);
    OnCreationFailed(setup_.session_policy, node.sessions->pool, now, entropy, /*asked=*/1,
                     response.status, effects);
  }
  DoPoolEffects(node_index, std::move(effects));
}

void Turn::OnSessionsTimer(int16_t node) {
  std::vector<PoolEffect> effects;
  OnPoolTime(setup_.session_policy, NodeAt(node).sessions->pool, ClocksOf(node).monotonic, effects);
  DoPoolEffects(node, std::move(effects));
}

// The session that the node's process uses and Spanner knows; null if there is none at present.
const SessionName* Turn::SessionOfNode(int16_t node) {
  if (!NodeAt(node).sessions || NodeAt(node).sessions->pool.sessions.empty()) return nullptr;
  const SessionName& name = NodeAt(node).sessions->pool.sessions.front().name;
  for (const SessionInfo& session : state_.database.sessions) {
    if (session.name == name) return &session.name;
  }
  return nullptr;
}

void Turn::LoseSession(int16_t node) {
  const SessionName name = *SessionOfNode(node);
  Observe(SessionLost{.process = ProcessOf(node)});
  out_.database_effects.clear();
  const model::Moment leader = MomentNow();
  model::Serve(*setup_.catalogue, state_.database, {.process = {}, .call = kSessionCall},
               DeleteSession{.session = name}, {&leader, 1}, out_.database_effects);
  DoDatabaseEffects(/*waited_for_truetime=*/false);
}

}  // namespace whorl::sim
