// A deterministic Cloud Spanner database, as its clients can observe it: one split, one leader.
//
// It is driven and never blocks: Serve takes one call and appends what came of it; a call that has
// to wait for a lock is parked as state, and woken in age order by whatever releases the lock.
// What is simplified stands in README.md, and only there.
//
// Invariants:
//   1. Database is a value; the clocks come in with every call, and nothing else is read.
//   2. Commit timestamps grow strictly, are whole microseconds, and are not below
//      TT.now().latest; nothing of a transaction is visible before CommitVisible.
//   3. A Commit is idempotent by transaction id for as long as its outcome is remembered.
//   4. Every call is answered exactly once, sooner or later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
struct Parked {  // it waits for a lock
  CallName call;
  WHORL_FIELDS(Parked, call);
};
// The driver calls CommitVisible once the write is replicated and TT.after(commit) holds.
struct CommitStarted {
  TransactionId transaction;
  Timestamp commit;
  WHORL_FIELDS(CommitStarted, transaction, commit);
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
// The driver calls LookAgain then: an idle transaction will be in the way for too long. At most one
// look is asked for that has not come yet, unless a later request is for an earlier time.
struct LookAgainAt {
  Timestamp server_time;
  WHORL_FIELDS(LookAgainAt, server_time);
};
using DatabaseEffect =
    std::variant<Replied, Parked, CommitStarted, Aborted, Committed, RowChanged, LookAgainAt>;

// --- the database ------------------------------------------------------------------------------

struct Database {
  std::vector<StoredTable> tables;  // in the order of the schema
  std::vector<ServerTransaction> transactions;
  Timestamp last_commit;
  std::optional<Timestamp> look_again;  // the look that was asked for and has not come yet
  WHORL_FIELDS(Database, tables, transactions, last_commit, look_again);
};

Database MakeDatabase(const Schema& schema);
// Puts a row there without a transaction. REQUIRES: it fits the table's columns.
void LoadRow(const Catalogue& catalogue, Database& database, uint32_t table, Row row,
             Timestamp commit);

void Serve(const Catalogue& catalogue, Database& database, const CallName& call,
           const Request& request, const Moment& moment, std::vector<DatabaseEffect>& out);
// REQUIRES: CommitStarted was said of the transaction, and this is the first time.
void CommitVisible(const Catalogue& catalogue, Database& database, const TransactionId& id,
                   const Moment& moment, std::vector<DatabaseEffect>& out);
void LookAgain(const Catalogue& catalogue, Database& database, const Moment& moment,
               std::vector<DatabaseEffect>& out);

}  // namespace whorl::model
