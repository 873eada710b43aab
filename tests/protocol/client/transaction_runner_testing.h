// Lets a test drive a client library's transaction. Every verb says what happened; `did` keeps one
// line for each thing that the runner did:
//
//   Client client;
//   client.Runs(InsertTransaction());
//   client.HearsAnswer("t1").HearsCommit(At(Seconds(1)));
//   EXPECT_THAT(client.did, ElementsAre("INSERT begin seq=1", "Commit t1", "committed"));
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/client/transaction_runner.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl {

class Client {
 public:
  explicit Client(RetryPolicy policy = GoRetryPolicy()) : policy_(policy) {}

  Client& Runs(Transaction transaction) {
    state = {};
    return Does(StartRunner(policy_, state, std::move(transaction), now));
  }
  Client& RunsWithoutSession(Transaction transaction) {
    state = {};
    return Does(StartRunner(policy_, state, std::move(transaction), now, std::nullopt));
  }
  // The session that the runner asked for.
  Client& Gets(SessionName name, bool multiplexed) {
    EXPECT_TRUE(std::holds_alternative<NeedSession>(last)) << "no session was asked for";
    return Does(OnSession(policy_, state, now, {std::move(name), multiplexed}));
  }
  Client& GetsNone(Code code) {
    EXPECT_TRUE(std::holds_alternative<NeedSession>(last)) << "no session was asked for";
    return Does(OnNoSession(state, Error(code, "no session")));
  }
  Client& IsCancelled() {
    auto action = OnCancelled(policy_, state, now, Error(Code::kCancelled, "the caller gave up"));
    EXPECT_TRUE(action.has_value()) << "a rollback is under way";
    return action ? Does(*std::move(action)) : *this;
  }
  Client& HearsSessionNotFound() {
    return HearsError(Code::kNotFound, "Session not found: projects/p/instances/i/databases/d/s");
  }
  // As HearsAnswer, with a precommit token.
  Client& HearsToken(std::string token, int32_t sequence, std::string id = {}) {
    return Hears({.transaction = std::move(id),
                  .precommit_token = std::move(token),
                  .precommit_sequence = sequence});
  }
  // The statement or BeginTransaction that is out began (or belongs to) transaction `id`.
  Client& HearsAnswer(std::string id = {}) { return Hears({.transaction = std::move(id)}); }
  Client& HearsCommit(Timestamp at) { return Hears({.commit_timestamp = at}); }
  Client& HearsError(Code code, std::string message = {}) {
    return Hears({.status = Error(code, std::move(message))});
  }
  Client& HearsAborted(std::optional<Duration> retry_after = std::nullopt) {
    return Hears({.status = {.code = Code::kAborted, .retry_after = retry_after, .message = {}}});
  }
  Client& Hears(Response response) {
    EXPECT_TRUE(std::holds_alternative<SendCall>(last)) << "no call is out";
    return Does(OnReply(policy_, state, now, entropy, std::move(response)));
  }
  // Lets the pause pass that the runner asked for.
  Client& Waits() {
    const auto* wait = std::get_if<WaitFor>(&last);
    EXPECT_NE(wait, nullptr) << "nothing to wait for";
    if (wait == nullptr) return *this;
    now += wait->pause;
    return Does(OnWaited(policy_, state, now, entropy));
  }
  // Time passes while a call is out.
  Client& Later(Duration duration) {
    now += duration;
    return *this;
  }

  const SendCall& Sent() const { return std::get<SendCall>(last); }
  // Attempt and call of what was sent last.
  std::pair<int, int> Name() const { return {Sent().attempt, Sent().call}; }
  const TransactionResult& Result() const { return std::get<Finished>(last).result; }
  bool IsFinished() const { return std::holds_alternative<Finished>(last); }

  RunnerState state;
  ScriptedEntropy entropy;
  LocalInstant now =
      LocalInstant{} + Seconds(100);  // not zero, so that a deadline is seen to count from now
  RunnerAction last;
  std::vector<std::string> did;

 private:
  static std::string Selected(const TransactionSelector& selector) {
    if (std::holds_alternative<SingleUseRead>(selector)) return "single";
    if (const auto* id = std::get_if<TransactionId>(&selector)) return id->str();
    return "begin" + After(std::get<BeginReadWrite>(selector));
  }
  static std::string After(const BeginReadWrite& begin) {
    std::string text = begin.lock_mode == LockMode::kOptimistic ? " optimistic" : "";
    if (!begin.previous.empty()) text += " after " + begin.previous;
    return text;
  }
  static std::string Tables(std::string_view what, const std::vector<Mutation>& mutations) {
    std::string text;
    for (const Mutation& mutation : mutations) text += std::string(what) + mutation.table;
    return text;
  }
  static std::string Text(const Request& request) {
    const std::string session = SessionOf(request).empty() ? "" : SessionOf(request) + ": ";
    if (const auto* execute = std::get_if<ExecuteSql>(&request)) {
      return session + execute->statement.sql.text() + " " + Selected(execute->transaction) +
             " seq=" + std::to_string(execute->sequence_number);
    }
    if (const auto* begin = std::get_if<BeginTransaction>(&request)) {
      return session + "BeginTransaction" + After(std::get<BeginReadWrite>(begin->options)) +
             Tables(" key=", begin->mutation_key);
    }
    if (const auto* commit = std::get_if<Commit>(&request)) {
      const bool token = !commit->precommit_token.empty();
      return session + "Commit " + std::get<TransactionId>(commit->transaction) +
             Tables(" +", commit->mutations) + (token ? " token=" + commit->precommit_token : "");
    }
    return session + "Rollback " + std::get<Rollback>(request).transaction;
  }
  std::string Text(const RunnerAction& action) const {
    if (std::holds_alternative<SendCall>(action)) return Text(RequestOf(state));
    if (const auto* wait = std::get_if<WaitFor>(&action)) {
      return "wait " + FormatDuration(wait->pause);
    }
    if (std::holds_alternative<NeedSession>(action)) return "need session";
    const TransactionResult& result = std::get<Finished>(action).result;
    std::string text(WordOf(result.outcome));
    if (!result.status.ok()) text += " " + std::string(WordOf(result.status.code));
    return text;
  }
  Client& Does(RunnerAction action) {
    last = std::move(action);
    did.push_back(Text(last));
    return *this;
  }

  RetryPolicy policy_;
};

class RunnerFixture : public testing::Test {
 protected:
  Client client;
};

}  // namespace whorl
