#include "live/rules/rule_engine.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "google/spanner/v1/spanner.pb.h"
#include "live/foreign/sql_steps.h"
#include "protocol/protocols.h"
#include "protocol/spanner/answers.h"
#include "sim/world/latency.h"

namespace whorl::live {
namespace {

// Spanner tells a client how long to wait before it tries again.
constexpr Duration kRetryDelay = Milliseconds(1);

bool HasWord(std::string_view normalized, const std::string& word) {
  std::string lower;
  for (const char c : word) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return (" " + std::string(normalized)).find(" " + lower + " ") != std::string::npos;
}

// The statements by which the step that the rule names is recognised; nothing if it names none.
std::optional<SqlSteps> StepsOf(const CallRule& rule) {
  if (!rule.step) return std::nullopt;
  const ProtocolInfo& info = *FindProtocol(rule.protocol);
  return SqlSteps(info, rule.table.empty() ? std::string(info.table) : rule.table);
}

// `sql`: the call's text, normalized.
bool Matches(const CallRule& rule, const std::optional<SqlSteps>& steps, const CallRecord& record,
             const std::string& sql) {
  if (!rule.method.empty() && rule.method != record.method) return false;
  if (rule.client && *rule.client != record.client) return false;
  const WireCall& call = record.call;
  if (!rule.sql.empty() && rule.sql != sql) return false;
  if (rule.sql_matches && !std::regex_search(call.sql, *rule.sql_matches)) return false;
  if (!rule.table.empty() && call.table != rule.table && !HasWord(sql, rule.table)) {
    return false;
  }
  for (const auto& [name, value] : rule.parameters) {
    const auto found = call.parameters.find(name);
    if (found == call.parameters.end() || found->second != value) return false;
  }
  return !rule.step || steps->Has(*rule.step, sql, call.IsOfReadWrite());
}

Interception Answered(Status status) {
  Interception interception;
  interception.action = Interception::Action::kAnswer;
  interception.status = std::move(status);
  return interception;
}

Interception Delayed(Duration delay) {
  Interception interception;
  interception.delay = delay;
  return interception;
}

Interception Lost() {
  Interception interception;
  interception.action = Interception::Action::kDrop;
  return interception;
}

// Whether Spanner, too, has to forget the call's transaction: its locks are gone when a client hears that it was
// aborted.
bool EndsAtSpanner(const CallRule& rule, const WireCall& call) {
  return AnswerOf(rule) == Code::kAborted && !rule.impossible && !call.transaction.empty();
}

Interception::OwnCall RollbackOf(const WireCall& call) {
  google::spanner::v1::RollbackRequest request;
  request.set_session(call.session.str());
  request.set_transaction_id(call.transaction.str());
  return {.path = "/google.spanner.v1.Spanner/Rollback", .message = request.SerializeAsString()};
}

}  // namespace

RuleEngine::RuleEngine(Options options) : options_(std::move(options)), random_(options_.seed) {}

int64_t RuleEngine::Add(CallRule rule) {
  const std::lock_guard lock(mutex_);
  std::optional<SqlSteps> steps = StepsOf(rule);
  rules_[++last_] = {.rule = std::move(rule), .steps = std::move(steps), .made = options_.steady()};
  return last_;
}

bool RuleEngine::Remove(int64_t number) {
  const std::lock_guard lock(mutex_);
  return rules_.erase(number) > 0;
}

bool RuleEngine::IsOver(const Rule& rule, LocalInstant now) {
  const CallRule& what = rule.rule;
  return (what.ttl && now - rule.made > *what.ttl) || (what.times > 0 && rule.struck >= what.times);
}

std::vector<RuleEngine::Active> RuleEngine::List() const {
  const std::lock_guard lock(mutex_);
  std::vector<Active> active;
  const LocalInstant now = options_.steady();
  for (const auto& [number, rule] : rules_) {
    active.push_back({.number = number,
                      .text = rule.rule.text,
                      .matched = rule.matched,
                      .struck = rule.struck,
                      .count = rule.rule.count,
                      .over = IsOver(rule, now)});
  }
  return active;
}

std::optional<Timestamp> RuleEngine::OldestCommitUnderWay() const {
  const std::lock_guard lock(mutex_);
  std::optional<Timestamp> oldest;
  for (const auto& [number, at] : commits_) oldest = std::min(oldest.value_or(at), at);
  return oldest;
}

const CallRule* RuleEngine::Strikes(Phase phase, const CallRecord& record) {
  const LocalInstant now = options_.steady();
  const CallRule* strikes = nullptr;
  if (rules_.empty()) return strikes;
  const std::string sql = NormalizedSql(record.call.sql);
  for (auto& [number, rule] : rules_) {
    const CallRule& what = rule.rule;
    if (what.phase != phase || IsOver(rule, now) || !Matches(what, rule.steps, record, sql)) {
      continue;
    }
    if (!IsPossible(what, record)) continue;
    ++rule.matched;
    if (rule.matched < what.count || (rule.matched - what.count) % what.nth != 0) continue;
    if (std::uniform_int_distribution<int64_t>(1, 100)(random_) > what.percent) continue;
    // Every rule counts its matches; the first one that strikes acts.
    if (strikes != nullptr) continue;
    ++rule.struck;
    strikes = &what;
  }
  return strikes;
}

bool RuleEngine::IsPossible(const CallRule& rule, const CallRecord& record) const {
  const std::optional<Code> code = AnswerOf(rule);
  if (!code || rule.impossible) return true;
  if (rule.phase == Phase::kServed) return OutcomeUnknown().Has(*code);
  const WireCall& call = record.call;
  if (std::holds_alternative<sim::SessionLossFault>(rule.what)) {
    const CallAnswers* answers = FindAnswers(record.method);
    return answers != nullptr && answers->can_lose_session && !call.session.empty();
  }
  const TransactionSeen seen = SeenOf(call);
  if (seen.committed != Committed::kNo) return CommitAgain().Has(*code);
  return MayAnswer(record.method, *code, call.IsOfReadWrite() && !seen.is_read_only);
}

RuleEngine::TransactionSeen RuleEngine::SeenOf(const WireCall& call) const {
  if (call.transaction.empty()) return {};
  const TransactionSeen* seen = transactions_.Find({call.session.str(), call.transaction.str()});
  return seen == nullptr ? TransactionSeen{} : *seen;
}

std::optional<RuleEngine::AnsweredBy> RuleEngine::StandingAnswer(const WireCall& call) const {
  if (const AnsweredBy* lost = lost_sessions_.Find(call.session.str())) {
    const CallAnswers* answers = FindAnswers(call.method);
    if (answers != nullptr && answers->can_lose_session) return *lost;
  }
  return call.is_rollback ? std::nullopt : SeenOf(call).ended_by;
}

void RuleEngine::NotePassed(const WireCall& call) {
  if (call.transaction.empty() || (!call.is_commit && !call.is_rollback)) return;
  TransactionSeen seen = SeenOf(call);
  if (call.is_rollback) seen.ended_by.reset();
  if (call.is_commit) seen.committed = std::max(seen.committed, Committed::kPerhaps);
  transactions_.Put({call.session.str(), call.transaction.str()}, std::move(seen));
}

void RuleEngine::NoteAnswered(const CallRule& rule, const WireCall& call, const Status& status) {
  if (rule.impossible) return;
  const AnsweredBy answered = {.status = status, .rule = rule.text};
  if (std::holds_alternative<sim::SessionLossFault>(rule.what)) {
    lost_sessions_.Put(call.session.str(), answered);
  } else if (!call.transaction.empty() && !call.is_rollback && EndsTransaction().Has(status.code)) {
    TransactionSeen seen = SeenOf(call);
    seen.ended_by = answered;
    transactions_.Put({call.session.str(), call.transaction.str()}, std::move(seen));
  }
}

void RuleEngine::NoteReply(const WireCall& call, const Status& status, const WireReply& reply) {
  if (call.begins_read_only && !reply.begun.empty()) {
    transactions_.Put({call.session.str(), reply.begun.str()}, {.is_read_only = true});
  }
  if (!call.is_commit || call.transaction.empty()) return;
  TransactionSeen seen = SeenOf(call);
  if (reply.commit) {
    seen.committed = Committed::kYes;
  } else if (seen.committed == Committed::kPerhaps && !OutcomeUnknown().Has(status.code)) {
    // Refused; or OK without a timestamp: Spanner asks for another token, and has not committed.
    seen.committed = Committed::kNo;
  }
  transactions_.Put({call.session.str(), call.transaction.str()}, std::move(seen));
}

void RuleEngine::SayLater(const ProxiedCall& call, const CallRule& rule,
                          const Interception& interception, Duration takes) {
  if (!options_.say) return;
  const bool is_lost = interception.action == Interception::Action::kDrop;
  if (!is_lost && takes <= options_.say_after) return;
  const std::string client = Cat("client ", std::to_string(call.node + 1));
  const std::string since = FormatDuration(options_.say_after);
  const std::string by = Cat(" by ", rule.text, ", ", sim::FaultKindText(sim::KindOf(rule.what)));
  const bool is_link = std::holds_alternative<sim::PartitionFault>(rule.what);
  std::string line = Cat(call.method, " of ", client, " has had no answer for ", since, by);
  if (is_link) line = Cat(client, " has been cut off for ", since, by);
  line += is_lost ? "; it hangs until its client gives it up, which may be an hour from its start "
                    "(the default in Java and Python)"
                  : Cat("; for ", FormatDuration(takes), " in all");
  {
    const std::lock_guard lock(mutex_);
    if (is_lost) hanging_.insert(call.number);
  }
  options_.later(options_.say_after, [this, is_lost, number = call.number, rule = rule.text,
                                      method = call.method, line = std::move(line)] {
    {
      const std::lock_guard lock(mutex_);
      if (is_lost && hanging_.erase(number) == 0) return;
      if (!said_.emplace(rule, method).second) return;
    }
    options_.say(line);
  });
}

void RuleEngine::OnGivenUp(const ProxiedCall& call) {
  const std::lock_guard lock(mutex_);
  hanging_.erase(call.number);
}

Interception RuleEngine::Act(const CallRule& rule, const CallRecord& record, Duration takes) {
  return std::visit(
      sim::Overloaded{
          [](const sim::AbortFault&) {
            Status aborted = Error(Code::kAborted, "Transaction was aborted.");
            aborted.retry_after = kRetryDelay;
            return Answered(std::move(aborted));
          },
          [&](const sim::ErrorFault&) {
            return Answered(Error(rule.code, "whorl answers in Spanner's place"));
          },
          [&](const sim::SessionLossFault&) {
            return Answered(Error(Code::kNotFound, "Session not found: " + record.call.session));
          },
          [](const sim::DropRequestFault&) { return Lost(); },
          [](const sim::DropReplyFault&) { return Lost(); },
          [&](const sim::LatencyFault&) { return Delayed(takes); },
          [&](const sim::PartitionFault& partition) {
            const bool is_refused = partition.mode == sim::PartitionMode::kRefuse;
            options_.link(record.client,
                          is_refused ? sim::LinkState::kRefused : sim::LinkState::kBlackHoled);
            options_.later(takes, [this, client = record.client] {
              options_.link(client, sim::LinkState::kUp);
            });
            return Interception{};
          },
          [](const auto&) { return Interception{}; },  // no rule has it: sim::KindsOfRules()
      },
      rule.what);
}

Duration RuleEngine::Takes(const CallRule& rule) {
  if (const auto* latency = std::get_if<sim::LatencyFault>(&rule.what)) {
    return sim::Pick(latency->add, random_());
  }
  return sim::LastsOf(rule.what).value_or(Duration{});
}

void RuleEngine::Settle(uint64_t number, Passing passing, const Interception& interception) {
  if (interception.action == Interception::Action::kDrop) {
    passing.record.answered = false;
    return Record(number, std::move(passing));
  }
  const std::lock_guard lock(mutex_);
  answered_[number] = std::move(passing);
}

void RuleEngine::OnDelivery(const ProxiedCall& call, Delivery delivery) {
  Passing passing;
  {
    const std::lock_guard lock(mutex_);
    auto found = answered_.extract(call.number);
    if (found.empty()) return;  // the proxy shuts down before Spanner has answered
    passing = std::move(found.mapped());
  }
  passing.record.answered = delivery == Delivery::kSent;
  Record(call.number, std::move(passing));
}

void RuleEngine::Record(uint64_t number, Passing passing) {
  passing.record.took = options_.steady() - passing.arrived;
  if (options_.record) {
    const std::lock_guard lock(recording_);
    options_.record(passing.record);
  }
  const std::lock_guard lock(mutex_);
  commits_.erase(number);
}

Interception RuleEngine::OnRequest(const ProxiedCall& call, const std::string& message) {
  Passing passing;
  passing.arrived = options_.steady();
  passing.record.at = options_.wall();
  passing.record.client = call.node;
  passing.record.method = call.method;
  passing.record.call = ReadCall(call.method, message);
  std::optional<CallRule> rule;
  std::optional<AnsweredBy> standing;
  Duration takes;
  {
    const std::lock_guard lock(mutex_);
    if (passing.record.call.is_commit) commits_.emplace(call.number, passing.record.at);
    standing = StandingAnswer(passing.record.call);
    if (standing) {
      passing.record.fault = standing->rule;
    } else if (const CallRule* strikes = Strikes(Phase::kSent, passing.record)) {
      rule = *strikes;
      takes = Takes(*rule);
      passing.record.fault = rule->text;
    }
    if (!rule && !standing) {
      NotePassed(passing.record.call);
      passing_[call.number] = passing;
    }
  }
  if (!rule && !standing) return {};
  Interception interception =
      standing ? Answered(standing->status) : Act(*rule, passing.record, takes);
  if (rule) SayLater(call, *rule, interception, takes);
  {
    const std::lock_guard lock(mutex_);
    if (interception.action == Interception::Action::kPass) {
      NotePassed(passing.record.call);
      passing_[call.number] = std::move(passing);
      return interception;
    }
    if (rule && interception.action == Interception::Action::kAnswer) {
      if (EndsAtSpanner(*rule, passing.record.call)) {
        interception.before_answer = RollbackOf(passing.record.call);
      }
      NoteAnswered(*rule, passing.record.call, interception.status);
    }
  }
  passing.record.status = interception.status;
  Settle(call.number, std::move(passing), interception);
  return interception;
}

Interception RuleEngine::OnReply(const ProxiedCall& call, const Status& status,
                                 const std::vector<std::string>& messages) {
  Passing passing;
  std::optional<CallRule> rule;
  Duration takes;
  {
    const std::lock_guard lock(mutex_);
    auto found = passing_.extract(call.number);
    if (found.empty()) return {};
    passing = std::move(found.mapped());
    const WireReply reply = ReadReply(call.method, messages);
    passing.record.begun = reply.begun;
    passing.record.commit = reply.commit;
    NoteReply(passing.record.call, status, reply);
    if (const CallRule* strikes = Strikes(Phase::kServed, passing.record)) {
      rule = *strikes;
      takes = Takes(*rule);
      passing.record.fault = rule->text;
    }
  }
  Interception interception;
  if (rule) {
    interception = Act(*rule, passing.record, takes);
    SayLater(call, *rule, interception, takes);
  }
  passing.record.status =
      interception.action == Interception::Action::kAnswer ? interception.status : status;
  Settle(call.number, std::move(passing), interception);
  return interception;
}

}  // namespace whorl::live
