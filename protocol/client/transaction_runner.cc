#include "protocol/client/transaction_runner.h"

#include <algorithm>
#include <utility>

namespace whorl {
namespace {

using Doing = RunnerState::Doing;

bool IsRetryableCall(Code code) {
  return code == Code::kUnavailable || code == Code::kResourceExhausted;
}

Duration TimeoutOf(const RetryPolicy& policy, const RunnerState& state) {
  if (state.doing == Doing::kCommit) return policy.commit_timeout;
  return state.transaction.mode == Mode::kStrongRead ? policy.query_timeout
                                                     : policy.statement_timeout;
}

const Backoff& BackoffOf(const RetryPolicy& policy, const RunnerState& state) {
  return state.transaction.mode == Mode::kStrongRead ? policy.query : policy.unary;
}

Duration DrawPause(const Backoff& backoff, Duration& current, Entropy& entropy, Purpose purpose) {
  if (current.ns == 0) current = backoff.initial;
  const Duration pause{entropy.Between(purpose, 1, current.ns)};
  current = std::min(backoff.max, Duration{current.ns / 100 * backoff.growth_percent});
  return pause;
}

TransactionSelector SelectorOf(const RunnerState& state) {
  if (state.transaction.mode == Mode::kStrongRead) return SingleUseRead{};
  if (!state.has_begun) return BeginReadWrite{.previous = state.previous};
  return state.transaction_id;
}

bool CarriesBegin(const RunnerState& state) {
  return state.transaction.mode == Mode::kReadWrite && !state.has_begun &&
         (state.doing == Doing::kBegin || state.doing == Doing::kStatement);
}

Request RequestOf(const RunnerState& state) {
  switch (state.doing) {
    case Doing::kBegin:
      return BeginTransaction{.options = BeginReadWrite{.previous = state.previous}};
    case Doing::kCommit:
      return Commit{.transaction = state.transaction_id};
    case Doing::kRollback:
      return Rollback{.transaction = state.transaction_id};
    case Doing::kStatement:
      break;
  }
  return ExecuteSql{.transaction = SelectorOf(state),
                    .statement = state.transaction.statements[state.heard.size()].statement,
                    .sequence_number = state.sequence_number};
}

StepName StepOf(const RunnerState& state) {
  return state.doing == Doing::kStatement ? state.transaction.statements[state.heard.size()].step
                                          : state.transaction.step;
}

// Sends the call that `doing` names. A call that carries a begin starts a new attempt, a resent
// one too: Spanner cannot tell that it began the transaction before. Every sending has a name of
// its own, so that the reply to a copy that was given up is not taken for the reply to the next.
RunnerAction Send(RunnerState& state) {
  if (CarriesBegin(state)) {
    ++state.attempt;
    state.call = 0;
  } else {
    ++state.call;
  }
  return SendCall{.step = StepOf(state),
                  .attempt = state.attempt,
                  .call = state.call,
                  .request = RequestOf(state),
                  .deadline = state.deadline};
}

RunnerAction SendFirst(const RetryPolicy& policy, RunnerState& state, Duration now, Doing doing) {
  state.doing = doing;
  state.resent = false;
  state.call_backoff = Duration{};
  state.deadline = now + TimeoutOf(policy, state);
  if (doing == Doing::kStatement) ++state.sequence_number;
  return Send(state);
}

RunnerAction Finish(RunnerState& state, Outcome outcome, Status status, Timestamp commit) {
  return Finished{.result = {.outcome = outcome,
                             .status = std::move(status),
                             .results = std::move(state.heard),
                             .commit_timestamp = commit}};
}

// What the body says next, now that `heard` has grown.
RunnerAction GoOn(const RetryPolicy& policy, RunnerState& state, Duration now) {
  Said said = Continue(state.transaction, state.heard);
  if (std::holds_alternative<SayStatement>(said)) {
    return SendFirst(policy, state, now, Doing::kStatement);
  }
  if (auto* rollback = std::get_if<SayRollback>(&said)) {
    if (state.transaction.mode == Mode::kStrongRead || !state.has_begun) {
      return Finish(state, Outcome::kAborted, std::move(rollback->reason), {});
    }
    state.failure = std::move(rollback->reason);
    return SendFirst(policy, state, now, Doing::kRollback);
  }
  if (state.transaction.mode == Mode::kStrongRead) {
    return Finish(state, Outcome::kCommitted, {}, {});
  }
  return SendFirst(policy, state, now, Doing::kCommit);
}

// Forgets what this attempt heard; the next one inherits its age.
void ForgetAttempt(RunnerState& state) {
  if (state.has_begun) state.previous = std::move(state.transaction_id);
  state.transaction_id.clear();
  state.has_begun = false;
  state.heard.clear();
  state.sequence_number = 0;
}

RunnerAction BeginAgain(const RetryPolicy& policy, RunnerState& state, Duration now, bool inlined) {
  return SendFirst(policy, state, now, inlined ? Doing::kStatement : Doing::kBegin);
}

// ABORTED: the whole transaction again, after the pause that Spanner or the policy asks for.
RunnerAction OnAborted(const RetryPolicy& policy, RunnerState& state, Entropy& entropy,
                       const Status& status) {
  // Go inlines the begin only when the old attempt had got an id: a BeginTransaction that was
  // ABORTED is followed by another one.
  const bool inlined = state.has_begun && policy.begin_after_aborted == BeginAfterAborted::kInlined;
  ForgetAttempt(state);
  state.doing = inlined ? Doing::kStatement : Doing::kBegin;
  state.resent = false;
  state.waiting = true;
  const Duration drawn =
      DrawPause(policy.aborted, state.aborted_backoff, entropy, Purpose::kAbortedBackoff);
  return WaitFor{.pause = status.retry_after.value_or(drawn)};
}

RunnerAction OnCommitReply(const RetryPolicy& policy, RunnerState& state, Entropy& entropy,
                           Response& response) {
  if (response.status.ok()) {
    return Finish(state, Outcome::kCommitted, {}, response.commit_timestamp);
  }
  if (response.status.code == Code::kAborted) {
    return OnAborted(policy, state, entropy, response.status);
  }
  // An error that Spanner found is certain; one that the way there or back may have made is not,
  // nor is the answer to a resent Commit, whose first copy may have done its work.
  const Code code = response.status.code;
  const bool certain =
      !state.resent &&
      (code == Code::kAlreadyExists || code == Code::kFailedPrecondition ||
       code == Code::kInvalidArgument || code == Code::kNotFound || code == Code::kOutOfRange);
  return Finish(state, certain ? Outcome::kAborted : Outcome::kUnknown, std::move(response.status),
                {});
}

RunnerAction OnStatementReply(const RetryPolicy& policy, RunnerState& state, Duration now,
                              Entropy& entropy, Response& response) {
  if (CarriesBegin(state)) {
    if (!response.status.ok() || response.transaction.empty()) {
      // Go masks every error of a statement that carried the begin (and an answer without an id),
      // runs the body again at once, and begins explicitly.
      ForgetAttempt(state);
      return BeginAgain(policy, state, now, /*inlined=*/false);
    }
    state.transaction_id = std::move(response.transaction);
    state.has_begun = true;
  }
  StatementResult result = std::move(response.result);
  result.status = std::move(response.status);
  state.heard.push_back(std::move(result));
  Said said = Continue(state.transaction, state.heard);
  if (const auto* rollback = std::get_if<SayRollback>(&said)) {
    // Not rolled back: Spanner did that, and the retry wants the age.
    if (rollback->reason.code == Code::kAborted && state.transaction.mode == Mode::kReadWrite) {
      return OnAborted(policy, state, entropy, Status(rollback->reason));
    }
  }
  return GoOn(policy, state, now);
}

RunnerAction OnBeginReply(const RetryPolicy& policy, RunnerState& state, Duration now,
                          Entropy& entropy, Response& response) {
  if (response.status.code == Code::kAborted) {
    return OnAborted(policy, state, entropy, response.status);
  }
  if (response.status.ok() && response.transaction.empty()) {
    response.status = Error(Code::kUnknown, "BeginTransaction returned no transaction id");
  }
  if (!response.status.ok()) {
    return Finish(state, Outcome::kAborted, std::move(response.status), {});
  }
  state.transaction_id = std::move(response.transaction);
  state.has_begun = true;
  return GoOn(policy, state, now);
}

// The call that was sent last has ended, after whatever resends.
RunnerAction OnCallEnded(const RetryPolicy& policy, RunnerState& state, Duration now,
                         Entropy& entropy, Response& response) {
  switch (state.doing) {
    case Doing::kBegin:
      return OnBeginReply(policy, state, now, entropy, response);
    case Doing::kStatement:
      return OnStatementReply(policy, state, now, entropy, response);
    case Doing::kCommit:
      return OnCommitReply(policy, state, entropy, response);
    case Doing::kRollback:
      break;
  }
  // However the rollback went, the transaction had no effect.
  return Finish(state, Outcome::kAborted, std::move(state.failure), {});
}

}  // namespace

RetryPolicy GoRetryPolicy() {
  const Backoff stream{.initial = Milliseconds(20), .growth_percent = 130, .max = Seconds(32)};
  return {.aborted = stream,
          .unary = {.initial = Milliseconds(250), .growth_percent = 130, .max = Seconds(32)},
          .query = stream,
          .statement_timeout = Seconds(30),
          .query_timeout = Seconds(3600),
          .commit_timeout = Seconds(3600),
          .begin_after_aborted = BeginAfterAborted::kInlined};
}

RunnerAction StartRunner(const RetryPolicy& policy, RunnerState& state, Transaction transaction,
                         Duration now) {
  state = RunnerState{};
  state.transaction = std::move(transaction);
  return GoOn(policy, state, now);
}

RunnerAction OnReply(const RetryPolicy& policy, RunnerState& state, Duration now, Entropy& entropy,
                     Response response) {
  if (!IsRetryableCall(response.status.code)) {
    return OnCallEnded(policy, state, now, entropy, response);
  }
  const Duration pause =
      DrawPause(BackoffOf(policy, state), state.call_backoff, entropy, Purpose::kCallBackoff);
  state.waiting = true;
  state.resent = true;
  // A pause that would outlast the call's timeout is cut short by it.
  return WaitFor{.pause = std::min(pause, std::max(state.deadline - now, Duration{}))};
}

RunnerAction OnWaited(const RetryPolicy& policy, RunnerState& state, Duration now,
                      Entropy& entropy) {
  state.waiting = false;
  if (!state.resent) {
    return BeginAgain(policy, state, now, /*inlined=*/state.doing == Doing::kStatement);
  }
  if (now < state.deadline) return Send(state);
  Response response;
  response.status = Error(Code::kDeadlineExceeded, "the call was retried until its timeout");
  return OnCallEnded(policy, state, now, entropy, response);
}

}  // namespace whorl
