#include "spanner_model/database.h"

#include <algorithm>
#include <utility>

#include "spanner_model/execute.h"
#include "spanner_model/sql/compile.h"

namespace whorl::model {
namespace {

// How long a finished transaction's outcome is remembered: as long as an idle session lives.
constexpr Duration kRememberOutcome = Seconds(3600);

Timestamp ServerTime(const Moment& moment) { return moment.truetime.latest; }

// One call into the database: what every function below works on.
struct Work {
  const Catalogue& catalogue;
  Database& database;
  const Moment& moment;
  std::vector<DatabaseEffect>& out;
  bool released = false;          // locks were released: parked calls may go on
  std::optional<Timestamp> look;  // when the first transaction that is waited for falls idle
};

enum class Progress : uint8_t { kDone, kParked };

ServerTransaction* Find(Work& work, const TransactionId& id) {
  auto& all = work.database.transactions;
  const auto found =
      std::find_if(all.rbegin(), all.rend(),
                   [&](const ServerTransaction& transaction) { return transaction.id == id; });
  return found == all.rend() ? nullptr : &*found;
}

void Reply(Work& work, const CallName& call, Response response) {
  work.out.emplace_back(Replied{.call = call, .response = std::move(response)});
}

void ReplyError(Work& work, const CallName& call, Status status) {
  Response response;
  response.status = std::move(status);
  Reply(work, call, std::move(response));
}

Status AbortedStatus(Work& work) {
  Status status = Error(Code::kAborted, "Transaction was aborted.");
  status.retry_after = work.catalogue.options().retry_delay;
  return status;
}

// A transaction that is over keeps its id, its age and its outcome; nothing else.
void Release(Work& work, ServerTransaction& transaction, TransactionPhase phase) {
  transaction.phase = phase;
  transaction.reads.clear();
  transaction.writes.clear();
  transaction.served.clear();
  transaction.last_used = ServerTime(work.moment);
  work.released = true;
}

void Abort(Work& work, ServerTransaction& transaction) {
  work.out.emplace_back(Aborted{.begun_by = transaction.begun_by});
  if (transaction.parked) {
    ReplyError(work, transaction.parked->call, AbortedStatus(work));
    transaction.parked.reset();
  }
  Release(work, transaction, TransactionPhase::kAborted);
}

// --- begin -------------------------------------------------------------------------------------

// What nobody will ask for again: the outcome of an earlier transaction in the same place of the
// same process, but for `previous`, whose age a resent begin asks for once more; and whatever has
// not been used for long. What is active stays that long, too, since a client that lost its begin's
// reply leaves locks behind on real Spanner.
void ForgetOutcomes(Work& work, const CallName& begin, const TransactionId& previous) {
  std::erase_if(work.database.transactions, [&](const ServerTransaction& old) {
    if (old.phase == TransactionPhase::kCommitting || old.parked) return false;
    const bool unused = ServerTime(work.moment) - old.last_used > kRememberOutcome;
    if (!IsOver(old)) {
      work.released = work.released || unused;
      return unused;
    }
    const CallName& name = old.begun_by;
    const bool replaced = name.process == begin.process && name.lock == begin.lock &&
                          name.request == begin.request && old.id != previous;
    return replaced || unused;
  });
}

ServerTransaction& Begin(Work& work, const CallName& call, const BeginReadWrite& options) {
  std::optional<Age> age;
  if (!options.previous.empty()) {
    if (const ServerTransaction* previous = Find(work, options.previous)) age = previous->age;
  }
  // Two heirs of one attempt are not equally old: each would wait for the other.
  if (age) age->name = call;
  ForgetOutcomes(work, call, options.previous);
  ServerTransaction transaction;
  transaction.id = MakeTransactionId(call);
  transaction.begun_by = call;
  transaction.age = age;
  transaction.last_used = ServerTime(work.moment);
  work.database.transactions.push_back(std::move(transaction));
  return work.database.transactions.back();
}

void Forget(Work& work, const TransactionId& id) {
  std::erase_if(work.database.transactions,
                [&](const ServerTransaction& transaction) { return transaction.id == id; });
  work.released = true;
}

void SetAge(Work& work, ServerTransaction& transaction) {
  if (transaction.age) return;
  transaction.age = Age{.since = ServerTime(work.moment), .name = transaction.begun_by};
}

// --- locks -------------------------------------------------------------------------------------

bool IsIdle(Work& work, const ServerTransaction& transaction) {
  return !transaction.parked && transaction.phase == TransactionPhase::kActive &&
         ServerTime(work.moment) - transaction.last_used >= work.catalogue.options().idle_limit;
}

// Makes way for `mine` against one transaction that is in its way; whether it must wait for it.
bool MustWaitFor(Work& work, const ServerTransaction& mine, ServerTransaction& other) {
  if (other.phase == TransactionPhase::kCommitting) return true;
  if (*mine.age < *other.age || IsIdle(work, other)) {
    Abort(work, other);
    return false;
  }
  if (!other.parked) {
    const Timestamp idle_from = other.last_used + work.catalogue.options().idle_limit;
    work.look = std::min(work.look.value_or(idle_from), idle_from);
  }
  return true;
}

// Whether `mine` may go on: everything in its way was younger or idle, and has been aborted.
template <typename InTheWay>
bool ClearTheWay(Work& work, const ServerTransaction& mine, const InTheWay& in_the_way) {
  bool clear = true;
  for (ServerTransaction& other : work.database.transactions) {
    if (&other == &mine || IsOver(other) || !other.age || !in_the_way(other)) continue;
    if (MustWaitFor(work, mine, other)) clear = false;
  }
  return clear;
}

// A writer is in a reader's way while it commits, and while it waits to commit if it is older:
// otherwise new readers could keep it waiting for ever.
bool IsInReadersWay(const ServerTransaction& reader, const ReadLock& wanted,
                    const ServerTransaction& other) {
  const bool waits_to_commit =
      other.parked && std::holds_alternative<Commit>(other.parked->request);
  const bool counts =
      other.phase == TransactionPhase::kCommitting || (waits_to_commit && *other.age < *reader.age);
  return counts && ReadConflicts(wanted, other);
}

Progress Park(Work& work, ServerTransaction& transaction, const CallName& call,
              const Request& request) {
  if (!transaction.parked) work.out.emplace_back(Parked{.call = call});
  transaction.parked = ParkedCall{.call = call, .request = request};
  return Progress::kParked;
}

// --- statements --------------------------------------------------------------------------------

// The statement's plan; one that was not named ahead is compiled into `own`.
const std::variant<Plan, Status>& PlanOf(Work& work, const Statement& statement,
                                         std::optional<std::variant<Plan, Status>>& own) {
  const auto* known = work.catalogue.FindPlan(statement.sql);
  if (known != nullptr) return *known;
  own = Compile(work.catalogue.schema(), statement.sql);
  return *own;
}

ExecutionInput InputOf(Work& work, ServerTransaction* transaction, const Statement& statement) {
  return {.catalogue = work.catalogue,
          .tables = work.database.tables,
          .transaction = transaction,
          .parameters = statement.parameters,
          .moment = work.moment};
}

StatementResult ReadOnce(Work& work, const Statement& statement) {
  std::optional<std::variant<Plan, Status>> own;
  const auto& plan = PlanOf(work, statement, own);
  StatementResult failed;
  if (const auto* error = std::get_if<Status>(&plan)) {
    failed.status = *error;
    return failed;
  }
  failed.status = CheckParameters(statement.sql.parameters(), statement.parameters);
  if (!failed.status.ok()) return failed;
  return Execute(InputOf(work, nullptr, statement), std::get<Plan>(plan)).result;
}

// Only DML is numbered; a query that comes again is run again.
bool IsQuery(Work& work, const Statement& statement) {
  std::optional<std::variant<Plan, Status>> own;
  const auto* plan = std::get_if<Plan>(&PlanOf(work, statement, own));
  return plan != nullptr && std::holds_alternative<SelectPlan>(*plan);
}

// A repeated sequence number: its stored answer, or an error when it is not what was sent then.
std::optional<Response> Replay(Work& work, const ServerTransaction& transaction,
                               const ExecuteSql& execute) {
  if (IsQuery(work, execute.statement)) return std::nullopt;
  for (const ServedStatement& served : transaction.served) {
    if (served.sequence_number != execute.sequence_number) continue;
    if (served.digest == execute.statement.sql.digest()) return served.response;
    Response response;
    response.status =
        Error(Code::kInvalidArgument, "Previously received a different request with this seqno.");
    return response;
  }
  if (transaction.served.empty() ||
      execute.sequence_number > transaction.served.back().sequence_number) {
    return std::nullopt;
  }
  Response response;
  response.status = Error(Code::kInvalidArgument, "Request has an out-of-order seqno.");
  return response;
}

// Takes the statement's locks and runs it. Nothing when it has to wait.
std::optional<Execution> LockAndExecute(Work& work, ServerTransaction& transaction,
                                        const Statement& statement) {
  std::optional<std::variant<Plan, Status>> own;
  const auto& found = PlanOf(work, statement, own);
  Execution failed;
  if (const auto* error = std::get_if<Status>(&found)) {
    failed.result.status = *error;
    return failed;
  }
  const Plan& plan = std::get<Plan>(found);
  const ExecutionInput input = InputOf(work, &transaction, statement);
  failed.result.status = CheckParameters(statement.sql.parameters(), statement.parameters);
  if (failed.result.status.ok()) failed.result.status = CheckPending(input, plan);
  if (!failed.result.status.ok()) return failed;
  std::vector<ReadLock> wanted;
  AppendReadLocks(input, plan, wanted);
  const bool clear = ClearTheWay(work, transaction, [&](const ServerTransaction& other) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const ReadLock& lock) {
      return IsInReadersWay(transaction, lock, other);
    });
  });
  if (!clear) return std::nullopt;
  for (ReadLock& lock : wanted) {
    if (std::find(transaction.reads.begin(), transaction.reads.end(), lock) ==
        transaction.reads.end()) {
      transaction.reads.push_back(std::move(lock));
    }
  }
  return Execute(input, plan);
}

