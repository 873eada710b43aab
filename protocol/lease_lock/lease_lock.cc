#include "protocol/lease_lock/lease_lock.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "protocol/lease_lock/words.h"
#include "protocol/local_answer.h"
#include "protocol/random_id.h"
#include "protocol/step_context.h"

namespace whorl::lease_lock {
namespace {

using Context = StepContext<Config, State>;

// --- effects -----------------------------------------------------------------------------------

void Set(Context& here, TimerOfLocker timer, LocalInstant at) {
  here.out.emplace_back(SetTimer{.timer = timer, .at = std::max(at, here.now.monotonic)});
}

void Remark(Context& here, NoteId note, std::vector<Value> values) {
  here.out.emplace_back(Note{.note = note, .values = std::move(values)});
}

void CallBack(Context& here, bool leader) {
  here.out.emplace_back(LeadershipChanged{.leader = leader});
}

// Runs the transaction that a call of Locker has come to.
void Fly(Context& here, RequestId request, Call call, Next&& next) {
  here.state.flights.push_back({.request = request, .call = std::move(call)});
  RequestTransaction(here.out, request, std::get<Transaction>(std::move(next)));
}

bool IsFlying(const State& state, RequestId request) {
  return std::ranges::find(state.flights, request, &Flight::request) != state.flights.end();
}

void Cancel(Context& here, RequestId request) {
  if (!IsFlying(here.state, request)) return;
  here.out.emplace_back(CancelTransaction{.request = request});
}

// --- polls -------------------------------------------------------------------------------------

void Poll(Context& here) {
  State& state = here.state;
  ++state.polls;
  state.polled_at = here.now.monotonic;
  const AcquireLockInput input = {
      .key = here.config.lock_name,
      .owner = state.id,
      .term = {.lease_end = std::nullopt, .lease_duration = here.config.lease}};
  Call call;
  Next next = AcquireLock(here.config.locker, input, here.now.wall, call);
  Fly(here, kPollRequest, std::move(call), std::move(next));
}

void PollLater(Context& here) {
  Set(here, kPoll,
      *here.state.polled_at + here.config.lease / here.config.constants.polls_in_lease);
}

void AskWhoHasIt(Context& here, RequestId request) {
  Call call;
  Next next = GetCurrentLock(here.config.locker, here.config.lock_name, call);
  Fly(here, request, std::move(call), std::move(next));
}

// Keeps the lock that was acquired, from now on by background heartbeats.
void Hold(Context& here, const Lock& lock) {
  State& state = here.state;
  state.starved = false;
  state.lock = lock;
  const Duration lease = here.config.lease;
  StartBackgroundHeartbeats(lock, lease / here.config.constants.beats_in_lease, lease,
                            here.now.monotonic, state.beats.emplace());
  Remark(here, whorl::notes::kGotLock, {lock.leased_until});
  CallBack(here, true);
  Set(here, kBeat, state.beats->tick_at);
}

void Release(Context& here) {
  Call call;
  Next next = ReleaseLock(here.config.locker, *here.state.lock, here.now.wall, call);
  here.state.lock.reset();
  Fly(here, kReleaseRequest, std::move(call), std::move(next));
}

void OnPolled(Context& here, const Reply& reply) {
  State& state = here.state;
  if (state.stopping) {
    // The lock came just before the stop, so no work was begun.
    state.lock = reply.lock;
    if (state.lock) Release(here);
    return;
  }
  if (reply.lock) return Hold(here, *reply.lock);
  const bool is_taken = reply.error->kind == ErrorKind::kUnavailable;
  if (!is_taken) Remark(here, whorl::notes::kClaimFailed, {reply.error->text});
  const bool is_new = is_taken && !std::exchange(state.starved, true);
  if (is_new && !IsFlying(state, kStarvationRequest)) AskWhoHasIt(here, kStarvationRequest);
  PollLater(here);
}

// --- heartbeats --------------------------------------------------------------------------------

void Beat(Context& here) {
  Call call;
  Next next = OnTick(here.config.locker, *here.state.beats, here.now, call);
  Fly(here, kBeatRequest, std::move(call), std::move(next));
}

void OnBeaten(Context& here, const Reply& reply) {
  State& state = here.state;
  if (!state.beats) return;  // it was asked to stop meanwhile
  OnBeatEnded(*state.beats, reply);
  if (!reply.error) {
    state.lock = state.beats->lock;
    return Set(here, kBeat, state.beats->tick_at);
  }
  state.beats.reset();
  Remark(here, whorl::notes::kHeartbeatFailed, {reply.error->text});
  if (reply.error->kind == ErrorKind::kUnavailable) state.lock.reset();
  Remark(here, whorl::notes::kLostLock, {std::string("a heartbeat failed")});
  CallBack(here, false);
  Poll(here);
}

// --- questions ---------------------------------------------------------------------------------

// The lock in hand, while its lease lasts.
bool HasLock(const State& state, Timestamp wall) {
  return state.beats && !state.stopping && wall < state.lock->leased_until;
}

void OnAsked(Context& here, const Asked& asked) {
  State& state = here.state;
  if (asked.question == Question::kLeader) {
    state.asks.push_back(asked.ask);
    return AskWhoHasIt(here, static_cast<RequestId>(kFirstAskRequest + asked.ask));
  }
  here.out.emplace_back(AnswerLocally(asked, {.protocol = "lease_lock",
                                              .id = state.id,
                                              .leads = HasLock(state, here.now.wall),
                                              .token = std::nullopt,
                                              .lease = here.config.lease,
                                              .iterations = state.polls}));
}

void OnFound(Context& here, AskId ask, const Reply& reply) {
  if (std::erase(here.state.asks, ask) == 0) return;
  Answer answer{.ask = ask, .question = Question::kLeader};
  answer.yes = reply.lock.has_value();
  if (reply.lock) answer.text = reply.lock->owner;
  if (reply.error) answer.text = reply.error->text;
  here.out.emplace_back(std::move(answer));
}

// --- events ------------------------------------------------------------------------------------

void OnStarted(Context& here) {
  State& state = here.state;
  if (!state.id.empty() || state.stopping) return;
  state.id = here.config.id;
  if (state.id.empty()) state.id = DrawUuid(here.entropy, whorl::purposes::kInstanceId);
  Poll(here);
}

// The context of all that is under way is cancelled. The lock is given back when the work has
// stopped.
void OnStop(Context& here) {
  State& state = here.state;
  if (std::exchange(state.stopping, true)) return;
  here.out.emplace_back(CancelTimer{.timer = kPoll});
  here.out.emplace_back(CancelTimer{.timer = kBeat});
  Cancel(here, kPollRequest);
  Cancel(here, kBeatRequest);
  if (!state.beats) return;
  state.beats.reset();
  CallBack(here, false);
}

void OnWorkStopped(Context& here) {
  if (here.state.stopping && here.state.lock) Release(here);
}

void OnReply(Context& here, RequestId request, const Reply& reply) {
  switch (request) {
    case kPollRequest:
      return OnPolled(here, reply);
    case kBeatRequest:
      return OnBeaten(here, reply);
    case kReleaseRequest:
      if (reply.error) Remark(here, whorl::notes::kReleaseFailed, {reply.error->text});
      return;
    case kStarvationRequest:
      if (reply.lock) Remark(here, notes::kHeldBy, {reply.lock->owner, reply.lock->leased_until});
      return;
    default:
      return OnFound(here, static_cast<AskId>(request - kFirstAskRequest), reply);
  }
}

void OnEnded(Context& here, const TransactionEnded& ended) {
  std::vector<Flight>& flights = here.state.flights;
  const auto found = std::ranges::find(flights, ended.request, &Flight::request);
  if (found == flights.end()) return;
  Call call = std::move(found->call);
  flights.erase(found);
  Next next = OnEnded(here.config.locker, call, ended.result, here.now.wall);
  if (const auto* reply = std::get_if<Reply>(&next)) return OnReply(here, ended.request, *reply);
  Fly(here, ended.request, std::move(call), std::move(next));
}

void OnTimer(Context& here, TimerId timer) {
  if (here.state.stopping) return;
  if (timer == kPoll) return Poll(here);
  if (here.state.beats) Beat(here);
}

}  // namespace

Config MakeConfig(const std::string& table, std::string lock_name, std::string id, Duration lease) {
  return {.lock_name = std::move(lock_name),
          .id = std::move(id),
          .lease = lease,
          .locker = NewLocker(table),
          .constants = {}};
}

void Step(const Config& config, State& state, LocalTime now, Entropy& entropy, const Event& event,
          std::vector<Effect>& out) {
  Context here{config, state, now, entropy, out};
  if (std::holds_alternative<Started>(event)) return OnStarted(here);
  if (std::holds_alternative<StopRequested>(event)) return OnStop(here);
  if (std::holds_alternative<WorkStopped>(event)) return OnWorkStopped(here);
  if (const auto* asked = std::get_if<Asked>(&event)) return OnAsked(here, *asked);
  if (const auto* fired = std::get_if<TimerFired>(&event)) return OnTimer(here, fired->timer);
  if (const auto* ended = std::get_if<TransactionEnded>(&event)) return OnEnded(here, *ended);
}

LeadershipView LeadershipViewOf(const State& state, LocalTime now) {
  LeadershipView standing;
  standing.believes = HasLock(state, now.wall);
  standing.answers = standing.believes;
  if (standing.believes) {
    standing.believes_until = now.monotonic + (state.lock->leased_until - now.wall);
  }
  return standing;
}

}  // namespace whorl::lease_lock
