#include <algorithm>
#include <utility>
#include <vector>

#include "sim/world/calls.h"
#include "sim/world/parts.h"
#include "sim/world/spanner_clocks.h"

namespace whorl::sim {
namespace {

AskerId AskerOf(uint16_t lock, RequestId request) { return AskerId{lock} << 16 | request; }

void SetSessionsTimer(WorldContext& work, int16_t node_index) {
  Node& node = work.NodeAt(node_index);
  Participant& first = node.participants.front();
  const auto next = NextPoolTime(work.setup.session_policy, node.sessions->pool);
  if (!next) return CancelTimerOf(work, first, TimerOwner::kSessions, 0);
  const bool is_set =
      std::any_of(first.timers.begin(), first.timers.end(), [&](const ActiveTimer& timer) {
        return timer.owner == TimerOwner::kSessions && timer.at == *next;
      });
  // Not rescheduled for each transaction, because drivers keep cancelled events until they are due.
  if (!is_set) SetTimerAt(work, node_index, first, TimerOwner::kSessions, 0, *next);
}

void SendCreateSession(WorldContext& work, int16_t node_index, const CreateSessions& create) {
  Node& node = work.NodeAt(node_index);
  const uint32_t place = AddCall(work);
  Call& call = work.CallAt(place);
  call.name = {.process = work.ProcessOf(node_index),
               .lock = node.sessions->lock,
               .request = node.sessions->request,
               .generation = node.generation,
               .attempt = ++node.sessions->asked,
               .call = kSessionCall};
  call.step = node.sessions->step;
  call.request = CreateSession{.multiplexed = create.multiplexed};
  call.deadline = work.MonotonicOf(node_index) + work.setup.retry_policy.statement_timeout;
  SendToSpanner(work, place);
}

void DoPoolEffects(WorldContext& work, int16_t node, const std::vector<PoolEffect>& effects) {
  const auto find_asker = [&](AskerId asker) -> Participant& {
    return *FindParticipant(work, work.ProcessOf(node), static_cast<uint16_t>(asker >> 16));
  };
  const auto request_of = [](AskerId asker) { return static_cast<RequestId>(asker & 0xFFFF); };
  for (const PoolEffect& effect : effects) {
    if (const auto* create = std::get_if<CreateSessions>(&effect)) {
      SendCreateSession(work, node, *create);
    } else if (const auto* granted = std::get_if<SessionGranted>(&effect)) {
      const AskerId asker = granted->asker;
      OnSessionGranted(work, node, find_asker(asker), request_of(asker), granted->session);
    } else if (const auto* refused = std::get_if<SessionRefused>(&effect)) {
      const AskerId asker = refused->asker;
      OnSessionRefused(work, node, find_asker(asker), request_of(asker), refused->status);
    }
  }
  SetSessionsTimer(work, node);
}

}  // namespace

void MakeSessions(WorldContext& work, int16_t node_index) {
  Node& node = work.NodeAt(node_index);
  const CallName name = {.process = work.ProcessOf(node_index),
                         .lock = node.participants.front().lock,
                         .call = kSessionCall};
  std::vector<model::DatabaseEffect> effects;
  const Leaders leaders(work);
  model::Serve(*work.setup.catalogue, work.state.database, name, CreateSession{.multiplexed = true},
               leaders, effects);
  const auto& made = std::get<model::Replied>(effects.front()).response.sessions.front();
  node.sessions.emplace();
  std::vector<PoolEffect> asked;
  OpenPool(work.setup.session_policy, node.sessions->pool, LocalInstant{}, asked);
  OnSessionsCreated(work.setup.session_policy, node.sessions->pool, LocalInstant{}, /*asked=*/1,
                    {&made.name, 1}, asked);
}

void RequestSession(WorldContext& work, int16_t node_index, Participant& participant,
                    const ActiveRunner& runner) {
  Node& node = work.NodeAt(node_index);
  if (!node.sessions) {
    // A process without a pool gets a new session at once.
    return OnSessionGranted(work, node_index, participant, runner.request, Session{});
  }
  node.sessions->lock = participant.lock;
  node.sessions->request = runner.request;
  node.sessions->step = runner.state.transaction.step;
  const LocalInstant now = work.MonotonicOf(node_index);
  std::vector<PoolEffect> effects;
  if (runner.state.session_lost) {
    ReturnSession(work.setup.session_policy, node.sessions->pool, now, runner.state.session.name,
                  /*lost=*/true, effects);
  }
  AskForSession(work.setup.session_policy, node.sessions->pool, now,
                AskerOf(participant.lock, runner.request), runner.state.transaction.give_up_at,
                effects);
  DoPoolEffects(work, node_index, effects);
}

void StopRequestingSession(WorldContext& work, int16_t node, const Participant& participant,
                           RequestId request) {
  StopAsking(work.NodeAt(node).sessions->pool, AskerOf(participant.lock, request));
  SetSessionsTimer(work, node);
}

void OnSessionLost(WorldContext& work, int16_t node, const SessionName& name) {
  std::vector<PoolEffect> effects;
  ReturnSession(work.setup.session_policy, work.NodeAt(node).sessions->pool, work.MonotonicOf(node),
                name, /*lost=*/true, effects);
  DoPoolEffects(work, node, effects);
}

void OnSessionReply(WorldContext& work, int16_t node_index, const Response& response) {
  Node& node = work.NodeAt(node_index);
  const LocalInstant now = work.MonotonicOf(node_index);
  std::vector<PoolEffect> effects;
  if (response.status.ok()) {
    work.Observe(SessionCreated{.process = work.ProcessOf(node_index)});
    OnSessionsCreated(work.setup.session_policy, node.sessions->pool, now, /*asked=*/1,
                      {&response.sessions.front().name, 1}, effects);
  } else {
    ProcessEntropy entropy(*work.chance, work.ProcessOf(node_index),
                           node.participants.front().lock);
    OnCreationFailed(work.setup.session_policy, node.sessions->pool, now, entropy, /*asked=*/1,
                     response.status, effects);
  }
  DoPoolEffects(work, node_index, effects);
}

void OnSessionsTimer(WorldContext& work, int16_t node) {
  std::vector<PoolEffect> effects;
  OnPoolTime(work.setup.session_policy, work.NodeAt(node).sessions->pool, work.MonotonicOf(node),
             effects);
  DoPoolEffects(work, node, effects);
}

const SessionName* SessionOfNode(WorldContext& work, int16_t node_index) {
  const Node& node = work.NodeAt(node_index);
  if (!node.sessions || node.sessions->pool.sessions.empty()) return nullptr;
  const SessionName& name = node.sessions->pool.sessions.front().name;
  for (const SessionInfo& session : work.state.database.sessions) {
    if (session.name == name) return &session.name;
  }
  return nullptr;
}

void LoseSession(WorldContext& work, int16_t node) {
  const SessionName name = *SessionOfNode(work, node);
  work.Observe(SessionLost{.process = work.ProcessOf(node)});
  ServeAtOnce(work, {.process = {}, .call = kSessionCall}, DeleteSession{.session = name});
}

}  // namespace whorl::sim