Status UnusableStatus(Work& work, const ServerTransaction& transaction) {
  if (transaction.doomed) return *transaction.doomed;
  switch (transaction.phase) {
    case TransactionPhase::kAborted:
      return AbortedStatus(work);
    case TransactionPhase::kCommitting:
    case TransactionPhase::kCommitted:
    case TransactionPhase::kRolledBack:
      return Error(Code::kFailedPrecondition,
                   "Cannot read or query using a transaction after it has been committed or "
                   "rolledback.");
    case TransactionPhase::kActive:
      break;
  }
  return {};
}

Progress ExecuteIn(Work& work, ServerTransaction& transaction, const CallName& call,
                   const Request& request) {
  const auto& execute = std::get<ExecuteSql>(request);
  const bool begins = std::holds_alternative<BeginReadWrite>(execute.transaction);
  SetAge(work, transaction);
  std::optional<Execution> execution = LockAndExecute(work, transaction, execute.statement);
  if (!execution) return Park(work, transaction, call, request);
  transaction.parked.reset();
  transaction.last_used = ServerTime(work.moment);
  Response response;
  response.status = execution->result.status;
  response.result = std::move(execution->result);
  if (begins && !response.status.ok()) {
    // Spanner does not begin a transaction whose first statement failed.
    Forget(work, TransactionId(transaction.id));
    Reply(work, call, std::move(response));
    return Progress::kDone;
  }
  if (execution->dooms) transaction.doomed = response.status;
  if (begins) response.transaction = transaction.id;
  if (!IsQuery(work, execute.statement)) {
    transaction.served.push_back({.sequence_number = execute.sequence_number,
                                  .digest = execute.statement.sql.digest(),
                                  .response = response});
  }
  Reply(work, call, std::move(response));
  return Progress::kDone;
}

