#include "protocol/spindle_v2/spindle_v2.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <utility>

#include "protocol/random_id.h"
#include "protocol/spindle_v2/words.h"
#include "protocol/step_context.h"

namespace whorl::spindle_v2 {
namespace {

using Round = RunState::Round;
using Heartbeats = RunState::Heartbeats;

constexpr Duration kLeaseMin = Seconds(1);

// The numbers of one slot's timers and requests.
constexpr uint16_t kIdsPerRun = 4;
enum TimerOfRun : uint16_t { kTick = 0, kHeartbeatWake = 1 };
enum RequestOfRun : uint16_t { kRoundRequest = 0, kHeartbeatRequest = 1 };

constexpr uint16_t IdOf(size_t slot, uint16_t which) {
  return static_cast<uint16_t>(slot * kIdsPerRun + which);
}

TokenHash HashOfText(const std::string& text) { return XXH64(text.data(), text.size(), 0); }

TokenHash HashBy(const Constants& constants, Timestamp token) {
  return constants.hashes_tokens ? HashOf(token) : NanosecondsOf(token);
}

// Go's NullTime prints the least timestamp if the column is NULL.
TokenHash HashOfColumn(const Constants& constants, const Value& token) {
  const auto* time = std::get_if<Timestamp>(&token);
  return HashBy(constants, time == nullptr ? Timestamp::Min() : *time);
}

// Zero is "no token": the original's token() returns it when nothing was won.
TokenHash OwnHash(const Constants& constants, const State& state) {
  return state.own_token ? HashBy(constants, *state.own_token) : 0;
}

// A step of one of the process's Runs.
struct Context : StepContext<Config, State> {
  RunState& run;
  size_t slot;
};

Transaction ReadOf(StepName step, Sql sql, const std::string& name) {
  return OneStatement(step, Mode::kStrongRead, sql, ValuesOf(name));
}

Transaction WriteOf(StepName step, Sql sql, std::vector<Value> parameters) {
  return OneStatement(step, Mode::kReadWrite, sql, std::move(parameters));
}

void Send(Context& here, Round round, Transaction&& transaction) {
  here.run.round = round;
  RequestTransaction(here.out, IdOf(here.slot, kRoundRequest), std::move(transaction));
}

Transaction HeartbeatOf(const Config& config) {
  Transaction transaction =
      WriteOf(steps::kHeartbeatUpdate, config.update_heartbeat, ValuesOf(config.lock_name));
  transaction.statements.push_back({.step = steps::kHeartbeatDelete,
                                    .statement = {.sql = config.delete_takeover_rows,
                                                  .parameters = {config.lock_name + "_"},
                                                  .ignore_error = true}});
  return transaction;
}

void Remark(std::vector<Effect>& out, NoteId note, std::vector<Value> values) {
  out.emplace_back(Note{.note = note, .values = std::move(values)});
}

void RemarkFailure(std::vector<Effect>& out, NoteId note, const Status& status) {
  Remark(out, note, {FormatStatus(status)});
}

// A Run whose loops and round have all ended leaves its slot.
void FreeIfOver(State& state, size_t slot) {
  const RunState& run = *state.runs[slot];
  if (!run.looping && run.round == Round::kIdle && run.heartbeats == Heartbeats::kEnded) {
    state.runs[slot].reset();
  }
}

// --- the round ---------------------------------------------------------------------------------

void BeginRound(Context& here) {
  Send(here, Round::kCheck, ReadOf(steps::kCheck, here.config.check, here.config.lock_name));
}

void EndRound(Context& here) {
  here.run.round = Round::kIdle;
  here.run.takeover_token = {};
  here.state.active = true;  // also when the loop has been stopped meanwhile
  ++here.state.iterations;
}

void CallBack(Context& here, bool leader) {
  here.state.told_leader = leader;
  here.out.emplace_back(LeadershipChanged{.leader = leader});
}

void TryNextLock(Context& here) {
  Send(here, Round::kReread, ReadOf(steps::kReread, here.config.read_token, here.config.lock_name));
}

void OnAvailable(Context& here) {
  if (!here.run.initial) return TryNextLock(here);
  Send(here, Round::kFirstInsert,
       WriteOf(steps::kFirstInsert, here.config.insert_lock,
               {here.config.lock_name, here.state.id}));
}

void OnMine(Context& here) {
  if (++here.run.leader == 1) return Send(here, Round::kFirstHeartbeat, HeartbeatOf(here.config));
  CallBack(here, true);
  EndRound(here);
}

void OnChecked(Context& here, const TransactionResult& result) {
  if (result.outcome != Outcome::kCommitted) {
    RemarkFailure(here.out, whorl::notes::kReadFailed, result.status);
    return EndRound(here);
  }
  TokenHash token = kHashOfNoRow;
  int64_t age_ms = 0;
  for (const Row& row : result.results.front().rows) {
    const auto* diff = std::get_if<int64_t>(&row[0]);
    age_ms = diff == nullptr ? 0 : *diff;
    token = HashOfColumn(here.config.constants, row[1]);
  }
  if (OwnHash(here.config.constants, here.state) == token) return OnMine(here);
  // An age of zero or less, a heartbeat in this very millisecond or ahead of this clock, counts
  // as available: finding S5.
  const int64_t drift_ms = here.config.constants.drift_allowed_ms;
  if (age_ms > 0 && age_ms - here.config.lease.ns / 1'000'000 <= drift_ms) {
    CallBack(here, false);
    here.run.leader = 0;
    return EndRound(here);
  }
  OnAvailable(here);
}

void OnFirstHeartbeat(Context& here, const TransactionResult& result) {
  if (result.outcome != Outcome::kCommitted) {
    RemarkFailure(here.out, whorl::notes::kHeartbeatFailed, result.status);
  }
  CallBack(here, true);
  EndRound(here);
}

void OnFirstInsert(Context& here, const TransactionResult& result) {
  if (result.outcome == Outcome::kCommitted) {
    here.state.own_token = result.commit_timestamp;
    Remark(here.out, notes::kGotFirstLock, {result.commit_timestamp});
    return EndRound(here);
  }
  here.run.initial = false;  // any error, an unknown outcome too
  TryNextLock(here);
}

void OnReread(Context& here, const TransactionResult& result) {
  if (result.outcome != Outcome::kCommitted) {
    RemarkFailure(here.out, whorl::notes::kReadFailed, result.status);
    return EndRound(here);
  }
  TokenHash token = kHashOfNoRow;
  for (const Row& row : result.results.front().rows) {
    token = HashOfColumn(here.config.constants, row[0]);
  }
  Send(here, Round::kTakeoverInsert,
       WriteOf(steps::kTakeoverInsert, here.config.insert_takeover,
               {TakeoverRowName(here.config.lock_name, token)}));
}

void OnTakeoverInsert(Context& here, const TransactionResult& result) {
  if (result.outcome != Outcome::kCommitted) return EndRound(here);
  here.run.takeover_token = result.commit_timestamp;
  Send(here, Round::kTakeoverUpdate,
       WriteOf(steps::kTakeoverUpdate, here.config.update_token,
               {here.config.lock_name, result.commit_timestamp, here.state.id}));
}

void OnTakeoverUpdate(Context& here, const TransactionResult& result) {
  if (result.outcome == Outcome::kCommitted) {  // even if it changed no row: finding S6
    here.state.own_token = here.run.takeover_token;
    Remark(here.out, notes::kGotNextLock, {here.run.takeover_token});
  } else {
    RemarkFailure(here.out, notes::kTokenUpdateFailed, result.status);
  }
  EndRound(here);
}

void OnRoundRequest(Context& here, const TransactionResult& result) {
  switch (here.run.round) {
    case Round::kIdle:
      return;
    case Round::kCheck:
      return OnChecked(here, result);
    case Round::kFirstHeartbeat:
      return OnFirstHeartbeat(here, result);
    case Round::kFirstInsert:
      return OnFirstInsert(here, result);
    case Round::kReread:
      return OnReread(here, result);
    case Round::kTakeoverInsert:
      return OnTakeoverInsert(here, result);
    case Round::kTakeoverUpdate:
      return OnTakeoverUpdate(here, result);
  }
}

// --- the loops ---------------------------------------------------------------------------------

void SetTimerOf(Context& here, TimerOfRun timer, LocalInstant at) {
  here.out.emplace_back(SetTimer{.timer = IdOf(here.slot, timer), .at = at});
}

// The ticker keeps its phase: ticks that were missed are dropped, not made up for.
void SetNextTick(Context& here) {
  SetTimerOf(here, kTick, here.run.ticks.NextAfter(here.now.monotonic));
}

void OnTick(Context& here) {
  SetNextTick(here);
  if (here.run.round == Round::kIdle) BeginRound(here);
}

// Draws until a pause of at least half the lease comes. The upper end grows with every draw and
// is never reset.
Duration DrawHeartbeatPause(Context& here) {
  const Constants& constants = here.config.constants;
  Duration& current = here.run.heartbeat_backoff;
  for (;;) {
    if (current.ns == 0) current = constants.backoff_initial;
    const Duration pause{here.entropy.Between(purposes::kHeartbeatPause, 1, current.ns)};
    current = std::min(current * constants.backoff_growth, here.config.lease);
    if (pause >= here.config.lease / constants.longest_beats_in_lease) return pause;
  }
}

void OnHeartbeatWake(Context& here) {
  // A context that ended by its deadline does not end this loop: finding S9.
  if (here.run.stop == StopReason::kCancelled) {
    here.run.heartbeats = Heartbeats::kEnded;
    return;
  }
  if (here.run.leader == 0) {
    return SetTimerOf(here, kHeartbeatWake,
                      here.now.monotonic + here.config.constants.follower_sleep);
  }
  here.run.heartbeat_pause = DrawHeartbeatPause(here);
  here.run.heartbeats = Heartbeats::kBeating;
  RequestTransaction(here.out, IdOf(here.slot, kHeartbeatRequest), HeartbeatOf(here.config));
}

void OnHeartbeat(Context& here, const TransactionResult& result) {
  if (result.outcome != Outcome::kCommitted) {
    RemarkFailure(here.out, whorl::notes::kHeartbeatFailed, result.status);
  }
  here.run.heartbeats = Heartbeats::kSleeping;
  SetTimerOf(here, kHeartbeatWake, here.now.monotonic + here.run.heartbeat_pause);
}

// --- Run, stop and the questions ---------------------------------------------------------------

void MakeInstance(const Config& config, State& state, Entropy& entropy, std::vector<Effect>& out) {
  if (!state.id.empty()) return;  // a second Run of the same instance
  state.id = config.id;
  if (state.id.empty()) state.id = DrawUuid(entropy, whorl::purposes::kInstanceId);
  if (config.lease > config.lease_asked) {
    Remark(out, whorl::notes::kLeaseRaised,
           {config.lease_asked.ns / 1'000'000, config.lease.ns / 1'000'000});
  }
}

size_t FreeSlot(State& state) {
  for (size_t slot = 0; slot < state.runs.size(); ++slot) {
    if (!state.runs[slot]) return slot;
  }
  state.runs.emplace_back();
  return state.runs.size() - 1;
}

void OnStarted(const Config& config, State& state, LocalTime now, Entropy& entropy,
               std::vector<Effect>& out) {
  MakeInstance(config, state, entropy, out);
  const size_t slot = FreeSlot(state);
  RunState& run = state.runs[slot].emplace();
  run.ticks = {.from = now.monotonic, .period = config.lease};
  Context here{{config, state, now, entropy, out}, run, slot};
  SetNextTick(here);
  SetTimerOf(here, kHeartbeatWake, now.monotonic + config.constants.follower_sleep);
  BeginRound(here);
}

void OnStop(State& state, StopReason reason, std::vector<Effect>& out) {
  for (size_t slot = 0; slot < state.runs.size(); ++slot) {
    if (!state.runs[slot] || !state.runs[slot]->looping) continue;
    RunState& run = *state.runs[slot];
    run.looping = false;
    run.stop = reason;
    state.active = false;
    out.emplace_back(CancelTimer{.timer = IdOf(slot, kTick)});
  }
}

void OnAsked(const Config& config, State& state, const Asked& asked, std::vector<Effect>& out) {
  Answer answer{.ask = asked.ask, .question = asked.question};
  if (asked.question == Question::kDuration) answer.number = config.lease.ns / 1'000'000;
  if (asked.question == Question::kIterations) answer.number = state.iterations;
  const bool reads = asked.question == Question::kHasLock ||
                     asked.question == Question::kHasLock2 || asked.question == Question::kLeader;
  if (reads && state.active) {
    state.asks.push_back({.ask = asked.ask, .question = asked.question});
    RequestTransaction(out, static_cast<RequestId>(kFirstAskRequest + asked.ask),
                       ReadOf(whorl::steps::kHasLock, config.read_token, config.lock_name));
    return;
  }
  if (asked.question == Question::kLeader) answer.text = "spindle: not running";
  answer.yes = asked.question == Question::kDuration || asked.question == Question::kIterations;
  out.emplace_back(std::move(answer));
}

Answer AnswerOf(const Constants& constants, const State& state, PendingAsk pending,
                const TransactionResult& result) {
  Answer answer{.ask = pending.ask, .question = pending.question};
  if (result.outcome != Outcome::kCommitted) {
    if (pending.question == Question::kLeader) answer.text = FormatStatus(result.status);
    return answer;
  }
  TokenHash token = kHashOfNoRow;
  for (const Row& row : result.results.front().rows) {
    token = HashOfColumn(constants, row[0]);
    const auto* writer = std::get_if<std::string>(&row[1]);
    if (writer != nullptr && pending.question != Question::kHasLock) answer.text = *writer;
  }
  if (pending.question == Question::kLeader) {
    answer.yes = true;  // the question was answered, for a dead lease too
    return answer;
  }
  answer.yes = OwnHash(constants, state) == token;
  answer.token = token;
  return answer;
}

void OnAskRequest(const Config& config, State& state, const TransactionEnded& ended,
                  std::vector<Effect>& out) {
  const auto ask = static_cast<AskId>(ended.request - kFirstAskRequest);
  const auto pending = std::find_if(state.asks.begin(), state.asks.end(),
                                    [ask](const PendingAsk& other) { return other.ask == ask; });
  if (pending == state.asks.end()) return;
  out.emplace_back(AnswerOf(config.constants, state, *pending, ended.result));
  state.asks.erase(pending);
}

}  // namespace

TokenHash HashOf(Timestamp token) {
  // Remembered, since a lock's token is hashed at every answer, and changes with its holder.
  struct Known {
    Timestamp token;
    TokenHash hash = 0;
  };
  thread_local Known known{.token = Timestamp{}, .hash = HashOfText(FormatRfc3339(Timestamp{}))};
  if (known.token != token) known = {.token = token, .hash = HashOfText(FormatRfc3339(token))};
  return known.hash;
}

TokenHash NanosecondsOf(Timestamp token) { return static_cast<uint64_t>(token.UnixNanos()); }

std::string TakeoverRowName(const std::string& lock_name, TokenHash token) {
  return lock_name + "_" + std::to_string(token);
}

Config MakeConfig(const std::string& table, std::string lock_name, std::string id, Duration lease) {
  const Parameter name{.name = "name", .type = Type::kString};
  const Parameter token{.name = "token", .type = Type::kTimestamp};
  const Duration whole_ms = Milliseconds(lease.ns / 1'000'000);
  Config config;
  config.lock_name = std::move(lock_name);
  config.id = std::move(id);
  config.lease_asked = lease;
  config.lease = std::max(whole_ms, kLeaseMin);
  config.check = Sql::Intern(
      "SELECT TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), heartbeat, MILLISECOND) AS diff, token FROM " +
          table + " WHERE name = @name",
      {name});
  config.read_token =
      Sql::Intern("SELECT token, writer FROM " + table + " WHERE name = @name", {name});
  config.insert_lock = Sql::Intern(
      "INSERT " + table +
          " (name, heartbeat, token, writer) VALUES (@name, PENDING_COMMIT_TIMESTAMP(), "
          "PENDING_COMMIT_TIMESTAMP(), @id)",
      {name, {.name = "id", .type = Type::kString}});
  config.insert_takeover = Sql::Intern("INSERT " + table + " (name) VALUES (@name)", {name});
  config.update_token = Sql::Intern(
      "UPDATE " + table +
          " SET heartbeat = PENDING_COMMIT_TIMESTAMP(), token = @token, writer = @writer "
          "WHERE name = @name",
      {name, token, {.name = "writer", .type = Type::kString}});
  config.update_heartbeat = Sql::Intern(
      "UPDATE " + table + " SET heartbeat = PENDING_COMMIT_TIMESTAMP() WHERE name = @name", {name});
  config.delete_takeover_rows =
      Sql::Intern("DELETE FROM " + table + " WHERE STARTS_WITH(name, @prefix)",
                  {{.name = "prefix", .type = Type::kString}});
  return config;
}

void Step(const Config& config, State& state, LocalTime now, Entropy& entropy, const Event& event,
          std::vector<Effect>& out) {
  if (std::holds_alternative<Started>(event)) return OnStarted(config, state, now, entropy, out);
  if (const auto* stop = std::get_if<StopRequested>(&event)) {
    return OnStop(state, stop->reason, out);
  }
  if (const auto* asked = std::get_if<Asked>(&event)) return OnAsked(config, state, *asked, out);
  // Nothing is given up, so nothing waits, and nothing is announced.
  if (std::holds_alternative<WorkStopped>(event)) return;
  if (std::holds_alternative<ReleaseAnnounced>(event)) return;
  const auto* ended = std::get_if<TransactionEnded>(&event);
  if (ended != nullptr && ended->request >= kFirstAskRequest) {
    return OnAskRequest(config, state, *ended, out);
  }
  const uint16_t id = ended != nullptr ? ended->request : std::get<TimerFired>(event).timer;
  const size_t slot = id / kIdsPerRun;
  if (slot >= state.runs.size() || !state.runs[slot]) return;
  Context here{{config, state, now, entropy, out}, *state.runs[slot], slot};
  if (ended != nullptr) {
    const bool round = id % kIdsPerRun == kRoundRequest;
    round ? OnRoundRequest(here, ended->result) : OnHeartbeat(here, ended->result);
  } else {
    id % kIdsPerRun == kTick ? OnTick(here) : OnHeartbeatWake(here);
  }
  FreeIfOver(state, slot);
}

LeadershipView LeadershipViewOf(const State& state) {
  return {.answers = state.active,
          .own_token = state.own_token,
          .believes = state.told_leader,
          .believes_until = std::nullopt};
}

}  // namespace whorl::spindle_v2
