// Transactions as the server keeps them: from their begin to what is remembered of their end.
#include "spanner_model/database_work.h"

namespace whorl::model {
namespace {

// How long a finished transaction's outcome is remembered: as long as an idle session lives.
constexpr Duration kRememberOutcome = Seconds(3600);
// How many outcomes are remembered at most; the oldest go first. A client that is late by so many
// transactions of other clients loses its answer.
constexpr size_t kMostOutcomes = 4096;

ServerTransaction* FindIn(std::vector<ServerTransaction>& all, const TransactionId& id) {
  const auto found =
      std::find_if(all.rbegin(), all.rend(),
                   [&](const ServerTransaction& transaction) { return transaction.id == id; });
  return found == all.rend() ? nullptr : &*found;
}

bool IsUnused(const Work& work, const ServerTransaction& transaction) {
  return ServerTime(work) - transaction.last_used > kRememberOutcome;
}

// What is active and was not used for long, since a client that lost its begin's reply leaves locks
// behind on real Spanner, too.
void ForgetAbandoned(Work& work) {
  std::erase_if(work.database.transactions, [&](const ServerTransaction& old) {
    const bool abandoned =
        old.phase == TransactionPhase::kActive && !old.parked && IsUnused(work, old);
    work.released = work.released || abandoned;
    return abandoned;
  });
}

// What nobody will ask for again: the outcome of an earlier transaction in the same place of the
// same process, but for `previous`, whose age a resent begin asks for once more; what has not been
// used for long; and what is too much.
void ForgetOutcomes(Work& work, const CallName& begin, const SessionName& session,
                    const TransactionId& previous) {
  std::vector<ServerTransaction>& finished = work.database.finished;
  if (session.empty() || work.catalogue.options().calls_name_places) {
    std::erase_if(finished, [&](const ServerTransaction& old) {
      const CallName& name = old.begun_by;
      return old.session == session && name.process == begin.process && name.lock == begin.lock &&
             name.request == begin.request && old.id != previous;
    });
  }
  size_t gone = finished.size() > 2 * kMostOutcomes ? finished.size() - kMostOutcomes : 0;
  while (gone < finished.size() && IsUnused(work, finished[gone])) ++gone;
  finished.erase(finished.begin(), finished.begin() + static_cast<std::ptrdiff_t>(gone));
}

// A regular session has one read-write transaction at a time: the one before is over, and if it was
// ABORTED, the new one is its next attempt. Returns that one.
TransactionId EndEarlierOnSession(Work& work, const SessionName& session) {
  const auto& finished = work.database.finished;
  const auto last =
      std::find_if(finished.rbegin(), finished.rend(),
                   [&](const ServerTransaction& old) { return old.session == session; });
  const bool was_aborted = last != finished.rend() && last->phase == TransactionPhase::kAborted;
  TransactionId last_aborted = was_aborted ? last->id : TransactionId();
  if (work.catalogue.options().concurrency == Concurrency::kEmulator) return last_aborted;
  for (ServerTransaction& old : work.database.transactions) {
    if (old.session == session && old.phase == TransactionPhase::kActive) Abort(work, old);
  }
  return last_aborted;
}

ServerTransaction& Add(Work& work, const CallName& call, const SessionName& session) {
  ServerTransaction transaction;
  transaction.id = MakeTransactionId(call);
  transaction.session = session;
  transaction.begun_by = call;
  transaction.last_used = ServerTime(work);
  work.database.transactions.push_back(std::move(transaction));
  return work.database.transactions.back();
}

}  // namespace

ServerTransaction* FindLive(Work& work, const TransactionId& id) {
  return FindIn(work.database.transactions, id);
}

ServerTransaction* FindFinished(Work& work, const TransactionId& id) {
  return FindIn(work.database.finished, id);
}

ServerTransaction* FindOnSession(Work& work, const TransactionId& id, const SessionName& session) {
  ServerTransaction* found = FindLive(work, id);
  if (found == nullptr) found = FindFinished(work, id);
  return found != nullptr && found->session == session ? found : nullptr;
}

ServerTransaction& BeginIn(Work& work, const CallName& call, const SessionName& session,
                           const BeginReadWrite& options) {
  TransactionId previous = options.previous;
  if (!session.empty() && !IsMultiplexed(work, session)) {
    previous = EndEarlierOnSession(work, session);
  }
  std::optional<Age> age;
  // By the emulator's rule, age is to hold the lock, and no attempt is born with it.
  const bool inherits = work.catalogue.options().concurrency == Concurrency::kSpanner;
  if (inherits && !previous.empty()) {
    if (const ServerTransaction* earlier = FindOnSession(work, previous, session)) {
      age = earlier->age;
    }
  }
  // Two heirs of one attempt are not equally old: each would wait for the other.
  if (age) age->name = call;
  ForgetAbandoned(work);
  ForgetOutcomes(work, call, session, previous);
  ServerTransaction& transaction = Add(work, call, session);
  transaction.age = age;
  if (options.lock_mode == LockMode::kOptimistic &&
      work.catalogue.options().concurrency == Concurrency::kSpanner) {
    transaction.kind = TransactionKind::kOptimistic;
  }
  return transaction;
}

ServerTransaction& BeginIn(Work& work, const CallName& call, const SessionName& session,
                           Timestamp snapshot) {
  ForgetAbandoned(work);
  ServerTransaction& transaction = Add(work, call, session);
  transaction.kind = TransactionKind::kReadOnly;
  transaction.snapshot = snapshot;
  return transaction;
}

void Forget(Work& work, const TransactionId& id) {
  std::erase_if(work.database.transactions,
                [&](const ServerTransaction& transaction) { return transaction.id == id; });
  work.released = true;
}

void Release(Work& work, ServerTransaction& transaction, TransactionPhase phase) {
  transaction.phase = phase;
  transaction.reads.clear();
  transaction.writes.clear();
  // A repeated statement is answered after the end, too, but for an ABORTED transaction's.
  if (phase == TransactionPhase::kAborted) transaction.served.clear();
  transaction.last_used = ServerTime(work);
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

void SortOutFinished(Work& work) {
  std::vector<ServerTransaction>& live = work.database.transactions;
  auto kept = live.begin();
  for (auto one = live.begin(); one != live.end(); ++one) {
    if (IsOver(*one)) {
      work.database.finished.push_back(std::move(*one));
    } else {
      if (kept != one) *kept = std::move(*one);
      ++kept;
    }
  }
  live.erase(kept, live.end());
}

void SetAge(Work& work, ServerTransaction& transaction) {
  if (transaction.age) return;
  transaction.age = Age{.since = ServerTime(work), .name = transaction.begun_by};
}

Status Superseded() { return Error(Code::kUnavailable, "superseded by a resent call"); }

void SupersedeParked(Work& work, ServerTransaction& transaction) {
  if (!transaction.parked) return;
  ReplyError(work, transaction.parked->call, Superseded());
  transaction.parked.reset();
  work.released = true;  // a Commit that no longer waits is in no reader's way
}

}  // namespace whorl::model
