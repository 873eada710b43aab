#include "protocol/lease_lock/locker.h"

#include <algorithm>
#include <utility>

#include "protocol/lease_lock/words.h"

namespace whorl::lease_lock {
namespace {

Reply Refused(ErrorKind kind, std::string text) {
  return {.lock = std::nullopt, .error = LockerError{.kind = kind, .text = std::move(text)}};
}
Reply Invalid(std::string text) { return Refused(ErrorKind::kInvalidArgument, std::move(text)); }

// The error in the arguments; empty if they are valid.
std::optional<Reply> CheckNames(const std::string& key, const std::string& owner) {
  if (key.empty()) return Invalid("the key is required");
  if (owner.empty()) return Invalid("the owner is required");
  return std::nullopt;
}
std::optional<Reply> CheckTerm(const LeaseTerm& term) {
  if (term.lease_end.has_value() != term.lease_duration.has_value()) return std::nullopt;
  return Invalid("exactly one of lease_end and lease_duration has to be given");
}

Lock LockFrom(const Locker& locker, std::string key, std::string owner, const LeaseTerm& term,
              Timestamp now) {
  const Timestamp until = term.lease_end ? *term.lease_end : now + *term.lease_duration;
  return {.key = std::move(key),
          .owner = std::move(owner),
          .leased_until = until,
          .created_at = now,
          .ttl = until + locker.constants.kept_after};
}

// The test that ends a transaction while another owner's lease, or the grace after it, lasts. The
// test passes a row that is exactly as old as the given length, but a lease is over only at a later
// time than its end, so the length is a nanosecond longer.
UnlessHeld TestFor(const Locker& locker, const Lock& lock) {
  return {.me = lock.owner, .lease = locker.constants.grace + Nanoseconds(1)};
}

// A transaction that reads who has the lock, and ends if another owner has.
Transaction Tested(const Locker& locker, StepName step, const Lock& lock, Timestamp now) {
  Transaction transaction =
      OneStatement(step, Mode::kReadWrite, locker.test, ValuesOf(lock.key, now));
  transaction.body = TestFor(locker, lock);
  return transaction;
}

Transaction AcquireOf(const Locker& locker, const Lock& lock, Timestamp now) {
  Transaction transaction = Tested(locker, steps::kAcquire, lock, now);
  transaction.mutations.push_back(
      {.kind = MutationKind::kInsertOrUpdate,
       .table = locker.table,
       .columns = {"key", "owner", "leased_until", "created_at", "ttl"},
       .rows = {ValuesOf(lock.key, lock.owner, lock.leased_until, lock.created_at, lock.ttl)},
       .keys = {}});
  return transaction;
}

// The next key of an AcquireAnyLock, or the only one of an AcquireLock.
Transaction TryKey(const Locker& locker, std::string key, Timestamp now, Call& call) {
  call.lock = LockFrom(locker, std::move(key), std::move(call.lock.owner), call.term, now);
  return AcquireOf(locker, call.lock, now);
}

// True if the transaction ended because it read another owner's lease, or a row without an owner.
bool FoundAnother(const Locker& locker, const Call& call, const TransactionResult& result) {
  if (result.results.empty() || !result.results.front().status.ok()) return false;
  const StatementResult& first = result.results.front();
  if (call.kind == CallKind::kHeartbeat) return first.row_count == 0;
  return HolderIn(first.rows, TestFor(locker, call.lock)).kind != HolderKind::kNone;
}

Next OnRefused(const Locker& locker, Call& call, const TransactionResult& result, Timestamp now) {
  if (result.outcome == Outcome::kUnknown || !FoundAnother(locker, call, result)) {
    return Refused(ErrorKind::kFailed, FormatStatus(result.status));
  }
  if (call.keys_left.empty()) {
    return Refused(ErrorKind::kUnavailable, "the lock is held by another owner");
  }
  std::string key = std::move(call.keys_left.front());
  call.keys_left.erase(call.keys_left.begin());
  return TryKey(locker, std::move(key), now, call);
}

template <typename T>
T ColumnOf(const Row& row, size_t column) {
  const auto* value = std::get_if<T>(&row[column]);
  return value == nullptr ? T{} : *value;
}

Reply Found(const std::vector<Row>& rows) {
  Reply reply;
  if (rows.empty()) return reply;
  const Row& row = rows.front();
  reply.lock = Lock{.key = ColumnOf<std::string>(row, 0),
                    .owner = ColumnOf<std::string>(row, 1),
                    .leased_until = ColumnOf<Timestamp>(row, 2),
                    .created_at = ColumnOf<Timestamp>(row, 3),
                    .ttl = ColumnOf<Timestamp>(row, 4)};
  return reply;
}

// Fisher and Yates.
void Shuffle(std::vector<std::string>& keys, Entropy& entropy) {
  for (size_t left = keys.size(); left > 1; --left) {
    const int64_t drawn = entropy.Between(purposes::kKeyOrder, 0, static_cast<int64_t>(left) - 1);
    std::swap(keys[left - 1], keys[static_cast<size_t>(drawn)]);
  }
}

}  // namespace

Locker NewLocker(const std::string& table) {
  const Parameter key{.name = "key", .type = Type::kString};
  const Parameter owner{.name = "owner", .type = Type::kString};
  const Parameter now{.name = "now", .type = Type::kTimestamp};
  Locker locker;
  locker.table = table;
  locker.test = Sql::Intern(
      "SELECT owner, leased_until, @now AS now FROM " + table + " WHERE key = @key", {key, now});
  locker.heartbeat = Sql::Intern(
      "UPDATE " + table +
          " SET owner = @owner, leased_until = @leased_until, created_at = @created_at, ttl = @ttl "
          "WHERE key = @key AND owner = @owner",
      {key,
       owner,
       {.name = "leased_until", .type = Type::kTimestamp},
       {.name = "created_at", .type = Type::kTimestamp},
       {.name = "ttl", .type = Type::kTimestamp}});
  locker.get = Sql::Intern(
      "SELECT key, owner, leased_until, created_at, ttl FROM " + table + " WHERE key = @key",
      {key});
  return locker;
}

Next AcquireLock(const Locker& locker, const AcquireLockInput& input, Timestamp now, Call& call) {
  if (auto error = CheckNames(input.key, input.owner)) return *std::move(error);
  if (auto error = CheckTerm(input.term)) return *std::move(error);
  call = {.kind = CallKind::kAcquire, .lock = {}, .term = input.term, .keys_left = {}};
  call.lock.owner = input.owner;
  return TryKey(locker, input.key, now, call);
}

Next AcquireAnyLock(const Locker& locker, const AcquireAnyLockInput& input, Timestamp now,
                    Entropy& entropy, Call& call) {
  if (input.keys.empty()) return Invalid("at least one key is required");
  for (const std::string& key : input.keys) {
    if (auto error = CheckNames(key, input.owner)) return *std::move(error);
  }
  if (auto error = CheckTerm(input.term)) return *std::move(error);
  call = {.kind = CallKind::kAcquire, .lock = {}, .term = input.term, .keys_left = input.keys};
  call.lock.owner = input.owner;
  if (input.randomize_order) Shuffle(call.keys_left, entropy);
  std::string first = std::move(call.keys_left.front());
  call.keys_left.erase(call.keys_left.begin());
  return TryKey(locker, std::move(first), now, call);
}

Next HeartbeatLock(const Locker& locker, const HeartbeatLockInput& input, Timestamp now,
                   Call& call) {
  const Lock& original = input.original_lock;
  if (auto error = CheckNames(original.key, original.owner)) return *std::move(error);
  if (auto error = CheckTerm(input.term)) return *std::move(error);
  call = {.kind = CallKind::kHeartbeat,
          .lock = LockFrom(locker, original.key, original.owner, input.term, now),
          .term = input.term,
          .keys_left = {}};
  const Lock& lock = call.lock;
  Transaction transaction =
      OneStatement(steps::kHeartbeat, Mode::kReadWrite, locker.heartbeat,
                   ValuesOf(lock.key, lock.owner, lock.leased_until, lock.created_at, lock.ttl));
  transaction.body = IfRowChanged{};
  return transaction;
}

Next ReleaseLock(const Locker& locker, const Lock& lock, Timestamp now, Call& call) {
  if (auto error = CheckNames(lock.key, lock.owner)) return *std::move(error);
  call = {.kind = CallKind::kRelease, .lock = lock, .term = {}, .keys_left = {}};
  Transaction transaction = Tested(locker, steps::kRelease, lock, now);
  Mutation deletion{
      .kind = MutationKind::kDelete, .table = locker.table, .columns = {}, .rows = {}, .keys = {}};
  deletion.keys.keys.push_back({lock.key});
  transaction.mutations.push_back(std::move(deletion));
  return transaction;
}

Next GetCurrentLock(const Locker& locker, const std::string& key, Call& call) {
  if (key.empty()) return Invalid("the key is required");
  call = {.kind = CallKind::kGet, .lock = {}, .term = {}, .keys_left = {}};
  call.lock.key = key;
  return OneStatement(steps::kGet, Mode::kStrongRead, locker.get, ValuesOf(key));
}

Next OnEnded(const Locker& locker, Call& call, const TransactionResult& result, Timestamp now) {
  if (result.outcome != Outcome::kCommitted) return OnRefused(locker, call, result, now);
  switch (call.kind) {
    case CallKind::kAcquire:
    case CallKind::kHeartbeat:
      return Reply{.lock = call.lock, .error = std::nullopt};
    case CallKind::kGet:
      return Found(result.results.front().rows);
    case CallKind::kRelease:
      break;
  }
  return Reply{};
}

std::optional<LockerError> StartBackgroundHeartbeats(const Lock& lock, Duration interval,
                                                     Duration lease_duration, LocalInstant now,
                                                     Background& background) {
  if (interval <= Duration{} || lease_duration <= Duration{}) {
    return LockerError{.kind = ErrorKind::kInvalidArgument,
                       .text = "interval and lease have to be above zero"};
  }
  background = {.lock = lock,
                .interval = interval,
                .lease_duration = lease_duration,
                .tick_at = now + interval,
                .beating = false,
                .error = std::nullopt};
  return std::nullopt;
}

Next OnTick(const Locker& locker, Background& background, LocalTime now, Call& call) {
  background.beating = true;
  // The last of the ticks that were missed.
  const int64_t missed = (now.monotonic - background.tick_at).ns / background.interval.ns;
  background.tick_at += background.interval * (missed + 1);
  const HeartbeatLockInput input = {
      .original_lock = background.lock,
      .term = {.lease_end = std::nullopt, .lease_duration = background.lease_duration}};
  return HeartbeatLock(locker, input, now.wall, call);
}

void OnBeatEnded(Background& background, const Reply& reply) {
  background.beating = false;
  if (reply.lock) background.lock = *reply.lock;
  background.error = reply.error;
}

}  // namespace whorl::lease_lock
