// Commit and Rollback.
#include "spanner_model/database_work.h"
#include "spanner_model/mutations.h"

namespace whorl::model {
namespace {

// --- the splits of a commit ----------------------------------------------------------------------

std::vector<uint32_t> SplitsOf(const Work& work, std::span<const BufferedWrite> writes) {
  std::vector<uint32_t> splits;
  const auto& points = work.catalogue.options().split_points;
  if (!points.empty()) {
    for (const BufferedWrite& write : writes) {
      splits.push_back(SplitOf(points, write.table, write.key));
    }
    std::sort(splits.begin(), splits.end());
    splits.erase(std::unique(splits.begin(), splits.end()), splits.end());
  }
  if (splits.empty()) splits.push_back(0);
  return splits;
}

bool ShareASplit(const Work& work, const TransactionState& a, const TransactionState& b) {
  if (work.catalogue.split_count() == 1) return true;
  const auto first = SplitsOf(work, a.writes);
  const auto second = SplitsOf(work, b.writes);
  return std::find_first_of(first.begin(), first.end(), second.begin(), second.end()) !=
         first.end();
}

// At least TT.now().latest at the coordinator, and above every timestamp that a participant has
// assigned or read at.
Timestamp NextCommitTimestamp(Work& work, std::span<const uint32_t> splits) {
  Timestamp commit = RoundUpToMicros(work.leaders[splits.front()].truetime.latest);
  for (const uint32_t split : splits) {
    const SplitState& state = work.database.splits[split];
    commit = std::max(
        commit, std::max(state.last_commit, RoundUpToMicros(state.last_read)) + Microseconds(1));
  }
  for (const uint32_t split : splits) work.database.splits[split].last_commit = commit;
  return commit;
}

// --- transactions that read as of their first statement ------------------------------------------

bool ChangedSince(const Version& version, bool was_there, const ReadLock& read) {
  return was_there != version.row.has_value() || (read.columns & version.columns) != 0;
}

// Whether a commit since the snapshot, or one under grant, changes something that was read.
bool ReadsAreStale(const Work& work, const TransactionState& transaction) {
  if (transaction.kind != TransactionKind::kOptimistic || !transaction.snapshot) return false;
  for (const ReadLock& read : transaction.reads) {
    for (const auto& [key, versions] : RowsIn(work.database.tables[read.table], read.range)) {
      bool was_there = false;
      for (const Version& version : versions) {
        if (version.commit > *transaction.snapshot && ChangedSince(version, was_there, read)) {
          return true;
        }
        was_there = version.row.has_value();
      }
    }
  }
  return std::ranges::any_of(work.database.transactions, [&](const TransactionState& other) {
    return other.phase == TransactionPhase::kCommitting &&
           ReadConflicts(transaction.reads, other.writes);
  });
}

// Whether a row that a transaction of isolation REPEATABLE READ is about to write has changed since
// its first statement. (Its locks were granted, so no commit of such a row is under way.)
bool WritesAreStale(const Work& work, const TransactionState& transaction,
                    std::span<const BufferedWrite> writes) {
  if (transaction.kind != TransactionKind::kRepeatableRead || !transaction.snapshot) return false;
  return std::ranges::any_of(writes, [&](const BufferedWrite& write) {
    const Versions* versions = FindStored(work.database.tables[write.table], write.key);
    if (versions == nullptr) return false;
    bool was_there = false;
    for (const Version& version : *versions) {
      const bool is_later = version.commit > *transaction.snapshot;
      const bool changed = was_there != version.row.has_value() ||
                           (write.columns & version.columns) != 0 || write.changes_existence;
      if (is_later && changed) return true;
      was_there = version.row.has_value();
    }
    return false;
  });
}

// --- commit --------------------------------------------------------------------------------------

Response CommitResponse(Timestamp commit) {
  Response response;
  response.commit_timestamp = commit;
  return response;
}

// A Commit that fails ends the transaction, since clients send no Rollback after it, and later
// calls get the same error. A single-use transaction is forgotten, since no client knows its id.
void Fail(Work& work, TransactionState& transaction, const CallName& call, const Request& request,
          const Status& status) {
  transaction.parked.reset();
  if (std::holds_alternative<SingleUseWrite>(std::get<Commit>(request).transaction)) {
    Forget(work, TransactionId(transaction.id));
  } else {
    transaction.doomed = status;
    Release(work, transaction, TransactionPhase::kRolledBack);
  }
  ReplyError(work, call, status);
}

void CommitIn(Work& work, TransactionState& transaction, const CallName& call,
              const Request& request) {
  SetAge(work, transaction);
  // Without mutations it writes what its statements have written.
  const bool mutates = !transaction.mutations.empty();
  MutationWrites mutated;
  if (mutates) {
    mutated = ApplyMutations(work.catalogue.schema(), work.database.tables, transaction.writes,
                             transaction.mutations, work.leaders.front().Latest());
  }
  const std::vector<BufferedWrite>& writes = mutates ? mutated.writes : transaction.writes;
  if (mutated.invalid) return Fail(work, transaction, call, request, *mutated.invalid);
  const Grant grant = RequestWriteLocks(work, transaction, writes);
  if (grant == Grant::kWait) return Park(work, transaction, call, request);
  if (grant == Grant::kAbort || ReadsAreStale(work, transaction) ||
      WritesAreStale(work, transaction, writes)) {
    transaction.parked.reset();
    Abort(work, transaction);
    return ReplyError(work, call, AbortedStatus(work));
  }
  if (mutated.refused) return Fail(work, transaction, call, request, *mutated.refused);
  transaction.parked.reset();
  if (mutates) transaction.writes = std::move(mutated.writes);
  transaction.phase = TransactionPhase::kCommitting;
  const auto splits = SplitsOf(work, transaction.writes);
  transaction.commit_timestamp = NextCommitTimestamp(work, splits);
  transaction.commit_call = call;
  work.out.emplace_back(CommitStarted{.transaction = transaction.id,
                                      .commit = transaction.commit_timestamp,
                                      .leader = splits.front()});
}

// A Commit on a multiplexed session has to carry the newest precommit token, which shows that the
// client has received every answer. A transaction that was never given one, which has executed
// nothing, needs none unless it writes. If it does not, answers the call and returns false.
bool CheckPrecommitToken(Work& work, TransactionState& transaction, const CallName& call,
                         const Commit& commit) {
  if (commit.session.empty() || !IsMultiplexed(work, commit.session)) return true;
  const bool was_given = transaction.precommit_sequence > 0;
  if (!was_given && commit.mutations.empty()) return true;
  if (commit.precommit_token.empty()) {
    ReplyError(work, call,
               Error(Code::kFailedPrecondition,
                     "Commit in a multiplexed session needs the precommit token that the last "
                     "statement's answer has brought"));
    return false;
  }
  if (commit.precommit_token == PrecommitToken(transaction)) return true;
  Response response;
  response.precommit_token = PrecommitToken(transaction);
  response.precommit_sequence = transaction.precommit_sequence;
  Reply(work, call, std::move(response));
  return false;
}

void CommitBegun(Work& work, TransactionState& transaction, const CallName& call,
                 const Request& request) {
  const Commit& commit = std::get<Commit>(request);
  SupersedeParked(work, transaction);
  if (transaction.doomed) return ReplyError(work, call, *transaction.doomed);
  switch (transaction.phase) {
    case TransactionPhase::kCommitted:
      return Reply(work, call, CommitResponse(transaction.commit_timestamp));
    case TransactionPhase::kAborted:
      return ReplyError(work, call, AbortedStatus(work));
    case TransactionPhase::kRolledBack:
      return ReplyError(work, call,
                        Error(Code::kFailedPrecondition,
                              "Cannot commit a transaction after it has been rolled back."));
    case TransactionPhase::kShutOut:
      return ReplyError(work, call,
                        Error(Code::kFailedPrecondition,
                              "Invalid transaction ID. A later transaction of the session was "
                              "used."));
    case TransactionPhase::kCommitting:
      return ReplyError(work, std::exchange(transaction.commit_call, call), Superseded());
    case TransactionPhase::kActive:
      break;
  }
  if (!commit.mutations.empty()) transaction.mutations = commit.mutations;
  if (!CheckPrecommitToken(work, transaction, call, commit)) return;
  CommitIn(work, transaction, call, request);
}

void WriteRows(Work& work, TransactionState& transaction) {
  const Timestamp commit = transaction.commit_timestamp;
  for (const uint32_t split : SplitsOf(work, transaction.writes)) {
    work.database.splits[split].last_visible = commit;
  }
  const Timestamp oldest_read = OldestRead(work);
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
    Put(table, write.key, {.commit = commit, .columns = write.columns, .row = std::move(write.row)},
        oldest_read);
  }
}

// Drops unreadable versions of all rows once a minute; Put drops only those of the rows that are
// written.
void CollectNowAndThen(Work& work) {
  constexpr Duration kEvery = Seconds(60);
  const Timestamp oldest_read = OldestRead(work);
  if (oldest_read - work.database.collected < kEvery) return;
  work.database.collected = oldest_read;
  for (StoredTable& table : work.database.tables) Collect(table, oldest_read);
}

// Whether an earlier commit on one of its splits is not visible yet.
bool IsHeldBack(const Work& work, const TransactionState& transaction) {
  return std::any_of(work.database.transactions.begin(), work.database.transactions.end(),
                     [&](const TransactionState& other) {
                       return other.phase == TransactionPhase::kCommitting &&
                              other.commit_timestamp < transaction.commit_timestamp &&
                              ShareASplit(work, other, transaction);
                     });
}

// The replicated commit with the least timestamp that no earlier commit holds back, or null.
TransactionState* NextToBecomeVisible(Work& work) {
  if (work.catalogue.split_count() == 1) {
    // The earliest holds back all others.
    TransactionState* earliest = nullptr;
    for (TransactionState& one : work.database.transactions) {
      if (one.phase != TransactionPhase::kCommitting) continue;
      if (earliest == nullptr || one.commit_timestamp < earliest->commit_timestamp) {
        earliest = &one;
      }
    }
    return earliest != nullptr && earliest->replicated ? earliest : nullptr;
  }
  TransactionState* next = nullptr;
  for (TransactionState& one : work.database.transactions) {
    if (one.phase != TransactionPhase::kCommitting || !one.replicated) continue;
    if (next != nullptr && next->commit_timestamp < one.commit_timestamp) continue;
    if (!IsHeldBack(work, one)) next = &one;
  }
  return next;
}

void Show(Work& work, TransactionState& transaction) {
  const CallName call = transaction.commit_call;
  work.out.emplace_back(Committed{.commit_call = call, .commit = transaction.commit_timestamp});
  WriteRows(work, transaction);
  Reply(work, call, CommitResponse(transaction.commit_timestamp));
  Release(work, transaction, TransactionPhase::kCommitted);
}

Status CannotEndReadOnly() {
  return Error(Code::kFailedPrecondition,
               "Cannot commit or rollback a read-only or partitioned-dml transaction.");
}

}  // namespace

