// Who makes way for whom. The rules stand in transaction.h.
#include "spanner_model/database_work.h"
#include "spanner_model/mutations.h"

namespace whorl::model {
namespace {

bool IsIdle(const Work& work, const ServerTransaction& transaction) {
  return !transaction.parked && transaction.phase == TransactionPhase::kActive &&
         ServerTime(work) - transaction.last_used >= work.catalogue.options().idle_limit;
}

// Makes way for `mine` against one transaction that is in its way; whether it must wait for it.
bool MustWaitFor(Work& work, const ServerTransaction& mine, ServerTransaction& other) {
  if (other.phase == TransactionPhase::kCommitting) return true;
  if (*mine.age < *other.age || IsIdle(work, other)) {
    Abort(work, other);
    return false;
  }
  if (!other.parked) LookAt(work, other.last_used + work.catalogue.options().idle_limit);
  return true;
}

template <typename InTheWay>
Way ClearTheWay(Work& work, const ServerTransaction& mine, const InTheWay& in_the_way) {
  bool clear = true;
  for (ServerTransaction& other : work.database.transactions) {
    if (&other == &mine || IsOver(other) || !other.age || !in_the_way(other)) continue;
    if (MustWaitFor(work, mine, other)) clear = false;
  }
  return clear ? Way::kClear : Way::kWait;
}

// A writer is in a reader's way while it commits, and while it waits to commit if it is older:
// otherwise new readers could keep it waiting for ever.
bool IsInReadersWay(const Work& work, const ServerTransaction& reader, const ReadLock& wanted,
                    const ServerTransaction& other) {
  if (other.phase == TransactionPhase::kCommitting) return ReadConflicts(wanted, other);
  const bool waits_to_commit =
      other.parked && std::holds_alternative<Commit>(other.parked->request);
  if (!waits_to_commit || *reader.age < *other.age) return false;
  if (other.mutations.empty()) return ReadConflicts(wanted, other);
  // Its mutations become writes when it commits.
  const MutationWrites writes = ApplyMutations(work.catalogue.schema(), work.database.tables,
                                               other.writes, other.mutations, ServerTime(work));
  return std::any_of(writes.writes.begin(), writes.writes.end(),
                     [&](const BufferedWrite& write) { return Conflict(wanted, write); });
}

// The emulator's only lock: whoever has an age holds it, until it is doomed.
Way TakeTheOneLock(const Work& work, const ServerTransaction& mine) {
  for (const ServerTransaction& other : work.database.transactions) {
    if (&other != &mine && !IsOver(other) && other.age && !other.doomed) return Way::kAborted;
  }
  return Way::kClear;
}

bool IsEmulator(const Work& work) {
  return work.catalogue.options().concurrency == Concurrency::kEmulator;
}

}  // namespace

Way ClearForReads(Work& work, const ServerTransaction& mine, std::span<const ReadLock> wanted) {
  if (IsEmulator(work)) return TakeTheOneLock(work, mine);
  return ClearTheWay(work, mine, [&](const ServerTransaction& other) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const ReadLock& lock) {
      return IsInReadersWay(work, mine, lock, other);
    });
  });
}

Way ClearForCommit(Work& work, const ServerTransaction& mine,
                   std::span<const BufferedWrite> writes) {
  if (IsEmulator(work)) return TakeTheOneLock(work, mine);
  return ClearTheWay(
      work, mine, [&](const ServerTransaction& other) { return CommitConflicts(writes, other); });
}

void Park(Work& work, ServerTransaction& transaction, const CallName& call,
          const Request& request) {
  if (!transaction.parked) work.out.emplace_back(Parked{.call = call});
  transaction.parked = ParkedCall{.call = call, .request = request};
}

}  // namespace whorl::model