// A client resends a call only when it has given up on the first copy, which therefore gets an
// answer that nobody waits for.
Status Superseded() { return Error(Code::kUnavailable, "superseded by a resent call"); }

void SupersedeParked(Work& work, ServerTransaction& transaction) {
  if (!transaction.parked) return;
  ReplyError(work, transaction.parked->call, Superseded());
  transaction.parked.reset();
  work.released = true;  // a Commit that no longer waits is in no reader's way
}

Status NotFound() { return Error(Code::kNotFound, "Transaction not found"); }

void ServeExecute(Work& work, const CallName& call, const Request& request) {
  const auto& execute = std::get<ExecuteSql>(request);
  if (std::holds_alternative<SingleUseRead>(execute.transaction)) {
    Response response;
    response.result = ReadOnce(work, execute.statement);
    response.status = response.result.status;
    return Reply(work, call, std::move(response));
  }
  if (const auto* begin = std::get_if<BeginReadWrite>(&execute.transaction)) {
    ExecuteIn(work, Begin(work, call, *begin), call, request);
    return;
  }
  ServerTransaction* transaction = Find(work, std::get<TransactionId>(execute.transaction));
  if (transaction == nullptr) return ReplyError(work, call, NotFound());
  SupersedeParked(work, *transaction);
  if (std::optional<Response> again = Replay(work, *transaction, execute)) {
    return Reply(work, call, std::move(*again));
  }
  Status unusable = UnusableStatus(work, *transaction);
  if (!unusable.ok()) return ReplyError(work, call, std::move(unusable));
  ExecuteIn(work, *transaction, call, request);
}

