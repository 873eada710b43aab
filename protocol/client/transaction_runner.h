// The client's side of a transaction: turns a Transaction into the calls that a client library
// sends, and retries as that library does.
//
// Invariants:
//   1. One thing at a time: every step returns exactly one action (send a call, wait, finished).
//   2. A Commit is resent only under the same transaction id; what cannot be told is kUnknown.
//   3. Every retry starts with nothing heard, so the transaction's body is a pure function.
//   4. Retries are bounded by the policy's timeouts and the transaction's own give_up_at only; the
//      policy is a value.
//   5. A transaction that lost its session has no effect, unless a copy of its Commit was given up
//      before: then it is kUnknown, and is not run again.
// Source of the Go policy: cloud.google.com/go/spanner (transaction.go, client.go, retry.go) and
// Spanner's published gRPC service configuration.
// Deliberately left out: making and keeping sessions (session_pool.h).
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/client/backoff.h"
#include "protocol/client/transaction.h"
#include "protocol/machine.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"

namespace whorl {

enum class BeginAfterAborted : uint8_t { kInlined, kExplicit };
// An error of the statement that carries the begin.
enum class FirstError : uint8_t {
  kMasked,  // the body runs again after a BeginTransaction of its own, and only then is an error
            // one
  kTold,    // it is the transaction's error: nothing was committed, so nothing can have happened
};

struct RetryPolicy {
  Backoff aborted;             // when ABORTED carries no RetryInfo
  Backoff unary;               // of a call that ended UNAVAILABLE or RESOURCE_EXHAUSTED
  Backoff query;               // the same for a streaming query
  Duration statement_timeout;  // BeginTransaction, ExecuteSql of DML, Rollback; with its resends
  Duration query_timeout;
  Duration commit_timeout;
  BeginAfterAborted begin_after_aborted = BeginAfterAborted::kInlined;
  FirstError first_error = FirstError::kMasked;
  WHORL_FIELDS(RetryPolicy, aborted, unary, query, statement_timeout, query_timeout, commit_timeout,
               begin_after_aborted, first_error);
};
// What Go's client does without a deadline in its context.
RetryPolicy GoRetryPolicy();
// Ours: short pauses, and no error is masked. A protocol that uses it says in each transaction when
// to give up.
RetryPolicy OurRetryPolicy();

// The session under which a transaction runs. Without a name it is the process's own (rpc.h).
struct Session {
  SessionName name;
  bool multiplexed = true;
  WHORL_FIELDS(Session, name, multiplexed);
};

struct RunnerState {
  enum class Doing : uint8_t { kBegin, kStatement, kCommit, kRollback };

  Transaction transaction;
  Session session;
  bool session_lost = false;  // Spanner does not know `session` any more: nobody may use it
  Doing doing = Doing::kStatement;
  bool waiting = false;    // for a backoff, not for a reply
  uint16_t attempt = 0;    // how often it was begun
  uint16_t call = 0;       // calls sent in this attempt
  bool has_begun = false;  // transaction_id is Spanner's for this attempt
  bool resent = false;     // the current call was sent before
  TransactionId transaction_id;
  TransactionId previous;  // ABORTED attempt whose age the next begin inherits
  int64_t sequence_number = 0;
  std::string precommit_token;  // the newest heard in this attempt
  int32_t precommit_sequence = 0;
  bool confirms = false;  // the Commit is sent once more, for the token that answered the first
  Duration deadline;      // of the current call, resends included; local monotonic
  std::optional<Duration> commit_sent;      // first, in this attempt
  std::optional<Timestamp> read_timestamp;  // that the read was told
  Duration call_backoff;                    // current, of the current call
  Duration aborted_backoff;
  std::vector<StatementResult> heard;
  Status failure;  // that is being rolled back
  WHORL_FIELDS(RunnerState, transaction, session, session_lost, doing, waiting, attempt, call,
               has_begun, resent, transaction_id, previous, sequence_number, precommit_token,
               precommit_sequence, confirms, deadline, commit_sent, read_timestamp, call_backoff,
               aborted_backoff, heard, failure);
};

struct SendCall {
  StepName step = StepName::kCheck;
  uint16_t attempt = 0;
  uint16_t call = 0;
  Request request;
  Duration deadline;  // local monotonic; then the transport answers DEADLINE_EXCEEDED
  WHORL_FIELDS(SendCall, step, attempt, call, request, deadline);
};
struct WaitFor {
  Duration pause;
  WHORL_FIELDS(WaitFor, pause);
};
// The transaction has no session, or has lost the one it had (RunnerState::session_lost).
struct NeedSession {
  WHORL_NO_FIELDS(NeedSession);
};
struct Finished {
  TransactionResult result;
  WHORL_FIELDS(Finished, result);
};
using RunnerAction = std::variant<SendCall, WaitFor, Finished, NeedSession>;

// Whether the session of a call does not exist (any more). Spanner tells it by the text only.
bool IsSessionNotFound(const Status& status);

// Without a session the first action is NeedSession.
// REQUIRES: the transaction has a statement, or is kReadWrite and has a mutation.
RunnerAction StartRunner(const RetryPolicy& policy, RunnerState& state, Transaction transaction,
                         Duration now, std::optional<Session> session = Session{});
// The reply to the call that was sent last. The transport makes up UNAVAILABLE (the connection
// broke) and DEADLINE_EXCEEDED. REQUIRES: a call is out.
RunnerAction OnReply(const RetryPolicy& policy, RunnerState& state, Duration now, Entropy& entropy,
                     Response response);
// REQUIRES: the last action was WaitFor, and the pause is over.
RunnerAction OnWaited(const RetryPolicy& policy, RunnerState& state, Duration now,
                      Entropy& entropy);
// REQUIRES: the last action was NeedSession.
RunnerAction OnSession(const RetryPolicy& policy, RunnerState& state, Duration now,
                       Session session);
// The caller gives up, in whatever state but Finished; of a call that is out nothing more is heard.
// A transaction that has begun is rolled back, so that its locks do not wait for its idle timeout.
// Nothing: a rollback is under way already, and goes on. REQUIRES: OnReply is not called for the
// call that was out.
std::optional<RunnerAction> OnCancelled(const RetryPolicy& policy, RunnerState& state, Duration now,
                                        Status reason);
// There is none to be had. REQUIRES: the last action was NeedSession.
RunnerAction OnNoSession(RunnerState& state, Status status);

}  // namespace whorl
