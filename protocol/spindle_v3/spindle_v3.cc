#include "protocol/spindle_v3/spindle_v3.h"

#include <algorithm>
#include <utility>

#include "protocol/local_answer.h"
#include "protocol/random_id.h"
#include "protocol/spindle_v3/words.h"
#include "protocol/step_context.h"

namespace whorl::spindle_v3 {
namespace {

using Doing = State::Doing;

using Context = StepContext<Config, State>;

// --- effects -----------------------------------------------------------------------------------

void Remark(Context& here, NoteId note, std::vector<Value> values) {
  here.out.emplace_back(Note{.note = note, .values = std::move(values)});
}

void Send(Context& here, Doing doing, RequestId request, Transaction&& transaction) {
  here.state.doing = doing;
  RequestTransaction(here.out, request, std::move(transaction));
}

UnlessHeld TestOf(const Context& here) { return {.me = here.state.id, .lease = here.config.lease}; }

// An UPDATE or DELETE of the row, if it is still the own one as far as this process knows.
Transaction WriteOfOwnRow(const Context& here, StepName step, Sql sql, Duration timeout) {
  Transaction transaction =
      OneStatement(step, Mode::kReadWrite, sql,
                   ValuesOf(here.config.lock_name, *here.state.own_token, here.state.id));
  transaction.give_up_at = here.now.monotonic + timeout;
  return transaction;
}

// --- a round -----------------------------------------------------------------------------------

// REQUIRES: an acquire or heartbeat succeeded before, as a leader's did.
Duration SinceSuccess(const Context& here) { return here.now.monotonic - *here.state.last_success; }

Duration SinceBegin(const Context& here) { return here.now.monotonic - *here.state.round_began; }

void SendLook(Context& here) {
  Send(here, Doing::kLooking, kRoundRequest,
       OneStatement(steps::kLook, Mode::kStrongRead, here.config.look,
                    ValuesOf(here.config.lock_name)));
}

void SendAcquire(Context& here) {
  Transaction transaction = OneStatement(steps::kAcquire, Mode::kReadWrite, here.config.look,
                                         ValuesOf(here.config.lock_name));
  transaction.body = TestOf(here);
  transaction.mutations.push_back(
      {.kind = MutationKind::kInsertOrUpdate,
       .table = here.config.table,
       .columns = {"name", "owner", "token"},
       .rows = {{here.config.lock_name, here.state.id, std::string(kCommitTimestamp)}},
       .keys = {}});
  Send(here, Doing::kAcquiring, kRoundRequest, std::move(transaction));
}

void SendHeartbeat(Context& here) {
  const Duration left = here.config.lease - SinceSuccess(here) - here.state.buffer;
  Transaction transaction =
      WriteOfOwnRow(here, steps::kHeartbeat, here.config.heartbeat,
                    std::max(here.config.constants.heartbeat_timeout_min, left));
  transaction.body = IfRowChanged{};
  Send(here, Doing::kBeating, kRoundRequest, std::move(transaction));
}

void BeginRound(Context& here) {
  ++here.state.iterations;
  here.state.round_began = here.now.monotonic;
  if (here.state.leader) return SendHeartbeat(here);
  SendLook(here);
}

// How a round ended for the next wake-up.
struct Ending {
  bool failed = true;
  std::optional<Duration> holders_age;  // a live lease of another was seen
};

// Before the buffer is taken off, from the end of the round on.
Duration PauseAfter(Context& here, const Ending& ending) {
  const Duration lease = here.config.lease;
  const Constants& constants = here.config.constants;
  const Duration took = SinceBegin(here);
  if (here.state.leader) {
    return ending.failed ? std::max(here.state.buffer, lease / constants.retries_in_lease)
                         : lease / constants.beats_in_lease - took;
  }
  // So that followers do not all come at once.
  const Duration delay = {
      here.entropy.Between(purposes::kWakeDelay, 0, lease.ns / constants.wake_delays_in_lease - 1)};
  return (ending.holders_age ? lease - *ending.holders_age : here.state.buffer) + delay;
}

void EndRound(Context& here, bool was_leader, const Ending& ending) {
  State& state = here.state;
  const Constants& constants = here.config.constants;
  const Duration latency = Smoothed(constants, state.latency, SinceBegin(here));
  // Forgotten where the next one is not smoothed with it: states would differ by it alone, by rounds of any
  // length.
  if (constants.old_latency_weight > 0) state.latency = latency;
  state.buffer = BufferFor(constants, here.config.lease, latency);
  if (std::exchange(state.first_round, false) || state.leader != was_leader) {
    here.out.emplace_back(LeadershipChanged{.leader = state.leader});
  }
  state.doing = Doing::kSleeping;
  const Duration pause = std::max(PauseAfter(here, ending) - state.buffer, state.buffer);
  here.out.emplace_back(SetTimer{.timer = kWake, .at = here.now.monotonic + pause});
}

// The own token is the commit timestamp, and the local lease counts from now: from the reply.
void Succeed(Context& here, const TransactionResult& result) {
  State& state = here.state;
  const bool was_leader = std::exchange(state.leader, true);
  state.own_token = result.commit_timestamp;
  state.last_success = here.now.monotonic;
  if (!was_leader) Remark(here, whorl::notes::kGotLock, {*state.own_token});
  EndRound(here, was_leader, {.failed = false, .holders_age = {}});
}

void OnLooked(Context& here, const TransactionResult& result) {
  if (result.outcome != Outcome::kCommitted) {
    Remark(here, whorl::notes::kReadFailed, {FormatStatus(result.status)});
    return EndRound(here, false, {});
  }
  const Holder holder = HolderIn(result.results.front().rows, TestOf(here));
  switch (holder.kind) {
    case HolderKind::kNone:
      return SendAcquire(here);
    case HolderKind::kAnother:
      return EndRound(here, false, {.failed = true, .holders_age = holder.age});
    case HolderKind::kUnreadable:
      Remark(here, whorl::notes::kBadRow,
             {here.config.lock_name, std::string("owner or token is NULL")});
      return EndRound(here, false, {});
  }
}

void OnAcquireEnded(Context& here, const TransactionResult& result) {
  if (result.outcome == Outcome::kCommitted) return Succeed(here, result);
  Remark(here, whorl::notes::kClaimFailed, {FormatStatus(result.status)});
  Ending ending;
  if (!result.results.empty() && result.results.front().status.ok()) {
    const Holder holder = HolderIn(result.results.front().rows, TestOf(here));
    if (holder.kind == HolderKind::kAnother) ending.holders_age = holder.age;
  }
  EndRound(here, false, ending);
}

void OnHeartbeatEnded(Context& here, const TransactionResult& result) {
  if (result.outcome == Outcome::kCommitted) return Succeed(here, result);
  const bool superseded = !result.results.empty() && result.results.front().status.ok() &&
                          result.results.front().row_count == 0;
  Remark(here, whorl::notes::kHeartbeatFailed,
         {superseded ? std::string("superseded") : FormatStatus(result.status)});
  if (superseded || SinceSuccess(here) + here.state.buffer >= here.config.lease) {
    here.state.leader = false;
    Remark(here, whorl::notes::kLostLock,
           {std::string(superseded ? "superseded" : "no heartbeat for a lease")});
  }
  EndRound(here, true, {});
}

// --- events ------------------------------------------------------------------------------------

void OnStarted(Context& here) {
  State& state = here.state;
  if (state.doing != Doing::kNothing || state.stopped) return;
  state.id = here.config.id;
  if (state.id.empty()) state.id = DrawUuid(here.entropy, whorl::purposes::kInstanceId);
  if (here.config.lease > here.config.lease_asked) {
    Remark(here, whorl::notes::kLeaseRaised,
           {here.config.lease_asked.ns / 1'000'000, here.config.lease.ns / 1'000'000});
  }
  state.buffer = BufferFor(here.config.constants, here.config.lease, Duration{});
  BeginRound(here);
}

// The leader's context is a child of the one that ended, so it is over at once. What its work does
// is not waited for, and what is under way is not heard of any more.
void OnStop(Context& here) {
  State& state = here.state;
  if (std::exchange(state.stopped, true)) return;
  const Doing was_doing = std::exchange(state.doing, Doing::kNothing);
  if (was_doing == Doing::kSleeping) {
    here.out.emplace_back(CancelTimer{.timer = kWake});
  } else if (was_doing != Doing::kNothing) {
    here.out.emplace_back(CancelTransaction{.request = kRoundRequest});
  }
  if (!state.leader) return;
  Send(here, Doing::kReleasing, kReleaseRequest,
       WriteOfOwnRow(here, steps::kRelease, here.config.release,
                     here.config.constants.release_timeout));
}

// However it ended: a row that was not deleted runs out.
void OnReleased(Context& here) {
  here.state.doing = Doing::kNothing;
  here.state.leader = false;
  here.out.emplace_back(LeadershipChanged{.leader = false});
}

bool Leads(const State& state) { return state.leader && !state.stopped; }

void OnAsked(Context& here, const Asked& asked) {
  const bool leads = Leads(here.state);
  here.out.emplace_back(AnswerLocally(asked, {.protocol = "spindle_v3",
                                              .id = here.state.id,
                                              .leads = leads,
                                              .token = here.state.own_token.value_or(Timestamp{}),
                                              .lease = here.config.lease,
                                              .iterations = here.state.iterations}));
}

void OnEnded(Context& here, const TransactionEnded& ended) {
  if (ended.request == kReleaseRequest) return OnReleased(here);
  switch (here.state.doing) {
    case Doing::kLooking:
      return OnLooked(here, ended.result);
    case Doing::kAcquiring:
      return OnAcquireEnded(here, ended.result);
    case Doing::kBeating:
      return OnHeartbeatEnded(here, ended.result);
    case Doing::kNothing:
    case Doing::kSleeping:
    case Doing::kReleasing:
      return;  // stopped meanwhile
  }
}

}  // namespace

Config MakeConfig(const std::string& table, std::string lock_name, std::string id, Duration lease) {
  const Parameter name{.name = "name", .type = Type::kString};
  const Parameter token{.name = "token", .type = Type::kTimestamp};
  const Parameter owner{.name = "owner", .type = Type::kString};
  const std::string own_row = " WHERE name = @name AND token = @token AND owner = @owner";
  Config config;
  config.lock_name = std::move(lock_name);
  config.id = std::move(id);
  config.lease_asked = lease;
  config.lease = std::max(Seconds(lease.ns / 1'000'000'000), kLeaseMin);
  config.table = table;
  config.look = Sql::Intern(
      "SELECT owner, token, CURRENT_TIMESTAMP() AS now FROM " + table + " WHERE name = @name",
      {name});
  config.heartbeat =
      Sql::Intern("UPDATE " + table + " SET token = PENDING_COMMIT_TIMESTAMP()" + own_row,
                  {name, token, owner});
  config.release = Sql::Intern("DELETE FROM " + table + own_row, {name, token, owner});
  return config;
}

Duration BufferFor(const Constants& constants, Duration lease, Duration smoothed_latency) {
  const Duration least = std::max(constants.buffer_min, lease / constants.least_buffers_in_lease);
  const Duration wanted = std::max(smoothed_latency * constants.latencies_in_buffer, least);
  return std::min(wanted, lease / constants.greatest_buffers_in_lease);
}

Duration Smoothed(const Constants& constants, Duration old, Duration latest) {
  if (old == Duration{}) return latest;
  return (old * constants.old_latency_weight + latest * constants.new_latency_weight) /
         (constants.old_latency_weight + constants.new_latency_weight);
}

void Step(const Config& config, State& state, LocalTime now, Entropy& entropy, const Event& event,
          std::vector<Effect>& out) {
  Context here{config, state, now, entropy, out};
  if (std::holds_alternative<Started>(event)) return OnStarted(here);
  if (std::holds_alternative<StopRequested>(event)) return OnStop(here);
  if (const auto* asked = std::get_if<Asked>(&event)) return OnAsked(here, *asked);
  if (const auto* ended = std::get_if<TransactionEnded>(&event)) return OnEnded(here, *ended);
  if (std::holds_alternative<TimerFired>(event) && state.doing == Doing::kSleeping) {
    BeginRound(here);
  }
}

LeadershipView LeadershipViewOf(const State& state) {
  const bool leads = Leads(state);
  return {.answers = leads, .own_token = state.own_token, .believes = leads, .believes_until = {}};
}

}  // namespace whorl::spindle_v3
