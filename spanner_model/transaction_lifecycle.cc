// Transactions from their begin to the memory of their outcome.
#include "spanner_model/database_work.h"

namespace whorl::model {
namespace {

// How long a finished transaction's outcome is remembered: as long as an idle session lives.
constexpr Duration kRememberOutcome = Seconds(3600);
// Outcomes remembered at most; the oldest are forgotten first. A client that asks for its outcome
// after this number of other clients' transactions does not get it.
constexpr size_t kOutcomesMax = 4096;

TransactionState* FindIn(std::vector<TransactionState>& all, const TransactionId& id) {
  const auto found =
      std::find_if(all.rbegin(), all.rend(),
                   [&](const TransactionState& transaction) { return transaction.id == id; });
  return found == all.rend() ? nullptr : &*found;
}

bool IsUnused(const Work& work, const TransactionState& transaction) {
  return ServerTime(work) - transaction.last_used > kRememberOutcome;
}

// Drops active transactions that were not used for long: a client that lost the reply to its begin
// leaves locks behind.
void ForgetAbandoned(Work& work) {
  std::erase_if(work.database.transactions, [&](const TransactionState& old) {
    const bool abandoned =
        old.phase == TransactionPhase::kActive && !old.parked && IsUnused(work, old);
    work.released = work.released || abandoned;
    return abandoned;
  });
}

// Drops outcomes that no client will ask for again: those of earlier transactions that the same
// process ran in the same place (except `previous`, whose age a resent begin needs once more), those
// not used for long, and the oldest if there are too many.
void ForgetOutcomes(Work& work, const CallName& begin, const SessionName& session,
                    const TransactionId& previous) {
  std::vector<TransactionState>& finished = work.database.finished;
  if (session.empty() || work.catalogue.options().calls_name_places) {
    std::erase_if(finished, [&](const TransactionState& old) {
      const CallName& name = old.begun_by;
      return old.session == session && name.process == begin.process && name.lock == begin.lock &&
             name.request == begin.request && old.id != previous;
    });
  }
  size_t gone = finished.size() > 2 * kOutcomesMax ? finished.size() - kOutcomesMax : 0;
  while (gone < finished.size() && IsUnused(work, finished[gone])) ++gone;
  finished.erase(finished.begin(), finished.begin() + static_cast<std::ptrdiff_t>(gone));
}

// A regular session has one read-write transaction at a time, so a new one ends the one before. If
// the newest one was ABORTED, the new one is its next attempt: returns its id, or else an empty
// one.
TransactionId EndEarlierOnSession(Work& work, const SessionName& session) {
  const auto& finished = work.database.finished;
  const auto last =
      std::find_if(finished.rbegin(), finished.rend(),
                   [&](const TransactionState& old) { return old.session == session; });
  const bool was_aborted = last != finished.rend() && last->phase == TransactionPhase::kAborted;
  TransactionId last_aborted = was_aborted ? last->id : TransactionId();
  if (work.catalogue.options().concurrency == Concurrency::kEmulator) return last_aborted;
  for (TransactionState& old : work.database.transactions) {
    if (old.session == session && old.phase == TransactionPhase::kActive) Abort(work, old);
  }
  return last_aborted;
}

TransactionState& Add(Work& work, const CallName& call, const SessionName& session) {
  TransactionState& transaction = work.database.transactions.emplace_back();
  transaction.id = MakeTransactionId(call);
  transaction.session = session;
  transaction.begun_by = call;
  transaction.last_used = ServerTime(work);
  return transaction;
}

TransactionKind KindOf(const Work& work, const BeginReadWrite& options) {
  const Isolation isolation = options.isolation == Isolation::kUnspecified
                                  ? work.catalogue.options().default_isolation
                                  : options.isolation;
  if (isolation == Isolation::kRepeatableRead) return TransactionKind::kRepeatableRead;
  return options.lock_mode == LockMode::kOptimistic ? TransactionKind::kOptimistic
                                                    : TransactionKind::kPessimistic;
}

}  // namespace

TransactionState* FindLive(Work& work, const TransactionId& id) {
  return FindIn(work.database.transactions, id);
}

TransactionState* FindFinished(Work& work, const TransactionId& id) {
  return FindIn(work.database.finished, id);
}

TransactionState* FindOnSession(Work& work, const TransactionId& id, const SessionName& session) {
  TransactionState* found = FindLive(work, id);
  if (found == nullptr) found = FindFinished(work, id);
  return found != nullptr && found->session == session ? found : nullptr;
}

TransactionState& BeginIn(Work& work, const CallName& call, const SessionName& session,
                          const BeginReadWrite& options) {
  TransactionId previous = options.previous;
  if (!session.empty() && !IsMultiplexed(work, session)) {
    previous = EndEarlierOnSession(work, session);
  }
  std::optional<Age> age;
  // By the emulator's rule a transaction with an age holds the lock, so no attempt inherits one.
  const bool inherits = work.catalogue.options().concurrency == Concurrency::kSpanner;
  if (inherits && !previous.empty()) {
    if (const TransactionState* earlier = FindOnSession(work, previous, session)) {
      age = earlier->age;
    }
  }
  // Two heirs of one attempt must not be equally old: each would wait for the other.
  if (age) age->name = call;
  ForgetAbandoned(work);
  ForgetOutcomes(work, call, session, previous);
  TransactionState& transaction = Add(work, call, session);
  transaction.age = age;
  if (work.catalogue.options().concurrency == Concurrency::kSpanner) {
    transaction.kind = KindOf(work, options);
  }
  return transaction;
}

TransactionState& BeginIn(Work& work, const CallName& call, const SessionName& session,
                          Timestamp snapshot) {
  ForgetAbandoned(work);
  TransactionState& transaction = Add(work, call, session);
  transaction.kind = TransactionKind::kReadOnly;
  transaction.snapshot = snapshot;
  return transaction;
}

void Forget(Work& work, const TransactionId& id) {
  std::erase_if(work.database.transactions,
                [&](const TransactionState& transaction) { return transaction.id == id; });
  work.released = true;
}

void Release(Work& work, TransactionState& transaction, TransactionPhase phase) {
  transaction.phase = phase;
  transaction.reads.clear();
  transaction.writes.clear();
  // After the end, too, a repeated statement gets its answer, unless the transaction is ABORTED.
  if (phase == TransactionPhase::kAborted) transaction.served.clear();
  transaction.last_used = ServerTime(work);
  work.released = true;
}

void Abort(Work& work, TransactionState& transaction) {
  work.out.emplace_back(Aborted{.begun_by = transaction.begun_by});
  if (transaction.parked) {
    ReplyError(work, transaction.parked->call, AbortedStatus(work));
    transaction.parked.reset();
  }
  Release(work, transaction, TransactionPhase::kAborted);
}

void CompactFinished(Work& work) {
  std::vector<TransactionState>& live = work.database.transactions;
  if (std::ranges::none_of(live, IsOver)) return;
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

void SetAge(Work& work, TransactionState& transaction) {
  if (transaction.age) return;
  transaction.age =
      Age{.place = ++work.database.ages, .name = transaction.begun_by, .since = ServerTime(work)};
}

Status Superseded() { return Error(Code::kUnavailable, "superseded by a resent call"); }

void SupersedeParked(Work& work, TransactionState& transaction) {
  if (!transaction.parked) return;
  ReplyError(work, transaction.parked->call, Superseded());
  transaction.parked.reset();
  work.released = true;  // a Commit that no longer waits blocks no reader
}

}  // namespace whorl::model
