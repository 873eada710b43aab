// A sequence of calls to Spanner, to be made twice: of the model and of the official emulator.
//
// Invariants:
//   1. An operation names others (whose transaction it uses, whose commit timestamp it sends) by
//      their `id`, which stays when operations around it are removed. One that names an operation
//      that began or committed nothing is left out, on both sides.
//   2. A value that only a run knows is a placeholder (CommitTimeOf) until it is sent.
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
  kNone,       // the call says nothing of a transaction
  kSingleUse,  // read-only for statements and reads, read-write for Commit
  kBeginReadWrite,
  kBeginReadOnly,
  kOf,       // that operation `of` began
  kWrongId,  // an id that Spanner never gave
};
struct Selector {
  SelectorKind kind = SelectorKind::kNone;
  int of = 0;
  TimestampBound bound;
  bool return_read_timestamp = false;
  std::string wrong_id;
  bool optimistic = false;  // of kBeginReadWrite
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
  bool ordered = false;  // the order of the rows is asked for
  int64_t sequence_number = 0;
  std::vector<Call> calls;           // one, but for a batch
  std::vector<std::string> schema;   // of kDdl
  std::string table;                 // of a read
  std::vector<std::string> columns;  // of a read
  KeySet keys;                       // of a read
  int64_t limit = 0;                 // of a read
  std::vector<Mutation> mutations;   // of a commit
};
// Of SQL: those of a batch one by one.
int CountStatements(const Operation& operation);

struct Sequence {
  std::vector<std::string> schema;
  int sessions = 1;
  std::vector<Operation> operations;
};

// --- values that only a run knows ---------------------------------------------------------------

struct CommitTime {
  int operation = 0;
  int plus_microseconds = 0;  // -500..499
};
// Stands for a commit timestamp; a time of the year 5000, that nothing else here has.
Timestamp CommitTimeOf(CommitTime time);
std::optional<CommitTime> FindCommitTime(Timestamp timestamp);

// As a script of SQL that a person can read and follow.
std::string Describe(const Operation& operation);
std::string Describe(const Sequence& sequence);

}  // namespace whorl::differential
