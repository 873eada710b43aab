// Defines the database's record of a transaction, and the rules of its locks.
//
// A pessimistic read-write transaction follows these lock rules (lock modes and wound-wait in
// Spanner's documentation):
//   - A statement takes shared locks on what it reads: the existence of the rows in its range, and
//     in them the columns that it mentions. It holds them until the transaction ends.
//   - Writes are buffered, and Commit takes their locks.
//   - A reader and a writer of the same cell conflict. Here two writers of one row conflict, too,
//     though Spanner lets blind writers commit in parallel: their timestamps order them either way,
//     and no protocol can observe the difference.
//   - Wound-wait: an older transaction aborts a younger one that blocks it; a younger one waits. A
//     transaction that is already committing is never aborted.
// An optimistic transaction reads as of its first statement and locks nothing. Its Commit takes the
// locks of its writes like any other, and is ABORTED if something that it read has changed since.
// A transaction of isolation REPEATABLE READ does the same, but what it only read may have changed:
// its Commit is ABORTED if a row that it writes has changed since its first statement, in existence
// or in a column that it writes.
// A read-only transaction reads as of one time and has neither locks nor an age.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"
#include "spanner_model/sql/plan.h"
#include "spanner_model/storage.h"

namespace whorl::model {

struct ReadLock {
  uint32_t table = 0;
  KeyRange range;
  uint64_t columns = 0;  // ColumnSet::bits(); existence is always read
  WHORL_FIELDS(ReadLock, table, range, columns);
};

struct BufferedWrite {
  uint32_t table = 0;
  Key key;
  // The row after the write, except the columns that an UPDATE does not write (TakeUnwritten).
  // Empty for a deletion.
  std::optional<Row> row;
  uint64_t columns = 0;  // the written columns
  uint64_t pending = 0;  // the written columns that will hold the commit timestamp
  bool changes_existence = false;
  // Columns that were `pending` at any time: they stay unreadable, whatever is written to them
  // later.
  uint64_t unreadable = 0;
  WHORL_FIELDS(BufferedWrite, table, key, row, columns, pending, changes_existence, unreadable);
};

// The answer to an executed statement, which is given again when the statement is repeated.
struct ServedStatement {
  int64_t sequence_number = 0;
  uint64_t digest = 0;  // a hash over the text and the parameters
  Response response;
  WHORL_FIELDS(ServedStatement, sequence_number, digest, response);
};

struct ParkedCall {
  CallName call;
  Request request;
  WHORL_FIELDS(ParkedCall, call, request);
};

// The older age is the lesser, in the order in which Spanner got the first statements. An attempt inherits
// the place of the one before; the name breaks ties of its heirs, so no two are equally old.
struct Age {
  uint64_t place = 0;
  CallName name;
  Timestamp since;  // when Spanner got it
  friend constexpr auto operator<=>(const Age& a, const Age& b) {
    return std::tie(a.place, a.name) <=> std::tie(b.place, b.name);
  }
  WHORL_FIELDS(Age, place, name, since);
};

enum class TransactionKind : uint8_t { kPessimistic, kOptimistic, kRepeatableRead, kReadOnly };

// Whether a read-write transaction of this kind reads as of its first statement, without locks.
inline bool ReadsASnapshot(TransactionKind kind) {
  return kind == TransactionKind::kOptimistic || kind == TransactionKind::kRepeatableRead;
}

enum class TransactionPhase : uint8_t {
  kActive,
  kCommitting,
  kCommitted,
  kAborted,
  kRolledBack,
  kShutOut,  // the emulator's rule: a later transaction of its session was used
};

struct TransactionState {
  TransactionId id;
  SessionName session;
  CallName begun_by;
  TransactionKind kind = TransactionKind::kPessimistic;
  TransactionPhase phase = TransactionPhase::kActive;
  std::optional<Timestamp> snapshot;  // all its reads are as of this time; not if pessimistic
  std::optional<Age> age;             // from its first statement or commit on
  Timestamp last_used;                // server time of the end of its last call
  std::vector<ReadLock> reads;
  std::vector<BufferedWrite> writes;
  std::optional<Status> doomed;  // a constraint failed; every later call returns this error
  std::vector<ServedStatement> served;
  std::optional<ParkedCall> parked;
  Timestamp commit_timestamp;       // from kCommitting on
  CallName commit_call;             // while kCommitting: the Commit to answer
  bool replicated = false;          // while kCommitting: only an earlier commit keeps it invisible
  int32_t precommit_sequence = 0;   // the newest precommit token's number
  std::vector<Mutation> mutations;  // from the newest Commit
  WHORL_FIELDS(TransactionState, id, session, begun_by, kind, phase, snapshot, age, last_used,
               reads, writes, doomed, served, parked, commit_timestamp, commit_call, replicated,
               precommit_sequence, mutations);
};

inline bool IsOver(const TransactionState& t) {
  return t.phase != TransactionPhase::kActive && t.phase != TransactionPhase::kCommitting;
}

// Copies the columns that the write does not cover from the newest version to `row`. They are not
// locked, so another transaction may have changed them since the statement ran.
void TakeUnwritten(const BufferedWrite& write, const Row& newest, Row& row);

bool Conflict(const ReadLock& read, const BufferedWrite& write);

// Whether one of the locks `wanted` conflicts with one of the writes.
bool ReadConflicts(std::span<const ReadLock> wanted, const std::vector<BufferedWrite>& writes);
// Whether committing `writes` conflicts with a lock that `other` holds.
bool CommitConflicts(const std::vector<BufferedWrite>& writes, const TransactionState& other);

// The id of the transaction that this call begins: the bytes of the call's name, which is unique.
TransactionId MakeTransactionId(const CallName& begun_by);

}  // namespace whorl::model
