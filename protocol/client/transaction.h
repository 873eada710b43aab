// A transaction as a protocol asks for it, and how it ended.
//
// A read-test-write transaction is a pure function of what was heard so far: Continue() says the
// next thing to do, and a retry starts again with nothing heard.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/time.h"

namespace whorl {

enum class Mode : uint8_t {
  kStrongRead,  // one query, outside of any transaction
  kReadWrite,
};

struct TransactionStatement {
  StepName step = StepName::kCheck;
  Statement statement;
  WHORL_FIELDS(TransactionStatement, step, statement);
};

// The test of a read-test-write transaction on a lock's row. The first statement is a query of
// owner (STRING), token (TIMESTAMP: the last sign of life, or until when a lease lasts) and the
// time to judge by (CURRENT_TIMESTAMP, or the client's): the row of another owner whose token is
// younger than `lease` ends the transaction, and so does one with a NULL. No row at all, one's own,
// or an old one passes.
struct UnlessHeld {
  std::string me;
  Duration lease;
  WHORL_FIELDS(UnlessHeld, me, lease);
};
// The first statement is DML; when it changes no row, the transaction ends.
struct IfRowChanged {
  WHORL_NO_FIELDS(IfRowChanged);
};
struct NoTest {
  WHORL_NO_FIELDS(NoTest);
};
using Body = std::variant<NoTest, UnlessHeld, IfRowChanged>;

struct Holder {
  enum class Kind : uint8_t { kNone, kAnother, kUnreadable };

  Kind kind = Kind::kNone;
  Duration age;  // of kAnother: the time minus token, which may be negative
};
// REQUIRES: a row of `rows` has the columns that UnlessHeld names, in their order.
Holder HolderIn(const std::vector<Row>& rows, const UnlessHeld& test);

struct Transaction {
  StepName step = StepName::kCheck;  // to which its begin, commit and outcome belong
  Mode mode = Mode::kStrongRead;
  std::vector<TransactionStatement> statements;
  // Of kReadWrite: they go with the Commit, so no statement sees them.
  std::vector<Mutation> mutations;
  Body body;                                    // of kReadWrite
  LockMode lock_mode = LockMode::kPessimistic;  // of kReadWrite
  bool return_read_timestamp = false;           // of kStrongRead
  // Local monotonic time from which on nothing is sent for it any more, but a Rollback; nothing:
  // only the policy's timeouts bound it.
  std::optional<Duration> give_up_at;
  WHORL_FIELDS(Transaction, step, mode, statements, mutations, body, lock_mode,
               return_read_timestamp, give_up_at);
};

// A transaction of one statement, whose step is the transaction's. What else it is, the caller
// adds.
Transaction OneStatement(StepName step, Mode mode, Sql sql, std::vector<Value> parameters);

struct SayStatement {
  size_t index = 0;  // of Transaction::statements
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

// Statements run in their order. After one that failed, those that follow it directly and have
// `ignore_error` still run (a Go closure that cleans up before it returns its error), and then the
// transaction is rolled back. A failure of a statement with `ignore_error` is no failure. Where the
// body has a test, it is made as soon as the first statement has answered; what it ends, ends with
// FAILED_PRECONDITION, and its results tell why.
// REQUIRES: heard.size() <= transaction.statements.size().
Said Continue(const Transaction& transaction, std::span<const StatementResult> heard);

enum class Outcome : uint8_t {
  kCommitted,  // of a read: answered
  kAborted,    // certainly without effect
  kUnknown,    // a Commit was sent, and nothing certain was heard of it
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
  Status status;                         // why it did not commit
  std::vector<StatementResult> results;  // of the last attempt
  Timestamp commit_timestamp;            // when kCommitted and kReadWrite
  // Local monotonic time at which the Commit of the last attempt was sent first: the one that
  // committed, or whose outcome is unknown. Nothing when that attempt had none.
  std::optional<Duration> commit_sent;
  std::optional<Timestamp> read_timestamp;  // when kStrongRead, asked for, and answered
  WHORL_FIELDS(TransactionResult, outcome, status, results, commit_timestamp, commit_sent,
               read_timestamp);
};

}  // namespace whorl
