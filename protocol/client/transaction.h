// A transaction as a protocol asks for it, and how it ended.
//
// A read-test-write transaction is a pure function of what was heard so far: Continue() says the
// next thing to do, and a retry starts again with nothing heard.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
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

struct Transaction {
  StepName step = StepName::kCheck;  // to which its begin, commit and outcome belong
  Mode mode = Mode::kStrongRead;
  std::vector<TransactionStatement> statements;
  // Of kReadWrite: they go with the Commit, so no statement sees them.
  std::vector<Mutation> mutations;
  LockMode lock_mode = LockMode::kPessimistic;  // of kReadWrite
  bool return_read_timestamp = false;           // of kStrongRead
  // Local monotonic time from which on nothing is sent for it any more, but a Rollback; nothing:
  // only the policy's timeouts bound it.
  std::optional<Duration> give_up_at;
  WHORL_FIELDS(Transaction, step, mode, statements, mutations, lock_mode, return_read_timestamp,
               give_up_at);
};

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
// transaction is rolled back. A failure of a statement with `ignore_error` is no failure.
// REQUIRES: heard.size() <= transaction.statements.size().
Said Continue(const Transaction& transaction, std::span<const StatementResult> heard);

enum class Outcome : uint8_t {
  kCommitted,  // of a read: answered
  kAborted,    // certainly without effect
  kUnknown,    // a Commit was sent, and nothing certain was heard of it
};
std::string_view OutcomeText(Outcome outcome);

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
