// Which transactions wait for others and which are aborted for them, by the rules in transaction.h.
#include "spanner_model/database_work.h"
#include "spanner_model/mutations.h"

namespace whorl::model {
namespace {

bool IsIdle(const Work& work, const TransactionState& transaction) {
  return !transaction.parked && transaction.phase == TransactionPhase::kActive &&
         ServerTime(work) - transaction.last_used >= work.catalogue.options().idle_limit;
}

// Whether `mine` has to wait for `other`, which blocks it; if not, aborts `other`.
bool MustWaitFor(Work& work, const TransactionState& mine, TransactionState& other) {
  if (other.phase == TransactionPhase::kCommitting) return true;
  if (*mine.age < *other.age || IsIdle(work, other)) {
    Abort(work, other);
    return false;
  }
  if (!other.parked) LookAt(work, other.last_used + work.catalogue.options().idle_limit);
  return true;
}

template <typename Blocks>
Grant WoundOrWait(Work& work, const TransactionState& mine, const Blocks& blocks) {
  bool granted = true;
  for (TransactionState& other : work.database.transactions) {
    if (&other == &mine || IsOver(other) || !other.age || !blocks(other)) continue;
    if (MustWaitFor(work, mine, other)) granted = false;
  }
  return granted ? Grant::kGranted : Grant::kWait;
}

// A writer blocks a reader while it commits, and also while it waits to commit if it is older:
// otherwise new readers could keep it waiting for ever.
bool BlocksReader(const Work& work, const TransactionState& reader,
                  std::span<const ReadLock> wanted, const TransactionState& other) {
  if (other.phase == TransactionPhase::kCommitting) return ReadConflicts(wanted, other.writes);
  const bool waits_to_commit =
      other.parked && std::holds_alternative<Commit>(other.parked->request);
  if (!waits_to_commit || *reader.age < *other.age) return false;
  if (other.mutations.empty()) return ReadConflicts(wanted, other.writes);
  // Its mutations become writes when it commits.
  const MutationWrites writes =
      ApplyMutations(work.catalogue.schema(), work.database.tables, other.writes, other.mutations,
                     work.leaders.front().Latest());
  return ReadConflicts(wanted, writes.writes);
}

// The emulator's only lock: a transaction with an age holds it, unless it is doomed.
Grant TakeTheOneLock(const Work& work, const TransactionState& mine) {
  for (const TransactionState& other : work.database.transactions) {
    if (&other != &mine && !IsOver(other) && other.age && !other.doomed) return Grant::kAbort;
  }
  return Grant::kGranted;
}

bool IsEmulator(const Work& work) {
  return work.catalogue.options().concurrency == Concurrency::kEmulator;
}

}  // namespace

Grant RequestReadLocks(Work& work, const TransactionState& mine, std::span<const ReadLock> wanted) {
  if (IsEmulator(work)) return TakeTheOneLock(work, mine);
  return WoundOrWait(work, mine, [&](const TransactionState& other) {
    return BlocksReader(work, mine, wanted, other);
  });
}

Grant RequestWriteLocks(Work& work, const TransactionState& mine,
                        const std::vector<BufferedWrite>& writes) {
  if (IsEmulator(work)) return TakeTheOneLock(work, mine);
  return WoundOrWait(work, mine,
                     [&](const TransactionState& other) { return CommitConflicts(writes, other); });
}

void Park(Work& work, TransactionState& transaction, const CallName& call, const Request& request) {
  if (!transaction.parked) work.out.emplace_back(Parked{.call = call});
  transaction.parked = ParkedCall{.call = call, .request = request};
}

}  // namespace whorl::model
