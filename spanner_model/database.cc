#include "spanner_model/database.h"

#include <algorithm>
#include <utility>

#include "spanner_model/database_work.h"

namespace whorl::model {

void Reply(Work& work, const CallName& call, Response&& response) {
  work.out.emplace_back(std::in_place_type<Replied>, call, std::move(response));
}

Response& NewReply(Work& work, const CallName& call) {
  DatabaseEffect& effect = work.out.emplace_back(std::in_place_type<Replied>, call);
  return std::get<Replied>(effect).response;
}

void ReplyError(Work& work, const CallName& call, Status status) {
  Response response;
  response.status = std::move(status);
  Reply(work, call, std::move(response));
}

Status AbortedStatus(const Work& work) {
  Status status = Error(Code::kAborted, "Transaction was aborted.");
  status.retry_after = work.catalogue.options().retry_delay;
  return status;
}

Status TransactionNotFound() { return Error(Code::kNotFound, "Transaction not found"); }

namespace {

void ServeBegin(Work& work, const CallName& call, const BeginTransaction& begin) {
  Response response;
  response.status = UseSession(work, begin.session);
  if (!response.status.ok()) return Reply(work, call, std::move(response));
  if (const auto* read_write = std::get_if<BeginReadWrite>(&begin.options)) {
    TransactionState& transaction = BeginIn(work, call, begin.session, *read_write);
    response.transaction = transaction.id;
    if (!begin.mutation_key.empty()) GivePrecommitToken(work, transaction, response);
    return Reply(work, call, std::move(response));
  }
  const auto& read_only = std::get<BeginReadOnly>(begin.options);
  auto chosen = ChooseReadTimestamp(work, read_only.bound, AllSplits(work), /*single_use=*/false);
  if (auto* error = std::get_if<Status>(&chosen)) return ReplyError(work, call, std::move(*error));
  const Timestamp at = std::get<Timestamp>(chosen);
  if (read_only.bound.kind == BoundKind::kStrong) RememberReadAt(work, at, AllSplits(work));
  response.transaction = BeginIn(work, call, begin.session, at).id;
  if (read_only.return_read_timestamp) response.read_timestamp = at;
  Reply(work, call, std::move(response));
}

void Dispatch(Work& work, const CallName& call, const Request& request) {
  if (std::holds_alternative<Commit>(request)) {
    ServeCommit(work, call, request);
  } else if (const auto* begin = std::get_if<BeginTransaction>(&request)) {
    ServeBegin(work, call, *begin);
  } else if (const auto* rollback = std::get_if<Rollback>(&request)) {
    ServeRollback(work, call, *rollback);
  } else if (const auto* create = std::get_if<CreateSession>(&request)) {
    ServeCreateSession(work, call, *create);
  } else if (const auto* get = std::get_if<GetSession>(&request)) {
    ServeGetSession(work, call, *get);
  } else if (const auto* erase = std::get_if<DeleteSession>(&request)) {
    ServeDeleteSession(work, call, *erase);
  } else {
    ServeStatement(work, call, request);
  }
}

// --- waking parked calls -------------------------------------------------------------------------

// The parked transactions, oldest first.
std::vector<TransactionId> ParkedByAge(const Work& work) {
  std::vector<std::pair<Age, TransactionId>> parked;
  for (const TransactionState& transaction : work.database.transactions) {
    if (transaction.parked) parked.emplace_back(*transaction.age, transaction.id);
  }
  std::sort(parked.begin(), parked.end());
  std::vector<TransactionId> ids;
  ids.reserve(parked.size());
  for (auto& [age, id] : parked) ids.push_back(std::move(id));
  return ids;
}

void TryParked(Work& work, const TransactionId& id) {
  TransactionState* transaction = FindLive(work, id);
  if (transaction == nullptr || !transaction->parked) return;
  if (std::holds_alternative<Commit>(transaction->parked->request)) {
    RetryParkedCommit(work, *transaction);
  } else {
    RetryParkedStatement(work, *transaction);
  }
}

void WakeReads(Work& work) {
  std::vector<WaitingRead> waiting = std::exchange(work.database.waiting_reads, {});
  for (const WaitingRead& read : waiting) {
    ServeStatement(work, read.call, read.request, read.read_timestamp);
  }
}

// The read-write transaction of a call: the call begins one, or names a transaction.
struct CallsTransaction {
  bool begins = false;
  const TransactionId* id = nullptr;
};
CallsTransaction TransactionOf(const Request& request) {
  if (const auto* commit = std::get_if<Commit>(&request)) {
    return {.begins = std::holds_alternative<SingleUseWrite>(commit->transaction),
            .id = std::get_if<TransactionId>(&commit->transaction)};
  }
  const TransactionSelector* selector = nullptr;
  if (const auto* execute = std::get_if<ExecuteSql>(&request)) selector = &execute->transaction;
  if (const auto* read = std::get_if<Read>(&request)) selector = &read->transaction;
  if (const auto* batch = std::get_if<ExecuteBatchDml>(&request)) selector = &batch->transaction;
  if (selector == nullptr) return {};
  return {.begins = std::holds_alternative<BeginReadWrite>(*selector),
          .id = std::get_if<TransactionId>(selector)};
}

bool AnythingWaits(const Database& database) {
  return !database.waiting_reads.empty() ||
         std::ranges::any_of(database.transactions,
                             [](const TransactionState& one) { return one.parked.has_value(); });
}

// Ends every call into the database: continues what waited for released locks.
void WakeWaiting(Work& work) {
  while (work.released) {
    work.released = false;
    for (const TransactionId& id : ParkedByAge(work)) TryParked(work, id);
    if (!work.database.waiting_reads.empty()) WakeReads(work);
  }
  CompactFinished(work);
  std::optional<Timestamp>& asked = work.database.look_again;
  if (asked && !AnythingWaits(work.database)) {
    asked.reset();
    work.out.emplace_back(RetryCancelled{});
  }
  if (!work.look || (asked && *asked <= *work.look)) return;
  asked = work.look;
  work.out.emplace_back(RetryAt{.server_time = *work.look});
}

}  // namespace

Database MakeDatabase(const Catalogue& catalogue) {
  Database database;
  database.tables.resize(catalogue.schema().tables.size());
  database.splits.resize(catalogue.split_count());
  return database;
}

void LoadRow(const Catalogue& catalogue, Database& database, uint32_t table, Row row,
             Timestamp commit) {
  const Key key = KeyOf(catalogue.schema().tables[table], row);
  SplitState& split = database.splits[SplitOf(catalogue.options().split_points, table, key)];
  Put(database.tables[table], key,
      {.commit = commit, .columns = ~uint64_t{0}, .row = std::move(row)}, commit);
  split.last_commit = std::max(split.last_commit, commit);
  split.last_visible = std::max(split.last_visible, commit);
}

void Serve(const Catalogue& catalogue, Database& database, const CallName& call,
           const Request& request, std::span<const ClockReading> leaders,
           std::vector<DatabaseEffect>& out) {
  Work work{.catalogue = catalogue, .database = database, .leaders = leaders, .out = out};
  Dispatch(work, call, request);
  WakeWaiting(work);
}

bool IsOfReadWrite(const Request& request) {
  const CallsTransaction transaction = TransactionOf(request);
  return transaction.begins || transaction.id != nullptr;
}

bool AbortCall(const Catalogue& catalogue, Database& database, const CallName& call,
               const Request& request, std::span<const ClockReading> leaders,
               std::vector<DatabaseEffect>& out) {
  Work work{.catalogue = catalogue, .database = database, .leaders = leaders, .out = out};
  const CallsTransaction named = TransactionOf(request);
  if (named.id != nullptr) {
    TransactionState* transaction = FindLive(work, *named.id);
    if (transaction == nullptr || transaction->session != SessionOf(request)) return false;
    if (transaction->phase != TransactionPhase::kActive) return false;
    if (transaction->kind == TransactionKind::kReadOnly) return false;
    Abort(work, *transaction);
  } else if (named.begins) {
    out.emplace_back(Aborted{.begun_by = call});
  } else {
    return false;
  }
  ReplyError(work, call, AbortedStatus(work));
  WakeWaiting(work);
  return true;
}

void DoomTransactionOf(Database& database, const Request& request, const Status& status) {
  const CallsTransaction named = TransactionOf(request);
  if (named.id == nullptr) return;
  for (TransactionState& one : database.transactions) {
    const bool is_its = one.id == *named.id && one.session == SessionOf(request);
    if (is_its && one.phase == TransactionPhase::kActive) one.doomed = status;
  }
}

bool IsCommitAgain(const Database& database, const Request& request) {
  if (!std::holds_alternative<Commit>(request)) return false;
  const CallsTransaction named = TransactionOf(request);
  if (named.id == nullptr) return false;
  const auto has_begun = [&](const TransactionState& one) {
    return one.id == *named.id && (one.phase == TransactionPhase::kCommitting ||
                                   one.phase == TransactionPhase::kCommitted);
  };
  return std::ranges::any_of(database.transactions, has_begun) ||
         std::ranges::any_of(database.finished, has_begun);
}

void CommitVisible(const Catalogue& catalogue, Database& database, const TransactionId& id,
                   std::span<const ClockReading> leaders, std::vector<DatabaseEffect>& out) {
  Work work{.catalogue = catalogue, .database = database, .leaders = leaders, .out = out};
  MakeVisible(work, id);
  WakeWaiting(work);
}

void LookAgain(const Catalogue& catalogue, Database& database,
               std::span<const ClockReading> leaders, std::vector<DatabaseEffect>& out) {
  Work work{.catalogue = catalogue, .database = database, .leaders = leaders, .out = out};
  database.look_again.reset();
  work.released = true;
  WakeWaiting(work);
}

bool IsCommitting(const Database& database) {
  return std::any_of(
      database.transactions.begin(), database.transactions.end(),
      [](const TransactionState& one) { return one.phase == TransactionPhase::kCommitting; });
}

namespace {

// The versions of a table with the columns that it has now. No transaction that could compare the columns
// of old versions with its reads outlives the change, so they count as written.
StoredTable Rearranged(StoredTable table, const TableOrigin& origin) {
  for (auto& [key, versions] : table.rows) {
    for (Version& version : versions) {
      version.columns = ~uint64_t{0};
      if (!version.row) continue;
      Row row;
      for (const auto& column : origin.columns) {
        row.push_back(column ? std::move((*version.row)[*column]) : Value(Null{}));
      }
      version.row = std::move(row);
    }
  }
  return table;
}

}  // namespace

void ChangeSchema(Catalogue& catalogue, Database& database, Schema schema,
                  std::vector<SplitPoint> split_points,
                  std::span<const std::optional<TableOrigin>> kept,
                  std::span<const ClockReading> leaders, std::vector<DatabaseEffect>& out) {
  Work work{.catalogue = catalogue, .database = database, .leaders = leaders, .out = out};
  for (TransactionState& transaction : database.transactions) {
    if (transaction.kind == TransactionKind::kPessimistic && !transaction.age) continue;
    if (transaction.kind != TransactionKind::kReadOnly) Abort(work, transaction);
  }
  CompactFinished(work);
  std::vector<StoredTable> tables(schema.tables.size());
  for (size_t i = 0; i < tables.size(); ++i) {
    if (kept[i]) tables[i] = Rearranged(std::move(database.tables[kept[i]->table]), *kept[i]);
  }
  database.tables = std::move(tables);
  catalogue.SetSchema(std::move(schema), std::move(split_points));
  // A split goes on after the latest of all that were before it.
  SplitState latest;
  for (const SplitState& split : database.splits) {
    latest.last_commit = std::max(latest.last_commit, split.last_commit);
    latest.last_visible = std::max(latest.last_visible, split.last_visible);
    latest.last_read = std::max(latest.last_read, split.last_read);
  }
  database.splits.assign(catalogue.split_count(), latest);
  WakeWaiting(work);
}

}  // namespace whorl::model
