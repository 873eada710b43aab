// The calls that a client makes to Spanner, and what it hears.
//
// Invariants:
//   1. A call names itself by content (CallName): the process, the lock, the transaction, its
//      attempt and its statement, never a global counter, so that states that mean the same are
//      the same. On the wire this is the request-id header that Google's clients send.
//   2. A TransactionId is opaque bytes that Spanner hands out; a client only sends them back.
// Deliberately left out, until something needs it: reads by key, batch DML, partitions.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"

namespace whorl {

// A process: one life of a node. Incarnation 0 is nobody (an operator, or a row of the start).
struct ProcessId {
  int16_t node = -1;
  uint32_t incarnation = 0;
  friend constexpr auto operator<=>(const ProcessId&, const ProcessId&) = default;
  WHORL_FIELDS(ProcessId, node, incarnation);
};

struct CallName {
  ProcessId process;
  uint16_t lock = 0;        // which of the process's locks
  uint16_t request = 0;     // which of the lock's transactions (RequestId)
  uint16_t generation = 0;  // raised when a call ended of which something may still be under way
  uint16_t attempt = 0;     // how often the transaction was begun
  uint16_t call = 0;        // which call of the attempt
  friend constexpr auto operator<=>(const CallName&, const CallName&) = default;
  WHORL_FIELDS(CallName, process, lock, request, generation, attempt, call);
};

using TransactionId = std::string;

// Where a statement runs: in a strong single-use read, in a read-write transaction that this call
// begins, or in one that has begun.
struct SingleUseRead {
  WHORL_NO_FIELDS(SingleUseRead);
};
struct BeginReadWrite {
  TransactionId previous;  // the ABORTED attempt whose age this one inherits; empty for none
  WHORL_FIELDS(BeginReadWrite, previous);
};
using TransactionSelector = std::variant<SingleUseRead, BeginReadWrite, TransactionId>;

struct ExecuteSql {
  TransactionSelector transaction;
  Statement statement;
  int64_t sequence_number = 0;  // of DML in its transaction; a repeated one is answered, not run
  WHORL_FIELDS(ExecuteSql, transaction, statement, sequence_number);
};
struct BeginTransaction {
  BeginReadWrite options;
  WHORL_FIELDS(BeginTransaction, options);
};
struct Commit {
  TransactionId transaction;
  WHORL_FIELDS(Commit, transaction);
};
struct Rollback {
  TransactionId transaction;
  WHORL_FIELDS(Rollback, transaction);
};
using Request = std::variant<ExecuteSql, BeginTransaction, Commit, Rollback>;
// "ExecuteSql", "BeginTransaction", "Commit", "Rollback".
std::string_view RequestName(const Request& request);

struct Response {
  Status status;
  TransactionId transaction;   // of the transaction that this call began, otherwise empty
  StatementResult result;      // of ExecuteSql
  Timestamp commit_timestamp;  // of Commit
  WHORL_FIELDS(Response, status, transaction, result, commit_timestamp);
};

}  // namespace whorl
