#include "simple_lease.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "protocol/local_answer.h"
#include "protocol/random_id.h"
#include "protocol/step_context.h"

namespace simple_lease {
namespace {

using own_protocol::ChangedTheRow;
using own_protocol::WriteOf;
using whorl::Duration;
using whorl::LocalInstant;
using whorl::Outcome;
using whorl::Timestamp;
using whorl::TransactionResult;
using Doing = State::Doing;

using Context = whorl::StepContext<Config, State>;

// How long after the sending of its Commit an owner believes.
Duration Believable(const Config& config) {
  return config.lease - config.lease / config.constants.losses_in_lease;
}

// --- effects -----------------------------------------------------------------------------------

void SleepUntil(Context& here, LocalInstant at) {
  here.state.doing = Doing::kSleeping;
  here.out.emplace_back(whorl::SetTimer{.timer = kWake, .at = at});
}
void Sleep(Context& here, Duration pause) { SleepUntil(here, here.now.monotonic + pause); }
void PollLater(Context& here) {
  Sleep(here, here.config.lease / here.config.constants.polls_in_lease);
}

void Run(Context& here, Request request, whorl::Transaction transaction) {
  here.out.emplace_back(
      whorl::RunTransaction{.request = request, .transaction = std::move(transaction)});
}

void SendRead(Context& here) {
  here.state.doing = Doing::kReading;
  whorl::Transaction transaction = whorl::OneStatement(steps::kLook, whorl::Mode::kStrongRead,
                                                       here.config.read, {here.config.lock_name});
  transaction.give_up_at = here.now.monotonic + here.config.lease;
  Run(here, kRound, std::move(transaction));
}

void SendCreate(Context& here) {
  here.state.doing = Doing::kClaiming;
  Run(here, kRound,
      WriteOf(steps::kCreate, here.config.create, {here.config.lock_name, here.state.id},
              here.now.monotonic + here.config.lease));
}

void SendTake(Context& here, Timestamp seen) {
  here.state.doing = Doing::kClaiming;
  Run(here, kRound,
      WriteOf(steps::kClaim, here.config.take, {here.config.lock_name, here.state.id, seen},
              here.now.monotonic + here.config.lease));
}

void SendBeat(Context& here) {
  here.state.doing = Doing::kBeating;
  const Term& term = *here.state.term;
  Run(here, kRound,
      WriteOf(steps::kBeat, here.config.beat, {here.config.lock_name, term.token}, term.deadline));
}

void SendRelease(Context& here, Timestamp token) {
  Run(here, kRelease,
      WriteOf(steps::kHandBack, here.config.release, {here.config.lock_name, token},
              here.now.monotonic + here.config.lease));
}

// --- terms -------------------------------------------------------------------------------------

// The process owns the row, by a Commit that was first sent at `sent`.
void Renew(Context& here, Timestamp token, LocalInstant sent) {
  here.state.term = Term{.token = token, .deadline = sent + Believable(here.config)};
  here.out.emplace_back(whorl::SetTimer{.timer = kDeadline, .at = here.state.term->deadline});
  // A process that stops beats no more, but has until the deadline to give the row back.
  if (here.state.stopping) return;
  SleepUntil(here, sent + here.config.lease / here.config.constants.beats_in_lease);
}

void EndTerm(Context& here) {
  here.state.term.reset();
  here.out.emplace_back(whorl::CancelTimer{.timer = kDeadline});
  // A process that stops was told so already.
  if (!here.state.stopping) here.out.emplace_back(whorl::LeadershipChanged{.leader = false});
}

// --- what has ended ------------------------------------------------------------------------------

// `row`: heartbeat, owner, CURRENT_TIMESTAMP. Nothing where it may not be taken, or has no heartbeat.
std::optional<Timestamp> TakeableHeartbeat(const whorl::Row& row, const Config& config) {
  const auto* heartbeat = std::get_if<Timestamp>(&row[0]);
  if (heartbeat == nullptr) return std::nullopt;
  if (std::holds_alternative<whorl::Null>(row[1])) return *heartbeat;  // given back
  const Duration age = std::get<Timestamp>(row[2]) - *heartbeat;
  if (age < config.lease + config.constants.clock_margin) return std::nullopt;
  return *heartbeat;
}

void OnRead(Context& here, const TransactionResult& result) {
  if (result.outcome != Outcome::kCommitted) return PollLater(here);
  const std::vector<whorl::Row>& rows = result.results.front().rows;
  if (rows.empty()) return SendCreate(here);
  const auto seen = TakeableHeartbeat(rows.front(), here.config);
  return seen ? SendTake(here, *seen) : PollLater(here);
}

void OnClaimed(Context& here, const TransactionResult& result) {
  const bool won = ChangedTheRow(result);
  if (here.state.stopping) {
    // No work was begun in this term, but work of an earlier one may go on: then the lease runs out.
    if (won && here.state.work_stopped) SendRelease(here, result.commit_timestamp);
    return;
  }
  // A claim that was answered too late is not used: its lease runs out, as after an unknown outcome.
  const bool in_time = won && here.now.monotonic < *result.commit_sent + Believable(here.config);
  if (!in_time) return PollLater(here);
  Renew(here, result.commit_timestamp, *result.commit_sent);
  here.out.emplace_back(whorl::LeadershipChanged{.leader = true});
}

void OnBeaten(Context& here, const TransactionResult& result) {
  if (here.state.term && ChangedTheRow(result)) {
    return Renew(here, here.state.term->token, *result.commit_sent);
  }
  if (here.state.stopping) return;
  if (!here.state.term) return PollLater(here);
  if (result.outcome == Outcome::kCommitted) {  // the row is another's
    EndTerm(here);
    return PollLater(here);
  }
  Sleep(here, here.config.lease / here.config.constants.retries_in_lease);  // and beat again
}

void OnEnded(Context& here, const whorl::TransactionEnded& ended) {
  if (ended.request == kRelease) return;  // what is not given back runs out
  const Doing done = std::exchange(here.state.doing, Doing::kNothing);
  if (done == Doing::kClaiming) return OnClaimed(here, ended.result);
  if (done == Doing::kBeating) return OnBeaten(here, ended.result);
  if (!here.state.stopping) OnRead(here, ended.result);
}

// --- other events --------------------------------------------------------------------------------

void OnStarted(Context& here) {
  here.state.id = here.config.id;
  if (here.state.id.empty()) {
    here.state.id = whorl::DrawUuid(here.entropy, whorl::purposes::kInstanceId);
  }
  SendRead(here);
}

void OnTimer(Context& here, whorl::TimerId timer) {
  if (timer != kWake) return;  // the deadline is looked at before every event
  return here.state.term ? SendBeat(here) : SendRead(here);
}

void OnAsked(Context& here, const whorl::Asked& asked) {
  const bool leads = here.state.term && !here.state.stopping;
  here.out.emplace_back(
      whorl::AnswerLocally(asked, {.protocol = kName,
                                   .id = here.state.id,
                                   .leads = leads,
                                   .token = leads ? here.state.term->token : Timestamp{},
                                   .lease = here.config.lease}));
}

void OnStop(Context& here) {
  if (std::exchange(here.state.stopping, true)) return;
  here.out.emplace_back(whorl::CancelTimer{.timer = kWake});
  if (here.state.term) here.out.emplace_back(whorl::LeadershipChanged{.leader = false});
}

void OnWorkStopped(Context& here) {
  if (!here.state.stopping) return;
  here.state.work_stopped = true;
  if (!here.state.term) return;
  SendRelease(here, here.state.term->token);
  EndTerm(here);
}

}  // namespace

Config MakeConfig(const std::string& table, std::string lock_name, std::string id, Duration lease) {
  const whorl::Parameter name{.name = "name", .type = whorl::Type::kString};
  const whorl::Parameter owner{.name = "id", .type = whorl::Type::kString};
  const whorl::Parameter seen{.name = "seen", .type = whorl::Type::kTimestamp};
  const whorl::Parameter token{.name = "token", .type = whorl::Type::kTimestamp};
  Config config;
  config.lock_name = std::move(lock_name);
  config.id = std::move(id);
  config.lease = std::max(lease, kLeaseMin);
  config.read = whorl::Sql::Intern(
      "SELECT heartbeat, owner, CURRENT_TIMESTAMP() AS now FROM " + table + " WHERE name=@name",
      {name});
  config.take = whorl::Sql::Intern(
      "UPDATE " + table +
          " SET heartbeat=PENDING_COMMIT_TIMESTAMP(), token=PENDING_COMMIT_TIMESTAMP(), "
          "owner=@id WHERE name=@name AND heartbeat=@seen",
      {name, owner, seen});
  config.create =
      whorl::Sql::Intern("INSERT INTO " + table +
                             " (name, heartbeat, token, owner) VALUES "
                             "(@name, PENDING_COMMIT_TIMESTAMP(), PENDING_COMMIT_TIMESTAMP(), @id)",
                         {name, owner});
  config.beat = whorl::Sql::Intern("UPDATE " + table +
                                       " SET heartbeat=PENDING_COMMIT_TIMESTAMP() "
                                       "WHERE name=@name AND token=@token",
                                   {name, token});
  config.release = whorl::Sql::Intern("UPDATE " + table +
                                          " SET heartbeat=PENDING_COMMIT_TIMESTAMP(), owner=NULL "
                                          "WHERE name=@name AND token=@token",
                                      {name, token});
  return config;
}

void Step(const Config& config, State& state, whorl::LocalTime now, whorl::Entropy& entropy,
          const whorl::Event& event, std::vector<whorl::Effect>& out) {
  Context here{config, state, now, entropy, out};
  if (state.term && now.monotonic >= state.term->deadline) EndTerm(here);
  if (std::holds_alternative<whorl::Started>(event)) return OnStarted(here);
  if (std::holds_alternative<whorl::StopRequested>(event)) return OnStop(here);
  if (std::holds_alternative<whorl::WorkStopped>(event)) return OnWorkStopped(here);
  if (const auto* asked = std::get_if<whorl::Asked>(&event)) return OnAsked(here, *asked);
  if (const auto* fired = std::get_if<whorl::TimerFired>(&event)) {
    return OnTimer(here, fired->timer);
  }
  if (const auto* ended = std::get_if<whorl::TransactionEnded>(&event)) OnEnded(here, *ended);
}

whorl::LeadershipView LeadershipViewOf(const State& state) {
  whorl::LeadershipView standing;
  if (!state.term) return standing;
  standing.own_token = state.term->token;
  standing.believes = !state.stopping;
  standing.answers = standing.believes;
  if (standing.believes) standing.believes_until = state.term->deadline;
  return standing;
}

}  // namespace simple_lease
