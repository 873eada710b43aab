// Defines a protocol for tests of tokens that are not timestamps: a lease whose token is an INT64 that
// each grant raises (an epoch), as in lock tables without commit timestamps.
//
// One row per lock: name, heartbeat, epoch, owner. A process that reads a heartbeat a lease and a
// margin old takes the row by compare-and-set on the heartbeat, and writes the epoch that it read
// plus one. The owner beats three times a lease. Deliberately left out: notes, draws, and asking
// twice; examples/own_protocol/ is the template.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/hosted.h"
#include "protocol/local_answer.h"
#include "protocol/protocols.h"
#include "protocol/step_context.h"
#include "sim/scenario/add_protocol.h"

namespace whorl::epoch_lease {

inline constexpr std::string_view kName = "epoch_lease";
// The same, with a mistake: a process that takes a row does not change its epoch.
inline constexpr std::string_view kForgetfulName = "epoch_lease_that_forgets";

namespace steps {
inline constexpr StepName kLook{"look"};
inline constexpr StepName kClaim{"claim"};
inline constexpr StepName kFound{"found"};  // makes the row, with the epoch 1
inline constexpr StepName kBeat{"beat"};
inline constexpr StepName kHandBack{"hand_back"};
}  // namespace steps

struct Config {
  std::string lock_name;
  std::string id;
  Duration lease;
  int64_t raise = 1;  // by how much a claim raises the epoch
  Sql look;
  Sql claim;
  Sql found;
  Sql beat;
  Sql hand_back;
  WHORL_FIELDS(Config, lock_name, id, lease, raise, look, claim, found, beat, hand_back);
};

struct Term {
  int64_t epoch = 0;
  LocalInstant deadline;
  WHORL_FIELDS(Term, epoch, deadline);
};
struct State {
  bool stopping = false;
  int64_t claimed = 0;  // the epoch of the claim that is under way
  std::optional<Term> term;
  WHORL_FIELDS(State, stopping, claimed, term);
};
using Context = StepContext<Config, State>;

enum Timer : TimerId { kWake };
enum Request : RequestId { kLooking, kClaiming, kBeating, kHandingBack };

inline void Run(Context& here, Request request, StepName step, Mode mode, Sql sql,
                std::vector<Value> parameters) {
  Transaction transaction = OneStatement(step, mode, sql, std::move(parameters));
  transaction.lock_mode = LockMode::kOptimistic;
  transaction.give_up_at = here.now.monotonic + here.config.lease;
  here.out.emplace_back(RunTransaction{.request = request, .transaction = std::move(transaction)});
}
inline void WakeAfter(Context& here, Duration pause) {
  here.out.emplace_back(SetTimer{.timer = kWake, .at = here.now.monotonic + pause});
}
inline void EndTerm(Context& here) {
  here.state.term.reset();
  here.out.emplace_back(LeadershipChanged{.leader = false});
}

inline void OnWake(Context& here) {
  const Config& config = here.config;
  if (here.state.stopping) return;
  if (here.state.term) {
    Run(here, kBeating, steps::kBeat, Mode::kReadWrite, config.beat,
        {config.lock_name, here.state.term->epoch, config.id});
  } else {
    Run(here, kLooking, steps::kLook, Mode::kStrongRead, config.look, {config.lock_name});
  }
}

inline void OnLooked(Context& here, const TransactionResult& result) {
  const Config& config = here.config;
  if (result.outcome != Outcome::kCommitted) return WakeAfter(here, config.lease / 4);
  const std::vector<Row>& rows = result.results.front().rows;
  if (rows.empty()) {
    here.state.claimed = 1;
    return Run(here, kClaiming, steps::kFound, Mode::kReadWrite, config.found,
               {config.lock_name, config.id});
  }
  const Row& row = rows.front();  // heartbeat, epoch, owner, age_ms
  const bool is_free = IsNull(row[2]);
  const Duration age = Milliseconds(std::get<int64_t>(row[3]));
  if (!is_free && age < config.lease + Milliseconds(250)) return WakeAfter(here, config.lease / 4);
  here.state.claimed = std::get<int64_t>(row[1]) + config.raise;
  Run(here, kClaiming, steps::kClaim, Mode::kReadWrite, config.claim,
      {config.lock_name, config.id, here.state.claimed, row[0]});
}

inline bool ChangedTheRow(const TransactionResult& result) {
  return result.outcome == Outcome::kCommitted && result.results.front().row_count == 1;
}

// A claim or a beat was committed: the term goes on for a lease, less what a slow clock may lose.
inline void Renew(Context& here, int64_t epoch, const TransactionResult& result) {
  const LocalInstant deadline = *result.commit_sent + here.config.lease - here.config.lease / 500;
  if (here.now.monotonic >= deadline) return WakeAfter(here, here.config.lease / 4);
  const bool is_new = !here.state.term;
  here.state.term = Term{.epoch = epoch, .deadline = deadline};
  if (is_new) here.out.emplace_back(LeadershipChanged{.leader = true});
  WakeAfter(here, here.config.lease / 3);
}

inline void OnEnded(Context& here, const TransactionEnded& ended) {
  if (here.state.stopping || ended.request == kHandingBack) return;
  if (ended.request == kLooking) return OnLooked(here, ended.result);
  const bool changed = ChangedTheRow(ended.result);
  if (ended.request == kClaiming && changed) return Renew(here, here.state.claimed, ended.result);
  if (ended.request == kBeating && here.state.term) {
    if (changed) return Renew(here, here.state.term->epoch, ended.result);
    if (ended.result.outcome == Outcome::kCommitted) EndTerm(here);
  }
  WakeAfter(here, here.config.lease / 8);
}

inline void Step(const Config& config, State& state, LocalTime now, Entropy& entropy,
                 const Event& event, std::vector<Effect>& out) {
  Context here{config, state, now, entropy, out};
  if (state.term && now.monotonic >= state.term->deadline) EndTerm(here);
  if (std::holds_alternative<Started>(event)) return OnWake(here);
  if (std::holds_alternative<TimerFired>(event)) return OnWake(here);
  if (const auto* ended = std::get_if<TransactionEnded>(&event)) return OnEnded(here, *ended);
  if (const auto* asked = std::get_if<Asked>(&event)) {
    const bool leads = state.term && !state.stopping;
    out.emplace_back(AnswerLocally(
        *asked, {.protocol = kName,
                 .id = config.id,
                 .leads = leads,
                 .token = leads ? std::optional(Token(state.term->epoch)) : std::nullopt,
                 .lease = config.lease}));
  }
  if (std::holds_alternative<StopRequested>(event) && !std::exchange(state.stopping, true)) {
    out.emplace_back(CancelTimer{.timer = kWake});
    if (state.term) out.emplace_back(LeadershipChanged{.leader = false});
  }
  if (std::holds_alternative<WorkStopped>(event) && state.term) {
    Run(here, kHandingBack, steps::kHandBack, Mode::kReadWrite, config.hand_back,
        {config.lock_name, state.term->epoch});
    state.term.reset();
  }
}

inline LeadershipView LeadershipViewOf(const State& state) {
  LeadershipView standing;
  if (!state.term) return standing;
  standing.own_token = Token(state.term->epoch);
  standing.answers = standing.believes = !state.stopping;
  if (standing.believes) standing.believes_until = state.term->deadline;
  return standing;
}

inline Config MakeConfig(std::string lock_name, std::string id, Duration lease, int64_t raise) {
  const Parameter name{.name = "name", .type = Type::kString};
  const Parameter owner{.name = "id", .type = Type::kString};
  const Parameter epoch{.name = "epoch", .type = Type::kInt64};
  const Parameter seen{.name = "seen", .type = Type::kTimestamp};
  Config config{.lock_name = std::move(lock_name), .id = std::move(id), .lease = lease};
  config.raise = raise;
  config.look = Sql::Intern(
      "SELECT heartbeat, epoch, owner, "
      "TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), heartbeat, MILLISECOND) AS age_ms "
      "FROM locktable WHERE name=@name",
      {name});
  config.claim = Sql::Intern(
      "UPDATE locktable SET heartbeat=PENDING_COMMIT_TIMESTAMP(), epoch=@epoch, owner=@id "
      "WHERE name=@name AND heartbeat=@seen",
      {name, owner, epoch, seen});
  config.found = Sql::Intern(
      "INSERT INTO locktable (name, heartbeat, epoch, owner) "
      "VALUES (@name, PENDING_COMMIT_TIMESTAMP(), 1, @id)",
      {name, owner});
  config.beat = Sql::Intern(
      "UPDATE locktable SET heartbeat=PENDING_COMMIT_TIMESTAMP() "
      "WHERE name=@name AND epoch=@epoch AND owner=@id",
      {name, epoch, owner});
  config.hand_back = Sql::Intern(
      "UPDATE locktable SET heartbeat=PENDING_COMMIT_TIMESTAMP(), owner=NULL "
      "WHERE name=@name AND epoch=@epoch",
      {name, epoch});
  return config;
}

template <int64_t kRaise>
ProtocolInfo Info(std::string_view protocol) {
  static constexpr std::array<StepName, 5> kSteps = {steps::kLook, steps::kClaim, steps::kFound,
                                                     steps::kBeat, steps::kHandBack};
  static constexpr std::array<StepName, 1> kStepsWithoutCommit = {steps::kLook};
  static constexpr std::array<ColumnInfo, 4> kColumns = {{
      {.name = "name", .type = Type::kString, .key = true},
      {.name = "heartbeat", .type = Type::kTimestamp},
      {.name = "epoch", .type = Type::kInt64},
      {.name = "owner", .type = Type::kString},
  }};
  ProtocolInfo info;
  info.name = protocol;
  info.summary = "a lease whose token is an epoch";
  info.create_table =
      "CREATE TABLE locktable (\n"
      "  name STRING(MAX) NOT NULL,\n"
      "  heartbeat TIMESTAMP OPTIONS (allow_commit_timestamp=true),\n"
      "  epoch INT64,\n"
      "  owner STRING(MAX),\n"
      ") PRIMARY KEY (name)";
  info.columns = kColumns;
  info.holder_columns = {.lock = "name",
                         .holder = "owner",
                         .since = {},
                         .token = "epoch",
                         .renewed = "heartbeat",
                         .until = {},
                         .lease = {}};
  info.steps = kSteps;
  info.steps_without_commit = kStepsWithoutCommit;
  info.promises.fill(Promise::kPromised);
  info.promises[static_cast<size_t>(Invariant::kSingleWorker)] = Promise::kNotPromised;
  info.answers_locally = true;
  info.lease_min = Seconds(1);
  info.lease_default = Seconds(10);
  info.retry_policy = OurRetryPolicy();
  info.make_config = [](const std::string&, std::string lock_name, std::string id, Duration lease) {
    return Hosted<State>(MakeConfig(std::move(lock_name), std::move(id), lease, kRaise));
  };
  return info;
}

inline sim::Rules RulesNamed(std::string_view protocol) {
  sim::Rules rules{};
  rules.protocol = protocol;
  rules.key_column = 0;
  rules.token_column = 2;
  rules.lease_until = {.renewed = 1};
  rules.is_released = {.null_column = 3};
  rules.wedge_bound = [](Duration lease, Duration round_trip) {
    return lease * 3 / 2 + Seconds(1) + round_trip * 4;
  };
  return rules;
}

// REQUIRES: as sim::AddProtocol.
inline void AddBoth() {
  sim::AddProtocol(Info<1>(kName), RulesNamed(kName), {});
  sim::AddProtocol(Info<0>(kForgetfulName), RulesNamed(kForgetfulName), {});
}

}  // namespace whorl::epoch_lease