// --- commit and rollback -----------------------------------------------------------------------

// s >= TT.now().latest, and above everything given before.
Timestamp NextCommitTimestamp(Work& work) {
  Timestamp& last = work.database.last_commit;
  last = std::max(RoundUpToMicros(work.moment.truetime.latest), last + Microseconds(1));
  return last;
}

Progress CommitIn(Work& work, ServerTransaction& transaction, const CallName& call,
                  const Request& request) {
  SetAge(work, transaction);
  const bool clear = ClearTheWay(work, transaction, [&](const ServerTransaction& other) {
    return CommitConflicts(transaction, other);
  });
  if (!clear) return Park(work, transaction, call, request);
  transaction.parked.reset();
  transaction.phase = TransactionPhase::kCommitting;
  transaction.commit_timestamp = NextCommitTimestamp(work);
  transaction.commit_call = call;
  work.out.emplace_back(
      CommitStarted{.transaction = transaction.id, .commit = transaction.commit_timestamp});
  return Progress::kDone;
}

void ServeCommit(Work& work, const CallName& call, const Request& request) {
  ServerTransaction* transaction =
      Find(work, std::get<TransactionId>(std::get<Commit>(request).transaction));
  if (transaction == nullptr) return ReplyError(work, call, NotFound());
  SupersedeParked(work, *transaction);
  if (transaction->doomed) return ReplyError(work, call, *transaction->doomed);
  switch (transaction->phase) {
    case TransactionPhase::kCommitted: {
      Response response;
      response.commit_timestamp = transaction->commit_timestamp;
      return Reply(work, call, std::move(response));
    }
    case TransactionPhase::kAborted:
      return ReplyError(work, call, AbortedStatus(work));
    case TransactionPhase::kRolledBack:
      return ReplyError(work, call,
                        Error(Code::kFailedPrecondition,
                              "Cannot commit a transaction after it has been rolled back."));
    case TransactionPhase::kCommitting:
      ReplyError(work, std::exchange(transaction->commit_call, call), Superseded());
      return;
    case TransactionPhase::kActive:
      break;
  }
  CommitIn(work, *transaction, call, request);
}

void ServeRollback(Work& work, const CallName& call, const TransactionId& id) {
  ServerTransaction* transaction = Find(work, id);
  Status status;  // OK for a transaction that is not known (any more)
  if (transaction != nullptr && (transaction->phase == TransactionPhase::kCommitted ||
                                 transaction->phase == TransactionPhase::kCommitting)) {
    status = Error(Code::kFailedPrecondition,
                   "Cannot rollback a transaction after it has been committed.");
  } else if (transaction != nullptr && transaction->phase == TransactionPhase::kActive) {
    SupersedeParked(work, *transaction);
    transaction->doomed.reset();
    Release(work, *transaction, TransactionPhase::kRolledBack);
  }
  ReplyError(work, call, std::move(status));
}

