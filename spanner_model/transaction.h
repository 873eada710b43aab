// A read-write transaction as the server keeps it, and the rules of its locks.
//
// Lock rules (Spanner's documentation, lock modes and wound-wait):
//   - A statement takes shared locks on what it reads: the existence of the rows in its range, and
//     in them the columns that it mentions. They are held to the end.
//   - Writes are buffered; their locks are taken by Commit.
//   - A reader and a writer of the same cell conflict. So do two writers of one row here, though
//     Spanner lets blind writers commit in parallel: they are ordered by their timestamps either
//     way, and no protocol can tell.
//   - Wound-wait: an older transaction aborts a younger one that is in its way, a younger one
//     waits. One that is already committing is never aborted.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
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
  WHORL_FIELDS(BufferedWrite, table, key, row, columns, pending, changes_existence);
};

// A statement that was executed, so that a repeated one is answered and not run again.
struct ServedStatement {
  int64_t sequence_number = 0;
  uint64_t digest = 0;  // of its text
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

enum class TransactionPhase : uint8_t { kActive, kCommitting, kCommitted, kAborted, kRolledBack };

struct ServerTransaction {
  TransactionId id;
  CallName begun_by;
  TransactionPhase phase = TransactionPhase::kActive;
  std::optional<Age> age;  // from its first statement or commit on
  Timestamp last_used;     // server time of the end of its last call
  std::vector<ReadLock> reads;
  std::vector<BufferedWrite> writes;
  std::optional<Status> doomed;  // a constraint failed: every later call fails the same way
  std::vector<ServedStatement> served;
  std::optional<ParkedCall> parked;
  Timestamp commit_timestamp;  // from kCommitting on
  CallName commit_call;        // that is being answered while kCommitting
  WHORL_FIELDS(ServerTransaction, id, begun_by, phase, age, last_used, reads, writes, doomed,
               served, parked, commit_timestamp, commit_call);
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
// Whether committing `writer` is in the way of what `other` holds.
bool CommitConflicts(const ServerTransaction& writer, const ServerTransaction& other);

// The id of the transaction that this call begins: its name's bytes, which no other call has.
TransactionId MakeTransactionId(const CallName& begun_by);

}  // namespace whorl::model
