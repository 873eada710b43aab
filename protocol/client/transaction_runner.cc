#include "protocol/client/transaction_runner.h"

#include <algorithm>
#include <new>
#include <utility>

namespace whorl {
namespace {

using Doing = RunnerState::Doing;

bool IsRetryableCall(Code code) {
  return code == Code::kUnavailable || code == Code::kResourceExhausted;
}

// A strong read, or the query that a body tests: a stream, which client libraries retry otherwise
// than DML.
bool IsQuery(const RunnerState& state) {
  if (state.transaction.mode == Mode::kStrongRead) return true;
  return state.doing == Doing::kStatement && state.heard.empty() &&
         std::holds_alternative<UnlessHeld>(state.transaction.body);
}

Duration TimeoutOf(const RetryPolicy& policy, const RunnerState& state) {
  if (state.doing == Doing::kCommit) return policy.commit_timeout;
  return IsQuery(state) ? policy.query_timeout : policy.statement_timeout;
}

const Backoff& BackoffOf(const RetryPolicy& policy, const RunnerState& state) {
  return IsQuery(state) ? policy.query : policy.unary;
}

BeginReadWrite BeginOptionsOf(const RunnerState& state) {
  BeginReadWrite options{.lock_mode = state.transaction.lock_mode};
  // A regular session hands the age on by itself.
  if (state.session.multiplexed) options.previous = state.previous;
  return options;
}

TransactionSelector SelectorOf(const RunnerState& state) {
  if (state.transaction.mode == Mode::kStrongRead) {
    return SingleUseRead{.bound = {},
                         .return_read_timestamp = state.transaction.return_read_timestamp};
  }
  if (!state.has_begun) return BeginOptionsOf(state);
  return state.transaction_id;
}

bool CarriesBegin(const RunnerState& state) {
  return state.transaction.mode == Mode::kReadWrite && !state.has_begun &&
         (state.doing == Doing::kBegin || state.doing == Doing::kStatement);
}

bool IsMutationsAlone(const RunnerState& state) {
  return state.transaction.mode == Mode::kReadWrite && state.transaction.statements.empty();
}

// One mutation for BeginTransaction, from which Spanner makes a precommit token: one that names an
// existing row where there is such a one, or else that with the most rows, as Go's client chooses.
std::vector<Mutation> MutationKeyOf(const RunnerState& state) {
  const std::vector<Mutation>& all = state.transaction.mutations;
  const bool wanted = state.session.multiplexed && !state.session.name.empty();
  if (!wanted || !IsMutationsAlone(state)) return {};
  const auto weight = [](const Mutation& mutation) {
    return std::pair(mutation.kind != MutationKind::kInsert, mutation.rows.size());
  };
  const auto chosen =
      std::max_element(all.begin(), all.end(),
                       [&](const Mutation& a, const Mutation& b) { return weight(a) < weight(b); });
  return {*chosen};
}

Commit CommitOf(const RunnerState& state) {
  Commit commit{.session = state.session.name,
                .transaction = state.transaction_id,
                .precommit_token = state.precommit_token,
                .precommit_sequence = state.precommit_sequence};
  // Spanner has kept the mutations of the Commit that it answered with a token.
  if (!state.confirms) commit.mutations = state.transaction.mutations;
  return commit;
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
                  .deadline = *state.deadline};
}

RunnerAction SendFirst(const RetryPolicy& policy, RunnerState& state, LocalInstant now,
                       Doing doing) {
  state.doing = doing;
  state.resent = false;
  state.call_backoff = Duration{};
  state.deadline = now + TimeoutOf(policy, state);
  if (doing != Doing::kRollback && state.transaction.give_up_at) {
    state.deadline = std::min(*state.deadline, *state.transaction.give_up_at);
  }
  if (doing == Doing::kStatement) ++state.sequence_number;
  if (doing == Doing::kCommit && !state.commit_sent) state.commit_sent = now;
  return Send(state);
}

RunnerAction Finish(RunnerState& state, Outcome outcome, Status status, Timestamp commit) {
  return Finished{.result = {.outcome = outcome,
                             .status = std::move(status),
                             .results = std::move(state.heard),
                             .commit_timestamp = commit,
                             .commit_sent = state.commit_sent,
                             .read_timestamp = state.read_timestamp,
                             .attempts = state.attempt}};
}

bool IsGivenUp(const RunnerState& state, LocalInstant now) {
  return state.transaction.give_up_at && now >= *state.transaction.give_up_at;
}

Status GivenUp() { return Error(Code::kDeadlineExceeded, "given up when its time was over"); }

// REQUIRES: nothing of the transaction can have been committed.
RunnerAction GiveUp(RunnerState& state) { return Finish(state, Outcome::kAborted, GivenUp(), {}); }

// Does what the body says after the last result.
RunnerAction GoOn(const RetryPolicy& policy, RunnerState& state, LocalInstant now, Said said) {
  if (IsGivenUp(state, now) && state.has_begun && !std::holds_alternative<SayRollback>(said)) {
    said = SayRollback{.reason = GivenUp()};
  }
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
  // Only a transaction without statements has not begun here.
  return SendFirst(policy, state, now, state.has_begun ? Doing::kCommit : Doing::kBegin);
}

// Forgets what this attempt heard; the next one inherits its age. Go inlines the next begin only
// when the old attempt had got an id: a BeginTransaction that failed is followed by another one.
void ForgetAttempt(const RetryPolicy& policy, RunnerState& state) {
  const bool inlined = state.has_begun && !IsMutationsAlone(state) &&
                       policy.begin_after_aborted == BeginAfterAborted::kInlined;
  const bool explicitly = state.transaction.mode == Mode::kReadWrite && !inlined;
  state.doing = explicitly ? Doing::kBegin : Doing::kStatement;
  if (state.has_begun) state.previous = std::move(state.transaction_id);
  state.transaction_id.clear();
  state.has_begun = false;
  state.resent = false;
  state.heard.clear();
  state.sequence_number = 0;
  state.precommit_token.clear();
  state.precommit_sequence = 0;
  state.confirms = false;
  state.commit_sent.reset();
}

// ABORTED: the whole transaction again, after the pause that Spanner or the policy asks for.
RunnerAction OnAborted(const RetryPolicy& policy, RunnerState& state, LocalInstant now,
                       Entropy& entropy, const Status& status) {
  ForgetAttempt(policy, state);
  const Duration drawn =
      DrawPause(policy.aborted, state.aborted_backoff, entropy, purposes::kAbortedBackoff);
  Duration pause = status.retry_after.value_or(drawn);
  if (IsGivenUp(state, now)) return GiveUp(state);
  if (state.transaction.give_up_at) {
    pause = std::min(pause, *state.transaction.give_up_at - now);
  }
  state.waiting = true;
  return WaitFor{.pause = pause};
}

// The whole transaction again, at once, on another session, which knows nothing of its age.
RunnerAction OnSessionLost(const RetryPolicy& policy, RunnerState& state, Status status) {
  state.session_lost = true;
  if (state.doing == Doing::kRollback) {
    return Finish(state, Outcome::kAborted, std::move(state.failure), {});
  }
  if (state.doing == Doing::kCommit && state.resent) {
    // The first copy may have committed before the session went.
    return Finish(state, Outcome::kUnknown, std::move(status), {});
  }
  ForgetAttempt(policy, state);
  state.previous.clear();
  return NeedSession{};
}

void KeepPrecommitToken(RunnerState& state, Response& response) {
  if (response.precommit_token.empty()) return;
  if (!state.precommit_token.empty() && response.precommit_sequence <= state.precommit_sequence) {
    return;
  }
  state.precommit_token = std::move(response.precommit_token);
  state.precommit_sequence = response.precommit_sequence;
}

// A Commit that was answered by a token has not committed; it is sent once more, with the token.
RunnerAction OnCommitToken(const RetryPolicy& policy, RunnerState& state, LocalInstant now,
                           Response& response) {
  if (state.confirms) {
    return Finish(state, Outcome::kUnknown,
                  Error(Code::kInternal, "Commit was answered by a precommit token twice"), {});
  }
  state.precommit_token = std::move(response.precommit_token);
  state.precommit_sequence = response.precommit_sequence;
  state.confirms = true;
  return SendFirst(policy, state, now, Doing::kCommit);
}

RunnerAction OnCommitReply(const RetryPolicy& policy, RunnerState& state, LocalInstant now,
                           Entropy& entropy, Response& response) {
  if (response.status.ok() && !response.precommit_token.empty()) {
    return OnCommitToken(policy, state, now, response);
  }
  if (response.status.ok()) {
    return Finish(state, Outcome::kCommitted, {}, response.commit_timestamp);
  }
  if (response.status.code == Code::kAborted) {
    return OnAborted(policy, state, now, entropy, response.status);
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

// The statement that carries the begin failed. Without an id there is nothing to roll back.
RunnerAction OnFirstError(const RetryPolicy& policy, RunnerState& state, LocalInstant now,
                          Entropy& entropy, const Status& status) {
  if (status.code == Code::kAborted) return OnAborted(policy, state, now, entropy, status);
  const Status error = status.ok() ? Error(Code::kInternal, "no transaction was begun") : status;
  return Finish(state, Outcome::kAborted, error, {});
}

RunnerAction OnStatementReply(const RetryPolicy& policy, RunnerState& state, LocalInstant now,
                              Entropy& entropy, Response& response) {
  if (CarriesBegin(state)) {
    const bool failed = !response.status.ok() || response.transaction.empty();
    if (failed && policy.first_error == FirstError::kReported) {
      return OnFirstError(policy, state, now, entropy, response.status);
    }
    if (failed) {
      // Go masks every error of a statement that carried the begin (and an answer without an id),
      // runs the body again at once, and begins explicitly.
      if (IsGivenUp(state, now)) return GiveUp(state);
      ForgetAttempt(policy, state);
      return SendFirst(policy, state, now, state.doing);
    }
    state.transaction_id = std::move(response.transaction);
    state.has_begun = true;
  }
  KeepPrecommitToken(state, response);
  state.read_timestamp = response.read_timestamp;
  if (state.heard.empty()) state.heard.reserve(state.transaction.statements.size());
  StatementResult& result = state.heard.emplace_back(std::move(response.result));
  result.status = std::move(response.status);
  Said said = Continue(state.transaction, state.heard);
  if (const auto* rollback = std::get_if<SayRollback>(&said)) {
    // Not rolled back: Spanner did that, and the retry wants the age.
    if (rollback->reason.code == Code::kAborted && state.transaction.mode == Mode::kReadWrite) {
      return OnAborted(policy, state, now, entropy, rollback->reason);
    }
  }
  return GoOn(policy, state, now, std::move(said));
}

RunnerAction OnBeginReply(const RetryPolicy& policy, RunnerState& state, LocalInstant now,
                          Entropy& entropy, Response& response) {
  if (response.status.code == Code::kAborted) {
    return OnAborted(policy, state, now, entropy, response.status);
  }
  if (response.status.ok() && response.transaction.empty()) {
    response.status = Error(Code::kUnknown, "BeginTransaction returned no transaction id");
  }
  if (!response.status.ok()) {
    return Finish(state, Outcome::kAborted, std::move(response.status), {});
  }
  state.transaction_id = std::move(response.transaction);
  state.has_begun = true;
  KeepPrecommitToken(state, response);
  return GoOn(policy, state, now, Continue(state.transaction, state.heard));
}

// The call that was sent last has ended, after whatever resends.
RunnerAction OnCallEnded(const RetryPolicy& policy, RunnerState& state, LocalInstant now,
                         Entropy& entropy, Response& response) {
  if (IsSessionNotFound(response.status)) {
    return OnSessionLost(policy, state, std::move(response.status));
  }
  switch (state.doing) {
    case Doing::kBegin:
      return OnBeginReply(policy, state, now, entropy, response);
    case Doing::kStatement:
      return OnStatementReply(policy, state, now, entropy, response);
    case Doing::kCommit:
      return OnCommitReply(policy, state, now, entropy, response);
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

RetryPolicy OurRetryPolicy() {
  const Backoff backoff = {
      .initial = Milliseconds(10), .growth_percent = 130, .max = Milliseconds(500)};
  return {.aborted = backoff,
          .unary = backoff,
          .query = backoff,
          .statement_timeout = Seconds(30),
          .query_timeout = Seconds(30),
          .commit_timeout = Seconds(30),
          .begin_after_aborted = BeginAfterAborted::kInlined,
          .first_error = FirstError::kReported};
}

Request RequestOf(const RunnerState& state) {
  Request request;
  PutRequest(state, request);
  return request;
}

void PutRequest(const RunnerState& state, Request& request) {
  switch (state.doing) {
    case Doing::kBegin:
      request = BeginTransaction{.session = state.session.name,
                                 .options = BeginOptionsOf(state),
                                 .mutation_key = MutationKeyOf(state)};
      return;
    case Doing::kCommit:
      request = CommitOf(state);
      return;
    case Doing::kRollback:
      request = Rollback{.session = state.session.name, .transaction = state.transaction_id};
      return;
    case Doing::kStatement:
      break;
  }
  auto* execute = std::get_if<ExecuteSql>(&request);
  if (execute == nullptr) execute = &request.emplace<ExecuteSql>();
  execute->session = state.session.name;
  execute->transaction = SelectorOf(state);
  execute->statement = state.transaction.statements[state.heard.size()].statement;
  execute->sequence_number = state.sequence_number;
}

RunnerAction StartRunner(const RetryPolicy& policy, RunnerState& state, Transaction&& transaction,
                         LocalInstant now, std::optional<Session> session) {
  state.transaction = std::move(transaction);
  if (IsMutationsAlone(state)) state.doing = Doing::kBegin;
  if (!session) return NeedSession{};
  return OnSession(policy, state, now, *std::move(session));
}

RunnerAction OnSession(const RetryPolicy& policy, RunnerState& state, LocalInstant now,
                       Session session) {
  state.session = std::move(session);
  state.session_lost = false;
  if (IsGivenUp(state, now)) return GiveUp(state);
  return SendFirst(policy, state, now, state.doing);
}

RunnerAction OnNoSession(RunnerState& state, Status status) {
  return Finish(state, Outcome::kAborted, std::move(status), {});
}

std::optional<RunnerAction> OnCancelled(const RetryPolicy& policy, RunnerState& state,
                                        LocalInstant now, Status reason) {
  if (state.doing == Doing::kRollback) return std::nullopt;
  state.waiting = false;
  if (state.doing == Doing::kCommit) {
    return Finish(state, Outcome::kUnknown, std::move(reason), {});
  }
  if (!state.has_begun) return Finish(state, Outcome::kAborted, std::move(reason), {});
  state.failure = std::move(reason);
  return SendFirst(policy, state, now, Doing::kRollback);
}

RunnerAction OnReply(const RetryPolicy& policy, RunnerState& state, LocalInstant now,
                     Entropy& entropy, Response&& response) {
  if (!IsRetryableCall(response.status.code)) {
    return OnCallEnded(policy, state, now, entropy, response);
  }
  const Duration drawn =
      DrawPause(BackoffOf(policy, state), state.call_backoff, entropy, purposes::kCallBackoff);
  const Duration pause = response.status.retry_after.value_or(drawn);
  state.waiting = true;
  state.resent = true;
  // A pause that would outlast the call's timeout is cut short by it.
  return WaitFor{.pause = std::min(pause, std::max(*state.deadline - now, Duration{}))};
}

RunnerAction OnWaited(const RetryPolicy& policy, RunnerState& state, LocalInstant now,
                      Entropy& entropy) {
  state.waiting = false;
  if (!state.resent) {
    if (IsGivenUp(state, now)) return GiveUp(state);
    return SendFirst(policy, state, now, state.doing);
  }
  if (now < *state.deadline) return Send(state);
  Response response;
  response.status = Error(Code::kDeadlineExceeded, "the call was retried until its timeout");
  return OnCallEnded(policy, state, now, entropy, response);
}

}  // namespace whorl
