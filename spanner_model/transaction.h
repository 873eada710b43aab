// A transaction as the server keeps it, and the rules of its locks.
//
// Lock rules of a pessimistic read-write transaction (Spanner's documentation, lock modes and
// wound-wait):
//   - A statement takes shared locks on what it reads: the existence of the rows in its range, and
//     in them the columns that it mentions. They are held to the end.
//   - Writes are buffered; their locks are taken by Commit.
//   - A reader and a writer of the same cell conflict. So do two writers of one row here, though
//     Spanner lets blind writers commit in parallel: they are ordered by their timestamps either
//     way, and no protocol can tell.
//   - Wound-wait: an older transaction aborts a younger one that is in its way, a younger one
//     waits. One that is already committing is never aborted.
// An optimistic one reads as of its first statement and locks nothing. Its Commit takes the locks
// of its writes as any other, and is ABORTED when something that it read has changed since.
// A read-only one has a time, and neither locks nor ages.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/time.h"
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
  // As it will be, but for what an UPDATE left alone: see TakeUnwritten. Empty for a deletion.
  std::optional<Row> row;
  uint64_t columns = 0;  // that were written
  uint64_t pending = 0;  // of these, the ones that become the commit timestamp
  bool changes_existence = false;
  // Those that were to become it at any time: they stay unreadable, whatever was written later.
  uint64_t unreadable = 0;
  WHORL_FIELDS(BufferedWrite, table, key, row, columns, pending, changes_existence, unreadable);
};

// A statement that was executed, so that a repeated one is answered and not run again.
struct ServedStatement {
  int64_t sequence_number = 0;
  uint64_t digest = 0;  // of its text and parameters
  Response response;
  WHORL_FIELDS(ServedStatement, sequence_number, digest, response);
};

struct ParkedCall {
  CallName call;
  Request request;
  WHORL_FIELDS(ParkedCall, call, request);
};

// Older is less. The name breaks ties, so that two transactions never count as equally old.
struct Age {
  Timestamp since;
  CallName name;
  friend constexpr auto operator<=>(const Age&, const Age&) = default;
  WHORL_FIELDS(Age, since, name);
};

enum class TransactionKind : uint8_t { kPessimistic, kOptimistic, kReadOnly };

enum class TransactionPhase : uint8_t {
  kActive,
  kCommitting,
  kCommitted,
  kAborted,
  kRolledBack,
  kShutOut,  // the emulator's rule: a later transaction of its session was used
};

struct ServerTransaction {
  TransactionId id;
  SessionName session;
  CallName begun_by;
  TransactionKind kind = TransactionKind::kPessimistic;
  TransactionPhase phase = TransactionPhase::kActive;
  std::optional<Timestamp> snapshot;  // that all of it reads; unless it is pessimistic
  std::optional<Age> age;             // from its first statement or commit on
  Timestamp last_used;                // server time of the end of its last call
  std::vector<ReadLock> reads;
  std::vector<BufferedWrite> writes;
  std::optional<Status> doomed;  // a constraint failed: every later call fails the same way
  std::vector<ServedStatement> served;
  std::optional<ParkedCall> parked;
  Timestamp commit_timestamp;  // from kCommitting on
  CallName commit_call;        // that is being answered while kCommitting
  bool replicated = false;     // while kCommitting: only an earlier commit keeps it from being seen
  int32_t precommit_sequence = 0;   // of the newest precommit token
  std::vector<Mutation> mutations;  // of a Commit that was answered with a precommit token
  WHORL_FIELDS(ServerTransaction, id, session, begun_by, kind, phase, snapshot, age, last_used,
               reads, writes, doomed, served, parked, commit_timestamp, commit_call, replicated,
               precommit_sequence, mutations);
};

inline bool IsOver(const ServerTransaction& t) {
  return t.phase != TransactionPhase::kActive && t.phase != TransactionPhase::kCommitting;
}

// Gives `row`, the write's, the columns that an UPDATE did not write: those of the newest version.
// They are not locked, so another transaction may have changed them since the statement ran.
void TakeUnwritten(const BufferedWrite& write, const Row& newest, Row& row);

bool Conflict(const ReadLock& read, const BufferedWrite& write);
bool Conflict(const BufferedWrite& a, const BufferedWrite& b);

// Whether `reader`, about to take `wanted`, is in the way of what `other` writes.
bool ReadConflicts(const ReadLock& wanted, const ServerTransaction& other);
// Whether committing `writes` is in the way of what `other` holds.
bool CommitConflicts(std::span<const BufferedWrite> writes, const ServerTransaction& other);

// The write to a row, if there is one.
const BufferedWrite* FindWrite(std::span<const BufferedWrite> writes, uint32_t table,
                               const Key& key);
// Adds to what has been written to the row already.
void AddWrite(std::vector<BufferedWrite>& writes, BufferedWrite write);

// The id of the transaction that this call begins: its name's bytes, which no other call has.
TransactionId MakeTransactionId(const CallName& begun_by);

}  // namespace whorl::model
