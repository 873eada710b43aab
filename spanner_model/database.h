// Models a Cloud Spanner database, deterministically, as its clients can observe it.
//
// It never blocks: Serve takes one call and appends its effects. A call that has to wait for a lock
// is parked as state; the release of the lock wakes the waiting calls in the order of their ages.
// README.md lists all simplifications.
//
// Invariants:
//   1. Database is a value. Every call brings the clocks along, and no other input is read.
//   2. Commit timestamps are whole microseconds, increase strictly on each split, and are not below
//      TT.now().latest of the leader that assigns them. No write of a transaction is visible before
//      CommitVisible, and on a split commits become visible in the order of their timestamps.
//   3. A Commit is idempotent by transaction id for as long as its outcome is remembered.
//   4. Every call is answered exactly once, at once or later.
//   5. Reads as of the same time always return the same rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"
#include "spanner_model/catalogue.h"
#include "spanner_model/storage.h"
#include "spanner_model/transaction.h"
#include "spanner_model/truetime.h"

namespace whorl::model {

// --- effects of a call ---------------------------------------------------------------------------

struct Replied {
  CallName call;
  Response response;
  WHORL_FIELDS(Replied, call, response);
};
struct Parked {  // the call waits for a lock, or a read for its time
  CallName call;
  WHORL_FIELDS(Parked, call);
};
// The driver calls CommitVisible once the write is replicated and TT.after(commit) holds at the
// leader.
struct CommitStarted {
  TransactionId transaction;
  Timestamp commit;
  uint32_t leader = 0;  // the split that coordinates
  WHORL_FIELDS(CommitStarted, transaction, commit, leader);
};
struct Aborted {  // an attempt was wounded, or was idle for too long while it blocked another
  CallName begun_by;
  WHORL_FIELDS(Aborted, begun_by);
};
struct Committed {  // the commit is visible now; a RowChanged for each changed row follows
  CallName commit_call;
  Timestamp commit;
  WHORL_FIELDS(Committed, commit_call, commit);
};
struct RowChanged {
  uint32_t table = 0;
  std::optional<Row> before;
  std::optional<Row> after;
  WHORL_FIELDS(RowChanged, table, before, after);
};
// The driver calls LookAgain when the first leader's TT.now().latest reaches `server_time`: by then
// a blocking transaction has been idle for too long, or a read's time has come. While one request
// is outstanding, another is made only for an earlier time.
struct RetryAt {
  Timestamp server_time;
  WHORL_FIELDS(RetryAt, server_time);
};
// Nothing waits any more, so there is nothing to look at.
struct RetryCancelled {
  WHORL_NO_FIELDS(RetryCancelled);
};
using DatabaseEffect = std::variant<Replied, Parked, CommitStarted, Aborted, Committed, RowChanged,
                                    RetryAt, RetryCancelled>;

// --- the database --------------------------------------------------------------------------------

// A read that waits until its time has come and nothing is committing at or before it.
struct WaitingRead {
  CallName call;
  Request request;
  Timestamp read_timestamp;
  WHORL_FIELDS(WaitingRead, call, request, read_timestamp);
};

struct SplitState {
  Timestamp last_commit;   // the greatest that was assigned
  Timestamp last_visible;  // the greatest that is visible
  Timestamp last_read;     // the greatest at which rows were read; later commits are above it
  WHORL_FIELDS(SplitState, last_commit, last_visible, last_read);
};

struct Database {
  std::vector<StoredTable> tables;  // in the order of the schema
  std::vector<SessionInfo> sessions;
  std::vector<TransactionState> transactions;  // active or committing
  std::vector<TransactionState> finished;      // in the order in which they ended
  std::vector<WaitingRead> waiting_reads;
  std::vector<SplitState> splits;
  // The newest RetryAt, until LookAgain or RetryCancelled.
  std::optional<Timestamp> look_again;
  Timestamp collected;  // versions that only reads before this need were dropped
  uint64_t ages = 0;    // how many transactions have got a place of their own (Age)
  WHORL_FIELDS(Database, tables, sessions, transactions, finished, waiting_reads, splits,
               look_again, collected, ages);
};

Database MakeDatabase(const Catalogue& catalogue);
// Stores a row without a transaction. REQUIRES: it fits the table's columns.
void LoadRow(const Catalogue& catalogue, Database& database, uint32_t table, Row row,
             Timestamp commit);

// Executes one call. `leaders` are the clocks of the splits' leaders, in the order of the splits.
void Serve(const Catalogue& catalogue, Database& database, const CallName& call,
           const Request& request, std::span<const ClockReading> leaders,
           std::vector<DatabaseEffect>& out);
// Whether the call may be a statement, a read or a Commit of a read-write transaction: it begins
// one or names a transaction, since the request does not say whether that is read-only.
bool IsOfReadWrite(const Request& request);
// Aborts the call's transaction, as Spanner may for reasons of its own: if the call is a statement
// or a Commit of an active read-write transaction, aborts that and answers the call ABORTED.
// Otherwise does nothing and returns false.
bool AbortCall(const Catalogue& catalogue, Database& database, const CallName& call,
               const Request& request, std::span<const ClockReading> leaders,
               std::vector<DatabaseEffect>& out);
// The call was answered that a constraint failed, in place of being served: its transaction, if it is active,
// gets the same answer from now on.
void DoomTransactionOf(Database& database, const Request& request, const Status& status);
// Whether the request is a Commit whose transaction Spanner has begun to commit before.
bool IsCommitAgain(const Database& database, const Request& request);
// Makes a commit visible. REQUIRES: CommitStarted was emitted for the transaction, and this is the
// first call for it.
void CommitVisible(const Catalogue& catalogue, Database& database, const TransactionId& id,
                   std::span<const ClockReading> leaders, std::vector<DatabaseEffect>& out);
// Retries everything that waits; see RetryAt.
void LookAgain(const Catalogue& catalogue, Database& database,
               std::span<const ClockReading> leaders, std::vector<DatabaseEffect>& out);

// Drops versions, the oldest first, until at most `limit` are left besides the newest rows and what
// open transactions read. A read of an earlier time then fails, as one beyond the retention does.
void KeepNewestVersions(const Catalogue& catalogue, Database& database, size_t limit,
                        std::span<const ClockReading> leaders);

// A table, and its columns, of the schema before; a column without one is new, and NULL in every row.
struct TableOrigin {
  uint32_t table = 0;
  std::vector<std::optional<uint32_t>> columns = {};
};

// Replaces the schema and the splits; table i of the new schema comes from `kept[i]`, or is empty. Aborts open
// transactions. REQUIRES: no transaction is committing (IsCommitting), and `leaders` has a
// leader for each split of before and of after.
void ChangeSchema(Catalogue& catalogue, Database& database, Schema schema,
                  std::vector<SplitPoint> split_points,
                  std::span<const std::optional<TableOrigin>> kept,
                  std::span<const ClockReading> leaders, std::vector<DatabaseEffect>& out);
bool IsCommitting(const Database& database);

}  // namespace whorl::model
