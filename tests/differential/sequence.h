// Represents a sequence of calls to send to the model and to the official emulator.
//
// Invariants:
//   1. An operation refers to others (whose transaction it uses, whose commit timestamp it sends)
//      by their `id`, which does not change when other operations are removed. If the other began
//      or committed nothing, the operation is left out on both servers.
//   2. A value that is known only during a run is a placeholder (CommitTimeOf) until it is sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/spanner/mutation.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/value.h"

namespace whorl::differential {

enum class OperationKind : uint8_t {
  kDdl,
  kBegin,
  kExecute,
  kBatch,
  kRead,
  kCommit,
  kRollback,
  kDeleteSession,
};
inline constexpr int kOperationKinds = 8;
const char* KindName(OperationKind kind);

enum class SelectorKind : uint8_t {
  kNone,       // the call names no transaction
  kSingleUse,  // read-only for statements and reads, read-write for Commit
  kBeginReadWrite,
  kBeginReadOnly,
  kOf,       // the transaction that operation `of` began
  kWrongId,  // an id that Spanner never returned
};
struct Selector {
  SelectorKind kind = SelectorKind::kNone;
  int of = 0;
  TimestampBound bound;
  bool return_read_timestamp = false;
  std::string wrong_id;
  bool optimistic = false;  // for kBeginReadWrite
};

struct Input {
  std::string name;
  Type type = Type::kString;
  Value value;
  bool declared = true;  // sent with its type
};
struct Call {
  std::string sql;
  std::vector<Input> inputs;
};

struct Operation {
  int id = 0;
  OperationKind kind = OperationKind::kExecute;
  int session = 0;
  Selector transaction;
  bool streamed = false;
  bool ordered = false;  // the call requests an order of rows
  int64_t sequence_number = 0;
  std::vector<Call> calls;          // one, except for kBatch
  std::vector<std::string> schema;  // for kDdl
  std::string table;                // for kRead, as the next three
  std::vector<std::string> columns;
  KeySet keys;
  int64_t limit = 0;
  std::vector<Mutation> mutations;  // for kCommit
};
// The number of SQL statements; each statement of a batch counts.
int CountStatements(const Operation& operation);

struct Sequence {
  std::vector<std::string> schema;
  int sessions = 1;
  std::vector<Operation> operations;
};

// --- values that are known only during a run -----------------------------------------------------

struct CommitTime {
  int operation = 0;
  int plus_microseconds = 0;  // -500..499
};
// A placeholder for a commit timestamp: a time in the year 5000, which no other value has.
Timestamp CommitTimeOf(CommitTime time);
std::optional<CommitTime> FindCommitTime(Timestamp timestamp);

// A readable script of SQL.
std::string Describe(const Operation& operation);

}  // namespace whorl::differential
