#include "tests/support/scripted_network.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace whorl {
namespace {

// The number of `name` among the names seen so far, from 1.
template <typename T>
std::string NumberOf(std::vector<T>& seen, const T& name) {
  const auto found = std::ranges::find(seen, name);
  const auto place = found - seen.begin();
  if (found == seen.end()) seen.push_back(name);
  return std::to_string(place + 1);
}

TransactionId TransactionOf(const Request& request) {
  if (const auto* execute = std::get_if<ExecuteSql>(&request)) {
    const auto* id = std::get_if<TransactionId>(&execute->transaction);
    return id == nullptr ? TransactionId() : *id;
  }
  if (const auto* commit = std::get_if<Commit>(&request)) {
    return std::get<TransactionId>(commit->transaction);
  }
  return {};
}

Response Failed(Status status) {
  Response response;
  response.status = std::move(status);
  return response;
}

Response Broken() { return Failed(Error(Code::kUnavailable, "the connection broke")); }

}  // namespace

RetryPolicy PolicyOf(const Script& script) {
  RetryPolicy policy = GoRetryPolicy();
  const Backoff soon = {.initial = Milliseconds(1), .growth_percent = 130, .max = Milliseconds(20)};
  policy.aborted = soon;
  policy.unary = soon;
  policy.query = soon;
  policy.commit_timeout = script.commit_timeout;
  return policy;
}

SessionPoolPolicy PoolOf(const Script& script) {
  if (script.sessions == SessionKind::kMultiplexed) return MultiplexedSessionPolicy();
  SessionPoolPolicy policy = RegularSessionPolicy();
  policy.min_sessions = 1;
  policy.max_sessions = 4;
  policy.batch = 1;
  return policy;
}

std::string DescribeResult(const TransactionResult& result) {
  std::string text(WordOf(result.outcome));
  if (!result.status.ok()) text += " " + std::string(WordOf(result.status.code));
  if (result.outcome != Outcome::kCommitted) return text;
  for (const StatementResult& statement : result.results) {
    text += ", " + std::to_string(statement.row_count) + " rows changed and " +
            std::to_string(statement.rows.size()) + " read";
  }
  return text;
}

std::optional<Response> ScriptedNetwork::Deliver(const Request& request) {
  const std::lock_guard lock(mutex_);
  const auto fate = std::ranges::find(fates_, transcript_.size(), &Fate::call);
  const bool has_rival = std::ranges::count(fates_, FateKind::kRivalCommits, &Fate::kind) > 0;
  if (has_rival && rival_.empty()) BeginRival();
  std::string line = Describe(request) + ": ";
  std::string what;
  std::optional<Response> heard = Meet(fate == fates_.end() ? nullptr : &*fate, request, what);
  transcript_.push_back(line + what);
  return heard;
}

std::optional<Response> ScriptedNetwork::Meet(const Fate* fate, const Request& request,
                                              std::string& what) {
  const auto serve = [&] {
    Response response = server_.Serve(request);
    what += Describe(response);
    return response;
  };
  if (fate == nullptr) return serve();
  switch (fate->kind) {
    case FateKind::kRequestLost:
      what += "lost";
      return Broken();
    case FateKind::kReplyLost:
      serve();
      what += ", but the reply is lost";
      return Broken();
    case FateKind::kHangs:
      what += "hangs";
      return std::nullopt;
    case FateKind::kServedAndHangs:
      serve();
      what += ", but hangs";
      return std::nullopt;
    case FateKind::kAnswered:
      what += std::string(WordOf(fate->status.code)) + " by script";
      return Failed(fate->status);
    case FateKind::kAborted:
      server_.Serve(Rollback{.session = SessionOf(request), .transaction = TransactionOf(request)});
      what += "ABORTED by script";
      return Failed({.code = Code::kAborted, .retry_after = Milliseconds(2), .message = {}});
    case FateKind::kSessionDeleted:
      server_.Serve(DeleteSession{.session = SessionOf(request)});
      break;
    case FateKind::kRivalCommits:
      CommitRival();
      break;
  }
  return serve();
}

// Makes the rival older than the script's transaction by a read that blocks nothing.
void ScriptedNetwork::BeginRival() {
  static const Sql kRead = Sql::Intern("SELECT writer FROM locktable WHERE name = 'a'");
  rival_session_ = server_.Serve(CreateSession{}).sessions.front().name;
  rival_ = server_
               .Serve(ExecuteSql{.session = rival_session_,
                                 .transaction = BeginReadWrite{},
                                 .statement = {.sql = kRead},
                                 .sequence_number = 1})
               .transaction;
}

void ScriptedNetwork::CommitRival() {
  const Response committed =
      server_.Serve(Commit{.session = rival_session_,
                           .transaction = rival_,
                           .mutations = {{.kind = MutationKind::kUpdate,
                                          .table = "locktable",
                                          .columns = {"name", "writer"},
                                          .rows = {{std::string("a"), std::string("rival")}}}}});
  if (!committed.status.ok()) throw std::runtime_error(FormatStatus(committed.status));
}

std::vector<std::string> ScriptedNetwork::transcript() const {
  const std::lock_guard lock(mutex_);
  return transcript_;
}

std::string ScriptedNetwork::SessionText(const SessionName& session) {
  return "s" + NumberOf(sessions_, session);
}

std::string ScriptedNetwork::TransactionText(const TransactionId& transaction) {
  return "t" + NumberOf(transactions_, transaction);
}

std::string ScriptedNetwork::Describe(const BeginReadWrite& begin) {
  std::string text = "begin";
  if (begin.lock_mode == LockMode::kOptimistic) text += " optimistic";
  if (!begin.previous.empty()) text += " after " + TransactionText(begin.previous);
  return text;
}

std::string ScriptedNetwork::Describe(const TransactionSelector& selector) {
  if (const auto* begin = std::get_if<BeginReadWrite>(&selector)) return Describe(*begin);
  if (const auto* id = std::get_if<TransactionId>(&selector)) return TransactionText(*id);
  return "single";
}

std::string ScriptedNetwork::Describe(const Request& request) {
  std::string text = SessionText(SessionOf(request)) + " ";
  if (const auto* execute = std::get_if<ExecuteSql>(&request)) {
    const std::string& sql = execute->statement.sql.text();
    return text + sql.substr(0, sql.find(' ')) + " " + Describe(execute->transaction) + " #" +
           std::to_string(execute->sequence_number);
  }
  text += RequestName(request);
  if (const auto* begin = std::get_if<BeginTransaction>(&request)) {
    text += " " + Describe(std::get<BeginReadWrite>(begin->options));
    if (!begin->mutation_key.empty()) text += " with a key";
  } else if (const auto* commit = std::get_if<Commit>(&request)) {
    text += " " + TransactionText(TransactionOf(request));
    if (!commit->mutations.empty()) {
      text += " with " + std::to_string(commit->mutations.size()) + " mutations";
    }
    if (!commit->precommit_token.empty()) text += " with a token";
  } else if (const auto* rollback = std::get_if<Rollback>(&request)) {
    text += " " + TransactionText(rollback->transaction);
  }
  return text;
}

std::string ScriptedNetwork::Describe(const Response& response) {
  std::string text(WordOf(response.status.code));
  if (!response.transaction.empty()) text += ", " + TransactionText(response.transaction);
  if (!response.precommit_token.empty()) text += ", a token";
  if (response.commit_timestamp != Timestamp()) text += ", a timestamp";
  return text;
}

}  // namespace whorl
