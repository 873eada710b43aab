// The client's side of a transaction: turns a Transaction into the calls that a client library
// sends, and retries like that library.
//
// Invariants:
//   1. One thing at a time: every step returns exactly one action (send a call, wait, finished).
//   2. A Commit is resent only under the same transaction id; if its outcome cannot be learned, it
//      is kUnknown.
//   3. Every retry starts without any results, so the transaction's body is a pure function.
//   4. Only the policy's timeouts and the transaction's give_up_at bound retries; the policy is a
//      value.
//   5. A transaction that lost its session has no effect, unless the runner had already given up
//      waiting for a copy of its Commit: then it is kUnknown, and is not run again.
// Source of the Go policy: cloud.google.com/go/spanner (transaction.go, client.go, retry.go) and
// Spanner's published gRPC service configuration.
// Deliberately left out: creating and keeping sessions (session_pool.h).
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
// How the client treats an error of the statement that begins the transaction.
enum class FirstError : uint8_t {
  kMasked,    // the body runs again after a separate BeginTransaction; only an error there counts
  kReported,  // it is the transaction's error: nothing was committed, so there is no effect
};

struct RetryPolicy {
  Backoff aborted;             // if ABORTED carries no RetryInfo
  Backoff unary;               // after UNAVAILABLE or RESOURCE_EXHAUSTED
  Backoff query;               // the same for a streaming query
  Duration statement_timeout;  // BeginTransaction, ExecuteSql with DML, Rollback; includes resends
  Duration query_timeout;
  Duration commit_timeout;
  BeginAfterAborted begin_after_aborted = BeginAfterAborted::kInlined;
  FirstError first_error = FirstError::kMasked;
  WHORL_FIELDS(RetryPolicy, aborted, unary, query, statement_timeout, query_timeout, commit_timeout,
               begin_after_aborted, first_error);
};
// Go's client, without a deadline in its context.
RetryPolicy GoRetryPolicy();
// Ours: short pauses, and no error is masked. A protocol that uses it sets give_up_at in each
// transaction.
RetryPolicy OurRetryPolicy();

// The session of a transaction. Without a name it is the process's own (rpc.h).
struct Session {
  SessionName name;
  bool multiplexed = true;
  WHORL_FIELDS(Session, name, multiplexed);
};

struct RunnerState {
  enum class Doing : uint8_t { kBegin, kStatement, kCommit, kRollback };

  Transaction transaction;
  Session session;
  bool session_lost = false;  // Spanner no longer knows `session`: it must not be used
  Doing doing = Doing::kStatement;
  bool waiting = false;    // for the end of a backoff, not for a reply
  uint16_t attempt = 0;    // number of begins
  uint16_t call = 0;       // calls sent in this attempt
  bool has_begun = false;  // transaction_id is Spanner's for this attempt
  bool resent = false;     // the current call was sent before
  TransactionId transaction_id;
  TransactionId previous;  // ABORTED attempt whose age the next begin inherits
  int64_t sequence_number = 0;
  SharedText precommit_token;  // the newest heard in this attempt
  int32_t precommit_sequence = 0;
  bool confirms = false;  // the Commit is being sent again, with the token from the first answer
  // For the current call with its resends; local monotonic. Empty before the first call.
  std::optional<LocalInstant> deadline;
  std::optional<LocalInstant> commit_sent;  // when this attempt first sent its Commit
  std::optional<Timestamp> read_timestamp;  // as Spanner returned it
  Duration call_backoff;                    // for the current call
  Duration aborted_backoff;
  std::vector<StatementResult> heard;
  Status failure;  // the reason for the Rollback
  WHORL_FIELDS(RunnerState, transaction, session, session_lost, doing, waiting, attempt, call,
               has_begun, resent, transaction_id, previous, sequence_number, precommit_token,
               precommit_sequence, confirms, deadline, commit_sent, read_timestamp, call_backoff,
               aborted_backoff, heard, failure);
};

struct SendCall {  // RequestOf is its request
  StepName step;
  uint16_t attempt = 0;
  uint16_t call = 0;
  LocalInstant deadline;  // local monotonic; then the transport answers DEADLINE_EXCEEDED
  WHORL_FIELDS(SendCall, step, attempt, call, deadline);
};
struct WaitFor {
  Duration pause;
  WHORL_FIELDS(WaitFor, pause);
};
// The transaction has no session, or has lost it (RunnerState::session_lost).
struct NeedSession {
  WHORL_NO_FIELDS(NeedSession);
};
struct Finished {
  TransactionResult result;
  WHORL_FIELDS(Finished, result);
};
using RunnerAction = std::variant<SendCall, WaitFor, Finished, NeedSession>;

// True if the session of a call does not exist, or no longer does. Only Spanner's message says so.
bool IsSessionNotFound(const Status& status);

// The request of the call that is to be sent. REQUIRES: the last action was SendCall.
Request RequestOf(const RunnerState& state);
// Replaces `request` by it, and uses the storage of the one before.
void PutRequest(const RunnerState& state, Request& request);

// Without a session the first action is NeedSession.
// REQUIRES: `state` is new; the transaction has a statement, or is kReadWrite and has a mutation.
RunnerAction StartRunner(const RetryPolicy& policy, RunnerState& state, Transaction&& transaction,
                         LocalInstant now, std::optional<Session> session = Session{});
// The reply to the last call. The transport itself produces UNAVAILABLE (the connection broke) and
// DEADLINE_EXCEEDED. REQUIRES: a call is under way.
RunnerAction OnReply(const RetryPolicy& policy, RunnerState& state, LocalInstant now,
                     Entropy& entropy, Response&& response);
// REQUIRES: the last action was WaitFor, and the pause is over.
RunnerAction OnWaited(const RetryPolicy& policy, RunnerState& state, LocalInstant now,
                      Entropy& entropy);
// REQUIRES: the last action was NeedSession.
RunnerAction OnSession(const RetryPolicy& policy, RunnerState& state, LocalInstant now,
                       Session session);
// The caller gives up. A transaction that has begun is rolled back, so that it does not keep its
// locks until it has been idle for too long. Returns nothing if a rollback is already under way; it
// goes on. REQUIRES: the last action was not Finished; OnReply is not called for a call that was
// under way.
std::optional<RunnerAction> OnCancelled(const RetryPolicy& policy, RunnerState& state,
                                        LocalInstant now, Status reason);
// No session is available. REQUIRES: the last action was NeedSession.
RunnerAction OnNoSession(RunnerState& state, Status status);

}  // namespace whorl