void Apply(Work& work, ServerTransaction& transaction) {
  const Timestamp commit = transaction.commit_timestamp;
  const Timestamp oldest_read =
      ServerTime(work.moment) - work.catalogue.options().version_retention;
  for (BufferedWrite& write : transaction.writes) {
    StoredTable& table = work.database.tables[write.table];
    const Row* before = FindNewest(table, write.key);
    if (before == nullptr && !write.row) continue;  // deleted within the transaction
    if (write.row) {
      if (before != nullptr) TakeUnwritten(write, *before, *write.row);
      for (size_t column = 0; column < write.row->size(); ++column) {
        if ((write.pending >> column & 1) != 0) (*write.row)[column] = commit;
      }
    }
    RowChanged changed{.table = write.table, .before = std::nullopt, .after = write.row};
    if (before != nullptr) changed.before = *before;
    work.out.emplace_back(std::move(changed));
    Put(table, write.key, commit, std::move(write.row), oldest_read);
  }
}

// --- waking ------------------------------------------------------------------------------------

// The parked transactions, oldest first.
std::vector<TransactionId> ParkedByAge(Work& work) {
  std::vector<std::pair<Age, TransactionId>> parked;
  for (const ServerTransaction& transaction : work.database.transactions) {
    if (transaction.parked) parked.emplace_back(*transaction.age, transaction.id);
  }
  std::sort(parked.begin(), parked.end());
  std::vector<TransactionId> ids;
  ids.reserve(parked.size());
  for (auto& [age, id] : parked) ids.push_back(std::move(id));
  return ids;
}

void TryParked(Work& work, const TransactionId& id) {
  ServerTransaction* transaction = Find(work, id);
  if (transaction == nullptr || !transaction->parked) return;
  const ParkedCall parked = *transaction->parked;
  if (std::holds_alternative<Commit>(parked.request)) {
    CommitIn(work, *transaction, parked.call, parked.request);
  } else {
    ExecuteIn(work, *transaction, parked.call, parked.request);
  }
}

void WakeParked(Work& work) {
  while (work.released) {
    work.released = false;
    for (const TransactionId& id : ParkedByAge(work)) TryParked(work, id);
  }
}

// What every call into the database ends with.
void GoOn(Work& work) {
  WakeParked(work);
  std::optional<Timestamp>& asked = work.database.look_again;
  if (!work.look || (asked && *asked <= *work.look)) return;
  asked = work.look;
  work.out.emplace_back(LookAgainAt{.server_time = *work.look});
}

}  // namespace

Database MakeDatabase(const Schema& schema) {
  Database database;
  database.tables.resize(schema.tables.size());
  return database;
}

void LoadRow(const Catalogue& catalogue, Database& database, uint32_t table, Row row,
             Timestamp commit) {
  const Key key = KeyOf(catalogue.schema().tables[table], row);
  Put(database.tables[table], key, commit, std::move(row), commit);
  database.last_commit = std::max(database.last_commit, commit);
}

void Serve(const Catalogue& catalogue, Database& database, const CallName& call,
           const Request& request, const Moment& moment, std::vector<DatabaseEffect>& out) {
  Work work{catalogue, database, moment, out};
  if (std::holds_alternative<ExecuteSql>(request)) {
    ServeExecute(work, call, request);
  } else if (const auto* begin = std::get_if<BeginTransaction>(&request)) {
    Response response;
    response.transaction = Begin(work, call, std::get<BeginReadWrite>(begin->options)).id;
    Reply(work, call, std::move(response));
  } else if (std::holds_alternative<Commit>(request)) {
    ServeCommit(work, call, request);
  } else {
    ServeRollback(work, call, std::get<Rollback>(request).transaction);
  }
  GoOn(work);
}

void CommitVisible(const Catalogue& catalogue, Database& database, const TransactionId& id,
                   const Moment& moment, std::vector<DatabaseEffect>& out) {
  Work work{catalogue, database, moment, out};
  ServerTransaction& transaction = *Find(work, id);
  out.emplace_back(
      Committed{.commit_call = transaction.commit_call, .commit = transaction.commit_timestamp});
  Apply(work, transaction);
  Response response;
  response.commit_timestamp = transaction.commit_timestamp;
  Reply(work, transaction.commit_call, std::move(response));
  Release(work, transaction, TransactionPhase::kCommitted);
  GoOn(work);
}

void LookAgain(const Catalogue& catalogue, Database& database, const Moment& moment,
               std::vector<DatabaseEffect>& out) {
  Work work{catalogue, database, moment, out};
  database.look_again.reset();
  work.released = true;
  GoOn(work);
}

}  // namespace whorl::model
