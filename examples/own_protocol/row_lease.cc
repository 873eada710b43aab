#include "row_lease.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "protocol/local_answer.h"
#include "protocol/random_id.h"
#include "protocol/step_context.h"

namespace row_lease {
namespace {

using own_protocol::ChangedTheRow;
using own_protocol::WriteOf;
using whorl::Duration;
using whorl::LocalInstant;
using whorl::Outcome;
using whorl::TransactionResult;

using Context = whorl::StepContext<Config, State>;

// How long after it asked for the transaction an owner believes.
Duration Believable(const Config& config) {
  return config.lease - config.lease / config.constants.losses_in_lease;
}

int64_t InMilliseconds(Duration duration) { return duration.ns / whorl::Milliseconds(1).ns; }

// --- effects -----------------------------------------------------------------------------------

void SleepUntil(Context& here, LocalInstant at) {
  here.out.emplace_back(whorl::SetTimer{.timer = kWake, .at = at});
}
void ClaimLater(Context& here) {
  SleepUntil(here, here.now.monotonic + here.config.lease / here.config.constants.claims_in_lease);
}

void SendClaim(Context& here) {
  here.state.asked = here.now.monotonic;
  whorl::Transaction claim =
      WriteOf(steps::kClaim, here.config.take,
              {here.config.lock_name, here.state.id, InMilliseconds(here.config.lease),
               InMilliseconds(here.config.constants.clock_margin)},
              here.now.monotonic + Believable(here.config));
  // Where there is a row, this does nothing.
  claim.statements.insert(
      claim.statements.begin(),
      {.step = steps::kClaim,
       .statement = {.sql = here.config.create, .parameters = {here.config.lock_name}}});
  whorl::RequestTransaction(here.out, kClaim, std::move(claim));
}

void SendRenewal(Context& here) {
  here.state.asked = here.now.monotonic;
  whorl::RequestTransaction(
      here.out, kRenewal,
      WriteOf(steps::kRenew, here.config.renew,
              {here.config.lock_name, here.state.id, InMilliseconds(here.config.lease)},
              *here.state.leads_until));
}

// Clears the row if it is the process's own, even if the process has not heard so.
void SendRelease(Context& here) {
  whorl::RequestTransaction(
      here.out, kRelease,
      WriteOf(steps::kHandBack, here.config.release, {here.config.lock_name, here.state.id},
              here.now.monotonic + here.config.lease));
}

// --- leading -------------------------------------------------------------------------------------

// The row is the process's own, by a transaction that it asked for at `asked`.
void LeadFrom(Context& here, LocalInstant asked) {
  here.state.leads_until = asked + Believable(here.config);
  here.out.emplace_back(whorl::SetTimer{.timer = kDeadline, .at = *here.state.leads_until});
  SleepUntil(here, asked + here.config.lease / here.config.constants.renewals_in_lease);
}

// While a claim or a renewal is under way, the row may still become the process's own.
void GiveBackOnceIdle(Context& here) {
  if (here.state.work_stopped && !here.state.asked) SendRelease(here);
}

void CeaseToLead(Context& here) {
  here.state.leads_until.reset();
  here.out.emplace_back(whorl::CancelTimer{.timer = kDeadline});
  // A process that stops was told so already.
  if (!here.state.stopping) here.out.emplace_back(whorl::LeadershipChanged{.leader = false});
}

// --- what has ended ------------------------------------------------------------------------------

void OnClaimed(Context& here, LocalInstant asked, const TransactionResult& result) {
  // A claim that was answered too late is not used: its lease runs out, as after an unknown outcome.
  const bool in_time = here.now.monotonic < asked + Believable(here.config);
  if (!ChangedTheRow(result) || !in_time) return ClaimLater(here);
  LeadFrom(here, asked);
  here.out.emplace_back(whorl::LeadershipChanged{.leader = true});
}

void OnRenewed(Context& here, LocalInstant asked, const TransactionResult& result) {
  if (!here.state.leads_until) return ClaimLater(here);
  if (ChangedTheRow(result)) return LeadFrom(here, asked);
  if (result.outcome == Outcome::kCommitted) {  // the row is another's
    CeaseToLead(here);
    return ClaimLater(here);
  }
  // And renew again.
  SleepUntil(here, here.now.monotonic + here.config.lease / here.config.constants.retries_in_lease);
}

void OnEnded(Context& here, const whorl::TransactionEnded& ended) {
  if (ended.request == kRelease) return;  // what is not given back runs out
  const LocalInstant asked = *std::exchange(here.state.asked, std::nullopt);
  if (here.state.stopping) return GiveBackOnceIdle(here);
  if (ended.request == kClaim) return OnClaimed(here, asked, ended.result);
  OnRenewed(here, asked, ended.result);
}

// --- other events --------------------------------------------------------------------------------

void OnStarted(Context& here) {
  here.state.id = here.config.id;
  if (here.state.id.empty()) {
    here.state.id = whorl::DrawUuid(here.entropy, whorl::purposes::kInstanceId);
  }
  SendClaim(here);
}

void OnTimer(Context& here, whorl::TimerId timer) {
  if (timer != kWake) return;  // the deadline is looked at before every event
  return here.state.leads_until ? SendRenewal(here) : SendClaim(here);
}

void OnAsked(Context& here, const whorl::Asked& asked) {
  here.out.emplace_back(whorl::AnswerLocally(asked, {.protocol = kName,
                                                     .id = here.state.id,
                                                     .leads = LeadershipViewOf(here.state).believes,
                                                     .token = {},
                                                     .lease = here.config.lease}));
}

void OnStop(Context& here) {
  if (std::exchange(here.state.stopping, true)) return;
  here.out.emplace_back(whorl::CancelTimer{.timer = kWake});
  if (here.state.leads_until) here.out.emplace_back(whorl::LeadershipChanged{.leader = false});
}

void OnWorkStopped(Context& here) {
  if (!here.state.stopping || std::exchange(here.state.work_stopped, true)) return;
  if (here.state.leads_until) CeaseToLead(here);
  GiveBackOnceIdle(here);
}

}  // namespace

Config MakeConfig(const std::string& table, std::string lock_name, std::string id, Duration lease) {
  const whorl::Parameter name{.name = "name", .type = whorl::Type::kString};
  const whorl::Parameter owner{.name = "id", .type = whorl::Type::kString};
  const whorl::Parameter lease_ms{.name = "lease_ms", .type = whorl::Type::kInt64};
  const whorl::Parameter margin_ms{.name = "margin_ms", .type = whorl::Type::kInt64};
  const std::string renewal =
      "until=TIMESTAMP_ADD(CURRENT_TIMESTAMP(), INTERVAL @lease_ms MILLISECOND)";
  Config config;
  config.lock_name = std::move(lock_name);
  config.id = std::move(id);
  config.lease = whorl::Milliseconds(InMilliseconds(std::max(lease, kLeaseMin)));
  config.create =
      whorl::Sql::Intern("INSERT OR IGNORE INTO " + table + " (name) VALUES (@name)", {name});
  config.take =
      whorl::Sql::Intern("UPDATE " + table + " SET owner=@id, " + renewal +
                             " WHERE name=@name AND (owner IS NULL OR until < "
                             "TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @margin_ms MILLISECOND))",
                         {name, owner, lease_ms, margin_ms});
  config.renew =
      whorl::Sql::Intern("UPDATE " + table + " SET " + renewal + " WHERE name=@name AND owner=@id",
                         {name, owner, lease_ms});
  config.release = whorl::Sql::Intern(
      "UPDATE " + table + " SET owner=NULL WHERE name=@name AND owner=@id", {name, owner});
  return config;
}

void Step(const Config& config, State& state, whorl::LocalTime now, whorl::Entropy& entropy,
          const whorl::Event& event, std::vector<whorl::Effect>& out) {
  Context here{config, state, now, entropy, out};
  if (state.leads_until && now.monotonic >= *state.leads_until) CeaseToLead(here);
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
  if (!state.leads_until || state.stopping) return standing;
  standing.believes = true;
  standing.answers = true;
  standing.believes_until = state.leads_until;
  return standing;
}

}  // namespace row_lease