void ServeCommit(Work& work, const CallName& call, const Request& request) {
  const Commit& commit = std::get<Commit>(request);
  if (Status status = UseSession(work, commit.session); !status.ok()) {
    return ReplyError(work, call, std::move(status));
  }
  if (const auto* id = std::get_if<TransactionId>(&commit.transaction)) {
    TransactionState* transaction = FindOnSession(work, *id, commit.session);
    if (transaction == nullptr) return ReplyError(work, call, TransactionNotFound());
    if (transaction->kind == TransactionKind::kReadOnly) {
      return ReplyError(work, call, CannotEndReadOnly());
    }
    return CommitBegun(work, *transaction, call, request);
  }
  TransactionState& transaction = BeginIn(work, call, commit.session, BeginReadWrite{});
  transaction.mutations = commit.mutations;
  CommitIn(work, transaction, call, request);
}

void RetryParkedCommit(Work& work, TransactionState& transaction) {
  const ParkedCall parked = *transaction.parked;
  CommitIn(work, transaction, parked.call, parked.request);
}

void ServeRollback(Work& work, const CallName& call, const Rollback& rollback) {
  if (Status status = UseSession(work, rollback.session); !status.ok()) {
    return ReplyError(work, call, std::move(status));
  }
  TransactionState* transaction = FindOnSession(work, rollback.transaction, rollback.session);
  Status status;  // OK for an unknown or forgotten transaction
  if (transaction == nullptr) return ReplyError(work, call, std::move(status));
  if (transaction->kind == TransactionKind::kReadOnly) {
    status = CannotEndReadOnly();
  } else if (transaction->phase == TransactionPhase::kCommitted ||
             transaction->phase == TransactionPhase::kCommitting) {
    status = Error(Code::kFailedPrecondition,
                   "Cannot rollback a transaction after it has been committed.");
  } else if (transaction->phase == TransactionPhase::kRolledBack) {
    transaction->doomed.reset();
  } else if (transaction->phase == TransactionPhase::kAborted && transaction->doomed) {
    // Its client knows of the failure, and not that it was aborted.
    transaction->doomed.reset();
    transaction->phase = TransactionPhase::kRolledBack;
  } else if (transaction->phase == TransactionPhase::kActive) {
    SupersedeParked(work, *transaction);
    transaction->doomed.reset();
    Release(work, *transaction, TransactionPhase::kRolledBack);
  }
  ReplyError(work, call, std::move(status));
}

void MakeVisible(Work& work, const TransactionId& id) {
  FindLive(work, id)->replicated = true;
  while (TransactionState* next = NextToBecomeVisible(work)) Show(work, *next);
  CollectNowAndThen(work);
}

void KeepNewestVersions(const Catalogue& catalogue, Database& database, size_t limit,
                        std::span<const ClockReading> leaders) {
  std::vector<DatabaseEffect> none;
  const Work work{.catalogue = catalogue, .database = database, .leaders = leaders, .out = none};
  const std::optional<Timestamp> enough = OldestReadWithin(database.tables, limit);
  if (!enough) return;
  const Timestamp oldest_read = std::min(*enough, OldestOpenRead(work).value_or(*enough));
  database.collected = std::max(database.collected, oldest_read);
  for (StoredTable& table : database.tables) Collect(table, oldest_read);
}

}  // namespace whorl::model
