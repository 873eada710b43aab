// Locker of Clever's Go package `lock`, on a Spanner table instead of DynamoDB: the calls that a
// client can make, each as a value that says which transaction comes next.
//
// Invariants:
//   1. All times in a row are the caller's wall clock: `now` is read once for each attempt to
//      acquire, heartbeat or release, and every retry sends the same times.
//   2. A row counts as leased to another owner while its leased_until + grace is not before `now`;
//      the caller's own row is never in the way.
//   3. The condition of ReleaseLock is that of AcquireLock, so it may delete another owner's row:
//      upstream's flaw, which stays.
//   4. A missing argument is an error before anything is sent.
// Left out: DynamoDB's deletion of rows whose `ttl` is over, and the logger.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "protocol/client/transaction.h"
#include "protocol/machine.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/sql.h"

namespace whorl::lease_lock {

// The numbers of Locker. The defaults are what ships.
struct LockerConstants {
  Duration grace = Seconds(5);               // for clocks that disagree
  Duration kept_after = Seconds(48 * 3600);  // ttl beyond leased_until
  WHORL_FIELDS(LockerConstants, grace, kept_after);
};

// A row of the table.
struct Lock {
  std::string key;
  std::string owner;
  Timestamp leased_until;
  Timestamp created_at;
  Timestamp ttl;
  WHORL_FIELDS(Lock, key, owner, leased_until, created_at, ttl);
};

// Exactly one of the two: the end of the lease, or its length from the call on.
struct LeaseTerm {
  std::optional<Timestamp> lease_end;
  std::optional<Duration> lease_duration;
  WHORL_FIELDS(LeaseTerm, lease_end, lease_duration);
};
struct AcquireLockInput {
  std::string key;
  std::string owner;
  LeaseTerm term;
  WHORL_FIELDS(AcquireLockInput, key, owner, term);
};
struct AcquireAnyLockInput {
  std::vector<std::string> keys;
  std::string owner;
  bool randomize_order = false;
  LeaseTerm term;
  WHORL_FIELDS(AcquireAnyLockInput, keys, owner, randomize_order, term);
};
struct HeartbeatLockInput {
  Lock original_lock;  // its leased_until is ignored
  LeaseTerm term;
  WHORL_FIELDS(HeartbeatLockInput, original_lock, term);
};

enum class ErrorKind : uint8_t {
  kInvalidArgument,  // nothing was sent
  kUnavailable,      // another owner has the lock
  kFailed,           // anything else; the caller may or may not hold the lock
};
struct LockerError {
  ErrorKind kind = ErrorKind::kFailed;
  std::string text;
  WHORL_FIELDS(LockerError, kind, text);
};

// How a call ended. Without an error, `lock` is the lock that was acquired, renewed or found; it is
// empty after a release, and if GetCurrentLock found none.
struct Reply {
  std::optional<Lock> lock;
  std::optional<LockerError> error;
  WHORL_FIELDS(Reply, lock, error);
};

enum class CallKind : uint8_t { kAcquire, kHeartbeat, kRelease, kGet };
// A call that is under way.
struct Call {
  CallKind kind = CallKind::kAcquire;
  Lock lock;                           // the row to write; for kRelease and kGet, which lock
  LeaseTerm term;                      // for kAcquire and kHeartbeat
  std::vector<std::string> keys_left;  // for AcquireAnyLock: those to try after lock.key, in order
  WHORL_FIELDS(Call, kind, lock, term, keys_left);
};
constexpr auto WordTableOf(CallKind) {
  return MakeWordTable<CallKind>({
      {CallKind::kAcquire, "acquire"},
      {CallKind::kHeartbeat, "heartbeat"},
      {CallKind::kRelease, "release"},
      {CallKind::kGet, "get"},
  });
}

// A call either goes on with a transaction, or has ended.
using Next = std::variant<Transaction, Reply>;

struct Locker {
  std::string table;
  Sql test;       // @key, @now: for AcquireLock and ReleaseLock
  Sql heartbeat;  // @key, @owner, @leased_until, @created_at, @ttl
  Sql get;        // @key
  LockerConstants constants;
  WHORL_FIELDS(Locker, table, test, heartbeat, get, constants);
};
// REQUIRES: `table` is an identifier.
Locker NewLocker(const std::string& table);

// Each function begins a call: the caller runs the transaction and passes its result to OnEnded,
// until there is a Reply. `now` is the caller's wall clock.
//
// Acquires the lock if it is free, if it expired longer ago than the grace, or if it is the owner's
// own, whose lease is replaced. kUnavailable: another owner has it.
Next AcquireLock(const Locker& locker, const AcquireLockInput& input, Timestamp now, Call& call);
// Acquires the first key that is available, and tries them one after the other. kUnavailable only
// if none is; any other error ends the call.
Next AcquireAnyLock(const Locker& locker, const AcquireAnyLockInput& input, Timestamp now,
                    Entropy& entropy, Call& call);
// Renews the lease of a lock that no other owner has held since, even if it has expired.
// kUnavailable: another owner has it, or the row is gone.
Next HeartbeatLock(const Locker& locker, const HeartbeatLockInput& input, Timestamp now,
                   Call& call);
// Deletes the row if the owner could acquire it now. A missing row is no error.
Next ReleaseLock(const Locker& locker, const Lock& lock, Timestamp now, Call& call);
// The present row, expired or not; empty if there is none.
Next GetCurrentLock(const Locker& locker, const std::string& key, Call& call);

// The transaction of `call` has ended.
Next OnEnded(const Locker& locker, Call& call, const TransactionResult& result, Timestamp now);

// StartBackgroundHeartbeats: a heartbeat at each tick, until one fails or the user stops it. Ticks
// are those of a Go ticker: of the ticks during a heartbeat, one is kept.
struct Background {
  Lock lock;  // after the last successful heartbeat
  Duration interval;
  Duration lease_duration;
  LocalInstant tick_at;  // of the next tick
  bool beating = false;
  std::optional<LockerError> error;  // the one that ended it
  WHORL_FIELDS(Background, lock, interval, lease_duration, tick_at, beating, error);
};
// The first heartbeat is due an interval from now. kInvalidArgument: the interval or the lease is
// not above zero.
std::optional<LockerError> StartBackgroundHeartbeats(const Lock& lock, Duration interval,
                                                     Duration lease_duration, LocalInstant now,
                                                     Background& background);
// REQUIRES: tick_at has come, none is under way, and none has failed.
Next OnTick(const Locker& locker, Background& background, LocalTime now, Call& call);
void OnBeatEnded(Background& background, const Reply& reply);

}  // namespace whorl::lease_lock
