// A deterministic Cloud Spanner database, as its clients can observe it.
//
// It is driven and never blocks: Serve takes one call and appends what came of it; a call that has
// to wait for a lock is parked as state, and woken in age order by whatever releases the lock.
// What is simplified stands in README.md, and only there.
//
// Invariants:
//   1. Database is a value; the clocks come in with every call, and nothing else is read.
//   2. Commit timestamps grow strictly on each split, are whole microseconds, and are not below
//      TT.now().latest of the leader that gives them. Nothing of a transaction is visible before
//      CommitVisible, and on a split commits become visible in the order of their timestamps.
//   3. A Commit is idempotent by transaction id for as long as its outcome is remembered.
//   4. Every call is answered exactly once, sooner or later.
//   5. A read as of a time that was answered once is answered the same for ever after.
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

// --- what comes of a call ----------------------------------------------------------------------

struct Replied {
  CallName call;
  Response response;
  WHORL_FIELDS(Replied, call, response);
};
struct Parked {  // it waits for a lock, or a read for its time
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
struct Aborted {  // an attempt was wounded, or was idle for too long while in the way
  CallName begun_by;
  WHORL_FIELDS(Aborted, begun_by);
};
struct Committed {  // it is visible now; its changed rows follow
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
// The driver calls LookAgain when the first leader's TT.now().latest is there: an idle transaction
// will be in the way for too long, or a read's time has come. At most one look is asked for that
// has not come yet, unless a later request is for an earlier time.
struct LookAgainAt {
  Timestamp server_time;
  WHORL_FIELDS(LookAgainAt, server_time);
};
using DatabaseEffect =
    std::variant<Replied, Parked, CommitStarted, Aborted, Committed, RowChanged, LookAgainAt>;

// --- the database ------------------------------------------------------------------------------

// A read that waits until its time has come and nothing is committing at or before it.
struct WaitingRead {
  CallName call;
  Request request;
  Timestamp read_timestamp;
  WHORL_FIELDS(WaitingRead, call, request, read_timestamp);
};

struct SplitState {
  Timestamp last_commit;   // the greatest that was given
  Timestamp last_visible;  // the greatest that can be read
  Timestamp last_read;     // the greatest that was read at: no later commit may be at or before it
  WHORL_FIELDS(SplitState, last_commit, last_visible, last_read);
};

struct Database {
  std::vector<StoredTable> tables;  // in the order of the schema
  std::vector<SessionInfo> sessions;
  std::vector<ServerTransaction> transactions;  // that are not over
  std::vector<ServerTransaction> finished;      // their outcomes, in the order in which they ended
  std::vector<WaitingRead> waiting_reads;
  std::vector<SplitState> splits;
  std::optional<Timestamp> look_again;  // the look that was asked for and has not come yet
  Timestamp collected;                  // when versions that nobody can read were last looked for
  WHORL_FIELDS(Database, tables, sessions, transactions, finished, waiting_reads, splits,
               look_again, collected);
};

Database MakeDatabase(const Catalogue& catalogue);
// Puts a row there without a transaction. REQUIRES: it fits the table's columns.
void LoadRow(const Catalogue& catalogue, Database& database, uint32_t table, Row row,
             Timestamp commit);

// `leaders` are the clocks of the splits' leaders, one for each split, in their order.
void Serve(const Catalogue& catalogue, Database& database, const CallName& call,
           const Request& request, std::span<const Moment> leaders,
           std::vector<DatabaseEffect>& out);
// Whether the call is a statement, a read or a Commit of a read-write transaction; of one that it
// names, that can be any but a single-use one.
bool IsOfReadWrite(const Request& request);
// Spanner may abort a read-write transaction for reasons of its own. Answers the call ABORTED and
// ends its transaction, if it is a statement or a Commit of one that is not ending already;
// otherwise does nothing, and returns false.
bool AbortCall(const Catalogue& catalogue, Database& database, const CallName& call,
               const Request& request, std::span<const Moment> leaders,
               std::vector<DatabaseEffect>& out);
// REQUIRES: CommitStarted was said of the transaction, and this is the first time.
void CommitVisible(const Catalogue& catalogue, Database& database, const TransactionId& id,
                   std::span<const Moment> leaders, std::vector<DatabaseEffect>& out);
void LookAgain(const Catalogue& catalogue, Database& database, std::span<const Moment> leaders,
               std::vector<DatabaseEffect>& out);

// Another schema, in which table i is `kept[i]` of the old one, or new. Transactions that are under
// way are aborted. REQUIRES: nothing is committing (IsCommitting).
void ChangeSchema(Catalogue& catalogue, Database& database, Schema schema,
                  std::span<const std::optional<uint32_t>> kept, std::span<const Moment> leaders,
                  std::vector<DatabaseEffect>& out);
bool IsCommitting(const Database& database);

}  // namespace whorl::model
