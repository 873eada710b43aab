// Describes a transaction as a protocol requests it, and how it ended.
//
// A read-test-write transaction is a pure function of the results so far: Continue() says what to
// do next, and a retry starts again without any results.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"

namespace whorl {

enum class Mode : uint8_t {
  kStrongRead,  // one query, outside of any transaction
  kReadWrite,
};

struct TransactionStatement {
  StepName step;
  Statement statement;
  WHORL_FIELDS(TransactionStatement, step, statement);
};

// The test of a read-test-write transaction on a lock's row. The first statement is a query of
// owner (STRING), token (TIMESTAMP: the last sign of life, or the end of the lease) and the time to
// compare it with (CURRENT_TIMESTAMP, or the client's time). The transaction ends if the row has
// another owner and a token younger than `lease`, or a NULL. It goes on if there is no row, or if
// the row is the process's own, or old.
struct UnlessHeld {
  std::string me;
  Duration lease;
  WHORL_FIELDS(UnlessHeld, me, lease);
};
// The first statement is DML. If it changes no row, the transaction ends.
struct IfRowChanged {
  WHORL_NO_FIELDS(IfRowChanged);
};
struct NoTest {
  WHORL_NO_FIELDS(NoTest);
};
using Body = std::variant<NoTest, UnlessHeld, IfRowChanged>;

enum class HolderKind : uint8_t { kNone, kAnother, kUnreadable };
struct Holder {
  HolderKind kind = HolderKind::kNone;
  Duration age;  // for kAnother: the time minus the token; may be negative
};
// REQUIRES: each row has the columns that UnlessHeld names, in that order.
Holder HolderIn(const std::vector<Row>& rows, const UnlessHeld& test);

struct Transaction {
  StepName step;  // its begin, commit and outcome belong to this step
  Mode mode = Mode::kStrongRead;
  std::vector<TransactionStatement> statements;
  // For kReadWrite. Sent with the Commit, so that no statement sees their effect.
  std::vector<Mutation> mutations;
  Body body;                                    // for kReadWrite
  LockMode lock_mode = LockMode::kPessimistic;  // for kReadWrite
  bool return_read_timestamp = false;           // for kStrongRead
  // From this local monotonic time on, nothing but a Rollback is sent for it. Empty: only the
  // policy's timeouts bound it.
  std::optional<LocalInstant> give_up_at;
  WHORL_FIELDS(Transaction, step, mode, statements, mutations, body, lock_mode,
               return_read_timestamp, give_up_at);
};

// A transaction of one statement, which has the transaction's step. The caller sets the other
// fields.
Transaction OneStatement(StepName step, Mode mode, Sql sql, std::vector<Value> parameters);

struct SayStatement {
  size_t index = 0;  // in Transaction::statements
  WHORL_FIELDS(SayStatement, index);
};
struct SayCommit {
  WHORL_NO_FIELDS(SayCommit);
};
struct SayRollback {
  Status reason;
  WHORL_FIELDS(SayRollback, reason);
};
using Said = std::variant<SayStatement, SayCommit, SayRollback>;

// Statements run in order. After a statement fails, the statements that directly follow it and have
// `ignore_error` still run (as in a Go closure that cleans up before it returns its error); then
// the transaction is rolled back. An error of a statement with `ignore_error` does not count. If
// the body has a test, it is made as soon as the first statement has answered; a transaction that
// it ends, ends with FAILED_PRECONDITION, and its results show why.
// REQUIRES: heard.size() <= transaction.statements.size().
Said Continue(const Transaction& transaction, std::span<const StatementResult> heard);

enum class Outcome : uint8_t {
  kCommitted,  // or, for a read: answered
  kAborted,    // certainly without effect
  kUnknown,    // a Commit was sent, and its outcome could not be learned
};
constexpr auto WordTableOf(Outcome) {
  return MakeWordTable<Outcome>({
      {Outcome::kCommitted, "committed"},
      {Outcome::kAborted, "aborted"},
      {Outcome::kUnknown, "unknown"},
  });
}

struct TransactionResult {
  Outcome outcome = Outcome::kUnknown;
  Status status;                         // the reason why it did not commit
  std::vector<StatementResult> results;  // from the last attempt
  Timestamp commit_timestamp;            // for kCommitted and kReadWrite
  // Local monotonic time at which the last attempt first sent its Commit: the one that committed,
  // or whose outcome is unknown. Empty if that attempt sent none.
  std::optional<LocalInstant> commit_sent;
  std::optional<Timestamp> read_timestamp;  // for kStrongRead, if requested and answered
  uint16_t attempts = 0;  // the number of begins: above 1 if an attempt was ABORTED
  WHORL_FIELDS(TransactionResult, outcome, status, results, commit_timestamp, commit_sent,
               read_timestamp, attempts);
};

}  // namespace whorl
