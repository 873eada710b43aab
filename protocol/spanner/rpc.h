// The calls that a client makes to Spanner, and their answers.
//
// Invariants:
//   1. A call names itself by content (CallName): the process, the lock, the transaction, its
//      attempt and its statement, never a global counter, so that states that mean the same are
//      the same. On the wire this is the request-id header that Google's clients send.
//   2. A TransactionId is opaque bytes that Spanner hands out; a client only sends them back.
//   3. A call names its session as the wire does; the simulated clients use their own (empty).
// Deliberately left out, until something needs it: partitions, partitioned DML, batch write,
// REPEATABLE READ.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/shared_text.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"

namespace whorl {

// A process: one life of a node. Incarnation 0 is no process: an operator, or the rows that
// are there at the start.
struct ProcessId {
  int16_t node = -1;
  uint32_t incarnation = 0;
  friend constexpr auto operator<=>(const ProcessId&, const ProcessId&) = default;
  WHORL_FIELDS(ProcessId, node, incarnation);
};

struct CallName {
  ProcessId process;
  uint16_t lock = 0;     // which of the process's locks
  uint16_t request = 0;  // which of the lock's transactions (RequestId)
  // Another one for each transaction of the process: a request id is used again while calls of its
  // last transaction may be under way, or Spanner may still keep that transaction's locks.
  uint32_t generation = 0;
  uint16_t attempt = 0;  // how often the transaction was begun
  uint16_t call = 0;     // which call of the attempt
  friend constexpr auto operator<=>(const CallName&, const CallName&) = default;
  WHORL_FIELDS(CallName, process, lock, request, generation, attempt, call);
};

using TransactionId = SharedText;
// As Spanner names it (projects/p/instances/i/databases/d/sessions/s). Empty: the calling process's
// own session, which is multiplexed, needs no precommit tokens, and is always there.
using SessionName = SharedText;

// --- when and how a transaction reads ------------------------------------------------------------

// The point in time whose rows a read sees.
enum class BoundKind : uint8_t {
  kStrong,            // all commits from before the start of the read
  kReadTimestamp,     // exactly `timestamp`
  kMinReadTimestamp,  // some time not before `timestamp`; single-use only
  kExactStaleness,    // exactly `staleness` ago
  kMaxStaleness,      // some time not longer than `staleness` ago; single-use only
};
struct TimestampBound {
  BoundKind kind = BoundKind::kStrong;
  Timestamp timestamp;
  Duration staleness;
  WHORL_FIELDS(TimestampBound, kind, timestamp, staleness);
};

enum class LockMode : uint8_t {
  kPessimistic,  // what is read is locked until the end
  kOptimistic,   // nothing is locked before Commit, which checks that what was read has not changed
};

struct SingleUseRead {
  TimestampBound bound;
  bool return_read_timestamp = false;
  WHORL_FIELDS(SingleUseRead, bound, return_read_timestamp);
};
struct BeginReadOnly {
  TimestampBound bound;
  bool return_read_timestamp = false;
  WHORL_FIELDS(BeginReadOnly, bound, return_read_timestamp);
};
enum class Isolation : uint8_t {
  kUnspecified,  // the database's default
  kSerializable,
  // Reads are as of one time and lock nothing; only what the transaction writes must not have
  // changed since then. Whatever lock mode it has.
  kRepeatableRead,
};

struct BeginReadWrite {
  // The ABORTED attempt whose age this one inherits; empty if there is none. On a regular session
  // Spanner knows it without being told.
  TransactionId previous;
  LockMode lock_mode = LockMode::kPessimistic;
  Isolation isolation = Isolation::kUnspecified;
  WHORL_FIELDS(BeginReadWrite, previous, lock_mode, isolation);
};
// Where a statement or a read runs: by itself, in a transaction that this call begins, or in one
// that has begun.
using TransactionSelector =
    std::variant<SingleUseRead, BeginReadWrite, TransactionId, BeginReadOnly>;

// A read-write transaction that consists of one Commit. If sent twice, it may be executed twice.
struct SingleUseWrite {
  WHORL_NO_FIELDS(SingleUseWrite);
};

// --- requests -----------------------------------------------------------------------------------

struct ExecuteSql {
  SessionName session;
  TransactionSelector transaction;
  Statement statement;
  // For DML: Spanner answers a repeated number, but does not run the statement again.
  int64_t sequence_number = 0;
  WHORL_FIELDS(ExecuteSql, session, transaction, statement, sequence_number);
};
struct BeginTransaction {
  SessionName session;
  std::variant<BeginReadWrite, BeginReadOnly> options;
  // For a transaction that has only mutations, on a multiplexed session: one of them, so that the
  // answer brings a precommit token. Otherwise empty.
  std::vector<Mutation> mutation_key;
  WHORL_FIELDS(BeginTransaction, session, options, mutation_key);
};
struct Commit {
  SessionName session;
  std::variant<TransactionId, SingleUseWrite> transaction;
  std::vector<Mutation> mutations;
  SharedText precommit_token;  // the newest one heard, on a multiplexed session
  int32_t precommit_sequence = 0;
  WHORL_FIELDS(Commit, session, transaction, mutations, precommit_token, precommit_sequence);
};
struct Rollback {
  SessionName session;
  TransactionId transaction;
  WHORL_FIELDS(Rollback, session, transaction);
};
// Rows by their keys, without SQL.
struct Read {
  SessionName session;
  TransactionSelector transaction;
  std::string table;
  std::vector<std::string> columns;
  KeySet keys;
  int64_t limit = 0;  // 0: all
  WHORL_FIELDS(Read, session, transaction, table, columns, keys, limit);
};
// DML statements one after the other, up to the first that fails.
struct ExecuteBatchDml {
  SessionName session;
  TransactionSelector transaction;
  std::vector<Statement> statements;
  int64_t sequence_number = 0;
  WHORL_FIELDS(ExecuteBatchDml, session, transaction, statements, sequence_number);
};
struct CreateSession {
  bool multiplexed = false;
  WHORL_FIELDS(CreateSession, multiplexed);
};
struct GetSession {
  SessionName session;
  WHORL_FIELDS(GetSession, session);
};
struct DeleteSession {
  SessionName session;
  WHORL_FIELDS(DeleteSession, session);
};
// Add alternatives at the end: fingerprints contain the index.
using Request = std::variant<ExecuteSql, BeginTransaction, Commit, Rollback, Read, ExecuteBatchDml,
                             CreateSession, GetSession, DeleteSession>;
// "ExecuteSql", "BeginTransaction" and so on.
std::string_view RequestName(const Request& request);
const SessionName& SessionOf(const Request& request);    // empty for CreateSession
void SetSession(Request& request, SessionName session);  // no effect on CreateSession

// --- responses ----------------------------------------------------------------------------------

struct SessionInfo {
  SessionName name;
  bool multiplexed = false;
  Timestamp created;
  Timestamp last_used;
  WHORL_FIELDS(SessionInfo, name, multiplexed, created, last_used);
};

struct Response {
  Status status;
  TransactionId transaction;   // the one that this call began, otherwise empty
  StatementResult result;      // for ExecuteSql and Read
  Timestamp commit_timestamp;  // for Commit
  // For a read or for the transaction that this call began, if it asked for it.
  std::optional<Timestamp> read_timestamp;
  // For ExecuteBatchDml: the results of the statements that succeeded. `status` is then OK, and the
  // first failure is in result.status.
  std::vector<StatementResult> batch;
  // On a multiplexed session: the token that Commit has to carry. In the answer to a Commit it
  // means that the transaction has NOT committed, and that Commit has to be sent again with this
  // token.
  SharedText precommit_token;
  int32_t precommit_sequence = 0;     // the token with the greatest number counts
  std::vector<SessionInfo> sessions;  // for CreateSession and GetSession
  WHORL_FIELDS(Response, status, transaction, result, commit_timestamp, read_timestamp, batch,
               precommit_token, precommit_sequence, sessions);
};

}  // namespace whorl
