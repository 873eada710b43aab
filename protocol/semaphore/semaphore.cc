#include "protocol/semaphore/semaphore.h"

#include <algorithm>
#include <utility>

#include "protocol/local_answer.h"
#include "protocol/random_id.h"
#include "protocol/semaphore/words.h"
#include "protocol/step_context.h"

namespace whorl::semaphore {
namespace {

using Doing = State::Doing;

using Context = StepContext<Config, State>;

// --- effects -----------------------------------------------------------------------------------

void Remark(Context& here, NoteId note, std::string text) {
  here.out.emplace_back(Note{.note = note, .values = {std::move(text)}});
}

Value TimeoutOf(const Config& config) { return config.timeout.ns / 1'000'000'000; }

void Send(Context& here, Doing doing, Transaction&& transaction) {
  here.state.doing = doing;
  RequestTransaction(here.out, kRoundRequest, std::move(transaction));
}

Transaction QueryAs(const Context& here, StepName step) {
  return OneStatement(step, Mode::kStrongRead, here.config.query, ValuesOf(TimeoutOf(here.config)));
}

// --- rounds ------------------------------------------------------------------------------------

void BeginRound(Context& here) {
  ++here.state.rounds;
  here.state.round_began = here.now.monotonic;
  Send(here, Doing::kUpdating,
       OneStatement(steps::kUpdate, Mode::kReadWrite, here.config.update,
                    ValuesOf(here.state.id, TimeoutOf(here.config))));
}

void EndRound(Context& here) {
  here.state.doing = Doing::kSleeping;
  const LocalInstant next = *here.state.round_began + here.config.constants.period;
  here.out.emplace_back(SetTimer{.timer = kRound, .at = std::max(next, here.now.monotonic)});
}

// The service that the query's row names; empty if it returned no row: then no service leads.
const std::string* LeaderIn(const TransactionResult& result) {
  const std::vector<Row>& rows = result.results.front().rows;
  return rows.empty() ? nullptr : std::get_if<std::string>(&rows.front().front());
}

// The answer to a query is the newest knowledge.
void HearLeader(Context& here, const TransactionResult& result) {
  State& state = here.state;
  const std::string* leader = LeaderIn(result);
  const bool leads = leader != nullptr && *leader == state.id;
  if (state.stopped || std::exchange(state.leader, leads) == leads) return;
  if (leads) {
    const Value& active = result.results.front().rows.front()[1];
    here.out.emplace_back(Note{.note = whorl::notes::kGotLock, .values = {active}});
  } else {
    Remark(here, whorl::notes::kLostLock,
           leader == nullptr ? "nobody leads" : "another service leads");
  }
  here.out.emplace_back(LeadershipChanged{.leader = leads});
}

void OnUpdated(Context& here, const TransactionResult& result) {
  if (result.outcome != Outcome::kCommitted) {
    Remark(here, whorl::notes::kHeartbeatFailed, FormatStatus(result.status));
  }
  Send(here, Doing::kQuerying, QueryAs(here, steps::kQuery));
}

void OnQueried(Context& here, const TransactionResult& result) {
  if (result.outcome == Outcome::kCommitted) {
    HearLeader(here, result);
  } else {
    Remark(here, whorl::notes::kReadFailed, FormatStatus(result.status));
  }
  EndRound(here);
}

// --- questions ---------------------------------------------------------------------------------

void OnAsked(Context& here, const Asked& asked) {
  State& state = here.state;
  const bool runs = state.doing != Doing::kNothing && !state.stopped;
  const bool asks_who_leads = asked.question == Question::kHasLock ||
                              asked.question == Question::kHasLock2 ||
                              asked.question == Question::kLeader;
  if (asks_who_leads && runs) {
    state.asks.push_back({.ask = asked.ask, .question = asked.question});
    RequestTransaction(here.out, static_cast<RequestId>(kFirstAskRequest + asked.ask),
                       QueryAs(here, whorl::steps::kHasLock));
  } else if (asks_who_leads) {
    here.out.emplace_back(Answer{.ask = asked.ask, .question = asked.question});
  } else {
    here.out.emplace_back(AnswerLocally(asked, {.protocol = "semaphore",
                                                .id = state.id,
                                                .token = std::nullopt,
                                                .lease = here.config.timeout,
                                                .iterations = state.rounds}));
  }
}

void OnAskEnded(Context& here, AskId ask, const TransactionResult& result) {
  std::vector<PendingAsk>& asks = here.state.asks;
  const auto pending = std::ranges::find(asks, ask, &PendingAsk::ask);
  if (pending == asks.end()) return;
  Answer answer{.ask = pending->ask, .question = pending->question};
  asks.erase(pending);
  if (result.outcome == Outcome::kCommitted) {
    const std::string* leader = LeaderIn(result);
    const bool is_self = leader != nullptr && *leader == here.state.id;
    const bool asks_who = answer.question != Question::kHasLock;
    answer.yes = answer.question == Question::kLeader ? leader != nullptr : is_self;
    if (leader != nullptr && asks_who) answer.text = *leader;
    HearLeader(here, result);
  } else if (answer.question == Question::kLeader) {
    answer.text = FormatStatus(result.status);
  }
  here.out.emplace_back(std::move(answer));
}

// --- events ------------------------------------------------------------------------------------

void OnStarted(Context& here) {
  State& state = here.state;
  if (state.doing != Doing::kNothing || state.stopped) return;
  state.id = here.config.id;
  if (state.id.empty()) state.id = DrawUuid(here.entropy, whorl::purposes::kInstanceId);
  BeginRound(here);
}

// The row is not changed.
void OnStop(Context& here) {
  State& state = here.state;
  if (std::exchange(state.stopped, true)) return;
  const Doing was_doing = std::exchange(state.doing, Doing::kNothing);
  if (was_doing == Doing::kSleeping) {
    here.out.emplace_back(CancelTimer{.timer = kRound});
  } else if (was_doing != Doing::kNothing) {
    here.out.emplace_back(CancelTransaction{.request = kRoundRequest});
  }
  if (state.leader) here.out.emplace_back(LeadershipChanged{.leader = false});
}

void OnEnded(Context& here, const TransactionEnded& ended) {
  if (ended.request >= kFirstAskRequest) {
    return OnAskEnded(here, static_cast<AskId>(ended.request - kFirstAskRequest), ended.result);
  }
  switch (here.state.doing) {
    case Doing::kUpdating:
      return OnUpdated(here, ended.result);
    case Doing::kQuerying:
      return OnQueried(here, ended.result);
    case Doing::kNothing:
    case Doing::kSleeping:
      return;  // stopped meanwhile
  }
}

}  // namespace

Config MakeConfig(const std::string& table, std::string lock_name, std::string id,
                  Duration timeout) {
  const Parameter service{.name = "serviceId", .type = Type::kString};
  const Parameter seconds{.name = "timeout", .type = Type::kInt64};
  Config config;
  config.lock_name = std::move(lock_name);
  config.id = std::move(id);
  config.timeout = Seconds(timeout.ns / 1'000'000'000);
  config.update =
      Sql::Intern("UPDATE " + table +
                      " SET service_id = @serviceId, last_seen_active = CURRENT_TIMESTAMP() "
                      "WHERE anchor = 1 AND ((service_id != @serviceId AND last_seen_active < "
                      "TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @timeout SECOND)) "
                      "OR (service_id = @serviceId))",
                  {service, seconds});
  config.query = Sql::Intern("SELECT service_id, last_seen_active FROM " + table +
                                 " WHERE anchor = 1 AND last_seen_active >= "
                                 "TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @timeout SECOND)",
                             {seconds});
  return config;
}

Row InitRow() { return {kAnchor, std::string("nobody"), Timestamp{}}; }

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
  // A question now would be answered as the last query was, except what has changed since.
  const bool leads = state.leader && !state.stopped;
  return {.answers = leads,
          .own_token = std::nullopt,
          .believes = leads,
          .believes_until = std::nullopt};
}

}  // namespace whorl::semaphore
