// Locks on Cloud Spanner for C++ programs, by any protocol of protocol/: the same code that the
// simulation runs.
//
//   std::unique_ptr<LockClient> client;
//   const std::string database = "projects/my-project/instances/my-instance/databases/my-db";
//   Status status = LockClient::Open({.database = database}, client);
//   std::unique_ptr<DistributedLock> lock;
//   status = client->Make({.name = "nightly"}, lock);
//   if (LockGuard guard(*lock); guard) Work(guard.token(), guard.stop());
//
// Invariants:
//   1. In doubt, a lock is not held: HasLock() is true only while the protocol believes that it
//      leads and this machine's clock, which counts suspension, shows less than the term's end.
//      Every answer reads the clock again.
//   2. A client has one thread for all its locks (besides its library's own); nothing that runs
//      there blocks. Functions that block say so and must not be called in a callback.
//   3. A lock that is destroyed is released first, if Spanner can be reached.
// A lease alone does not prevent late writes (protocol/fenced_lease/README.md): a resource that
// must not be written twice has to compare tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"
#include "protocol/token.h"
#include "real_client/options.h"

namespace whorl::real_client {

class TransactionClient;

// Creates the client that talks to Spanner. MakeGrpcClient is always available;
// google_cloud/google_cloud_client.h has another one, for programs that link that library.
using MakeClient = Status (*)(ClientOptions options, std::unique_ptr<TransactionClient>& out);
Status MakeGrpcClient(ClientOptions options, std::unique_ptr<TransactionClient>& out);

struct LockClientOptions {
  std::string database;       // projects/P/instances/I/databases/D
  std::string database_role;  // of fine-grained access control; empty: none
  ConnectionOptions connection;
  MakeClient make_client = MakeGrpcClient;
  // The most transactions under way at a time. How many are is found by Spanner's answers
  // (bounded_client.h); the others wait.
  int32_t concurrency = 100;
};

// Whether a process leads, with which token and until when.
struct Leadership {
  bool leads = false;
  // The fencing token; empty if this process does not lead or the protocol has no tokens.
  std::optional<uint64_t> token;
  // While it leads: the time, by MonotonicNow(), at which leadership ends unless the lease is
  // renewed before.
  LocalInstant until;

  friend bool operator==(const Leadership&, const Leadership&) = default;
};

// A line of the protocol's log.
struct LockNote {
  std::string_view name;      // "release_failed"
  std::vector<Value> values;  // as the protocol's page says
};

// A transaction of the protocol that has ended.
struct LockTransaction {
  std::string_view step;      // "beat"
  bool renews_lease = false;  // it was a heartbeat
  std::string_view outcome;   // "committed", "aborted" or "unknown"
  // CANCELLED if it was given up before it was sent, as when a newer heartbeat replaces it.
  Status status;
  Duration took;  // with its retries
  // How often it was begun: all but the last attempt were aborted. 0 for a read.
  uint16_t attempts = 0;
  // If it committed a change: its commit timestamp, and what this machine's wall clock showed when its
  // Commit was first sent. When the reply came it showed SystemNow(), or less.
  struct Committed {
    Timestamp sent;
    Timestamp commit;
  };
  std::optional<Committed> committed;
};

// Observes one lock. Called on the client's thread, so it must not block.
class LockObserver {
 public:
  virtual ~LockObserver() = default;
  // Called when any field has changed; a renewal changes `until`.
  virtual void OnLeadership(const Leadership& /*leadership*/) {}
  virtual void OnNote(const LockNote& /*note*/) {}
  virtual void OnTransaction(const LockTransaction& /*transaction*/) {}
  // Called when a transaction of the protocol begins, which OnTransaction() ends.
  virtual void OnTransactionBegan(std::string_view /*step*/) {}
};

struct Holding;

struct LockOptions {
  std::string name;
  std::string protocol = "fenced_lease";
  std::string id;                 // this process's id in the table; empty: a random one
  std::optional<Duration> lease;  // empty: the protocol's default
  std::string table;              // empty: the protocol's usual name
  // Anything that other processes may want to know of the leader, such as its address: they read it
  // with the lock (Holding::value). Stored behind the id, so the two together must fit in its column.
  std::string value;
  // Runs in its own thread, once for each term, when leadership begins. When leadership ends, a
  // stop is requested on `stop`, and the function has to return: Unlock() releases the lock only
  // after it has returned (and so must not be called in it). An exception that leaves it ends the
  // program.
  std::function<void(std::stop_token stop, std::optional<uint64_t> token)> lead;
  // Called on the client's thread, while this process takes part, with the lock's holder by its row:
  // first, and at each change of the holder. The row is read every quarter of a lease, so short terms
  // may go unseen.
  std::function<void(const Holding& holding)> on_leader;
  std::shared_ptr<LockObserver> observer;
};

// Whether the status is Spanner's answer about the lock, be it a refusal, and no failure to get
// one.
inline bool IsAnswer(const Status& status) {
  return status.ok() || status.code == Code::kFailedPrecondition ||
         status.code == Code::kAlreadyExists || status.code == Code::kAborted;
}
// Whether the status is an error that waiting cannot mend.
inline bool IsFinal(const Status& status) {
  return status.code == Code::kInvalidArgument || status.code == Code::kNotFound ||
         status.code == Code::kPermissionDenied || status.code == Code::kUnauthenticated ||
         status.code == Code::kUnimplemented;
}

enum class LockOutcome : uint8_t {
  kLeads,   // this process leads
  kHeld,    // another holds the lock: its row, read last of all, shows a lease that has not ended
  kFailed,  // neither is known: LockResult::error says why
};
// The result of TryLock() or LockFor(). That the lock is held is no error, so that no error of Spanner
// can be mistaken for it.
struct LockResult {
  LockOutcome outcome = LockOutcome::kFailed;
  Status error;  // if kFailed; otherwise OK
  // If kHeld: the id of the process that holds it. Empty: another thread of this process does.
  std::string holder;

  bool ok() const { return outcome == LockOutcome::kLeads; }

  static LockResult Leads() { return {.outcome = LockOutcome::kLeads, .error = {}, .holder = {}}; }
  static LockResult HeldBy(std::string holder) {
    return {.outcome = LockOutcome::kHeld, .error = {}, .holder = std::move(holder)};
  }
  static LockResult Failed(Status error) {
    return {.outcome = LockOutcome::kFailed, .error = std::move(error), .holder = {}};
  }
};
// The error where Spanner has not answered at all.
inline constexpr std::string_view kNoAnswer = "no answer from Spanner in time";
// "OK", "held by another process", or the error.
std::string FormatResult(const LockResult& result);

class LockHost;
class OwnerThread;

// One process's part in one lock. All functions may be called from any thread. Between Lock() and
// Unlock() it also excludes the other threads of this process that call Lock().
//
// A child that this process forks has no part in it: there Now() never says that it leads, the
// functions that wait return FAILED_PRECONDITION, and destructors do nothing.
class DistributedLock {
 public:
  explicit DistributedLock(std::shared_ptr<LockHost> host);
  DistributedLock(const DistributedLock&) = delete;
  DistributedLock& operator=(const DistributedLock&) = delete;
  // Calls Unlock().
  ~DistributedLock();

  // Starts competing for the lock and does not wait; `lead` and the observer report the outcome.
  // No effect if this process competes already.
  void Start();
  // Competes for the lock and waits until this process leads (OK). Blocking.
  // Errors that waiting cannot mend are returned at once: PERMISSION_DENIED, UNAUTHENTICATED,
  // NOT_FOUND (no such database), INVALID_ARGUMENT (no such table, or one of another shape).
  // CANCELLED if Unlock() was called meanwhile, or a stop was requested on `stop`. After an error
  // this process no longer competes, as after Unlock(). If another thread of this process has the
  // lock, waits for its Unlock(); the thread that has it may call this again, to wait for another
  // term.
  Status Lock(std::stop_token stop = {});
  // The same, for `timeout` at most. Then the row is read once more (which may take 2 s) to tell kHeld,
  // if another process holds the lock, from kFailed with the last error, if Spanner refuses or does
  // not answer. kHeld also if another thread of this process leads.
  LockResult LockFor(Duration timeout);
  // The same, only until the row was read once and, if the lock is free, taken.
  LockResult TryLock();
  // Competes like Lock() without blocking: `done` runs on the client's thread, once. Does not
  // exclude threads of this process.
  void LockThen(std::function<void(Status)> done);
  // Stops competing: leadership ends at once, the lock is released when `lead` has returned (or
  // expires with its lease), and then this returns. Blocking. No effect if this process does not
  // compete. Ends the program, with a message, if it is called in `lead`, for whose return it waits.
  void Unlock();
  // The same without blocking: `done` runs on the client's thread.
  void UnlockThen(std::function<void()> done);

  // Whether this process leads now. Blocking for protocols that query Spanner for it (spindle_v2
  // and semaphore), for as long as their retry policy allows; an error means no.
  bool HasLock();
  // Empty if this process does not lead or the protocol has no tokens. Never blocks.
  std::optional<uint64_t> Token() const;
  // Never blocks.
  Leadership Now() const;
  // The current term's token; a stop is already requested on it while this process does not lead.
  std::stop_token Term() const;
  // Queries Spanner for the process that holds the lock. Blocking.
  Status Leader(Holding& out);

  const std::string& name() const;
  const std::string& id() const;  // this process's id

 private:
  template <typename Begin>
  LockResult Take(const char* function, LocalInstant until, const std::stop_token& stop,
                  Begin begin);

  std::shared_ptr<LockHost> host_;
  std::shared_ptr<OwnerThread> owner_;
};

// Locks, and unlocks at the end of the block.
class LockGuard {
 public:
  explicit LockGuard(DistributedLock& lock);
  LockGuard(DistributedLock& lock, Duration timeout);
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;
  // Unlocks, unless Lock() failed: then another thread may have the lock.
  ~LockGuard() {
    if (result_.ok()) lock_.Unlock();
  }

  // Whether this process leads now, by its own clock.
  explicit operator bool() const { return lock_.Now().leads; }
  const LockResult& result() const { return result_; }
  // Both belong to the term that Lock() began.
  std::optional<uint64_t> token() const { return token_; }
  std::stop_token stop() const { return stop_; }

 private:
  void Remember();

  DistributedLock& lock_;
  LockResult result_;
  std::optional<uint64_t> token_;
  std::stop_token stop_;
};

// The holder of a lock, according to its row.
struct Holding {
  std::string lock;
  std::string holder;              // its id; empty: the lock is free
  std::string value;               // LockOptions::value of the holder
  std::optional<Timestamp> since;  // the time of the grant, if the table has it
  std::optional<Token> token;
  // The rest of the lease by Spanner's clock when the row was read; zero or less if it has expired.
  // Empty if the lock is free.
  std::optional<Duration> left;
  // When the row was last renewed, taken or released, and how long before it was read. Empty if the
  // table does not have it.
  std::optional<Timestamp> renewed;
  std::optional<Duration> age;

  // The end of the lease by the row; empty if the lock is free.
  std::optional<Timestamp> until;
  // If nobody holds the lock: until when it was held, by the row: its release, or the end of a lease that ran out.
  // Empty if it has not been held since the row was made, or the table does not have it.
  std::optional<Timestamp> last_until;
  // When an operator made the row of a lock that nobody holds, and nobody may take it before this time
  // of Spanner's: then `left` is the rest until then.
  std::optional<Timestamp> free_at;

  bool is_held() const { return !holder.empty() && left && *left > Duration(); }
};

// Whose lease an operator ends: any holder's, or that of the holder with this id and this token.
struct ReleaseTarget {
  std::optional<std::string> holder;
  std::optional<uint64_t> token;  // as the holder has it
};

// How an operator makes the row of a lock.
struct InitOptions {
  // The lock never existed, so that nobody can hold it: its row is free at once. Otherwise its row may
  // have been lost under its holder, so nobody may take it before a lease has passed.
  bool is_new = false;
  // The longest lease of its users; empty: the protocol's default.
  std::optional<Duration> lease;
};
struct InitResult {
  bool made = false;                 // false: there is a row already
  std::optional<Timestamp> free_at;  // nobody may take it before this time of Spanner's
};

// Which locks of a table are listed: those whose names begin with `prefix`, and come after `after`, by
// name, and of these the first `limit` (0: all).
struct ListRange {
  std::string prefix;
  std::string after;
  int64_t limit = 0;
};

// The locks of one database, and an operator's actions on their tables.
class LockClient {
 public:
  // INVALID_ARGUMENT where the options cannot be meant; UNIMPLEMENTED where the program was built
  // without that library. Nothing is sent yet.
  static Status Open(LockClientOptions options, std::unique_ptr<LockClient>& out);
  LockClient(const LockClient&) = delete;
  LockClient& operator=(const LockClient&) = delete;
  // REQUIRES: its locks are destroyed; not in a callback.
  ~LockClient();

  // INVALID_ARGUMENT, before anything is sent, for a name that is empty, not UTF-8 or too long for
  // a key of Spanner (8 KiB), an unknown protocol, a table that is no identifier, or a lease that
  // the protocol refuses. A lease below the protocol's minimum is raised to it.
  Status Make(LockOptions options, std::unique_ptr<DistributedLock>& out);

  // Reads one row to find errors of database, table or permissions: INVALID_ARGUMENT also if the
  // table is another protocol's, whose processes would not see these. Blocking, for `timeout` at
  // most.
  Status Check(std::string_view protocol, const std::string& table, Duration timeout);
  // Ends this process's part in all locks at once: leadership ends now, and each lock is released
  // when its `lead` has returned. Returns when all are released, or after `timeout` with
  // DEADLINE_EXCEEDED; what is not released by then expires with its lease. The destructors of the
  // locks need not wait for Spanner any more. Blocking; not in a callback.
  Status ReleaseAll(Duration timeout);

  // Lists the locks of a table, or the lock `name` (none if it has no row), sorted by name. `lease`
  // is assumed for protocols whose rows do not contain one. Blocking.
  Status List(std::string_view protocol, const std::string& table, std::optional<std::string> name,
              Duration lease, std::vector<Holding>& out);
  // The same for these locks, within `timeout`.
  Status List(std::string_view protocol, const std::string& table,
              const std::vector<std::string>& names, Duration lease, Duration timeout,
              std::vector<Holding>& out);
  // The same for the locks of a range.
  Status List(std::string_view protocol, const std::string& table, const ListRange& range,
              Duration lease, std::vector<Holding>& out);
  // Deletes the row of a lock that nobody holds, as it was listed: FAILED_PRECONDITION if it is held
  // or has changed since, UNIMPLEMENTED if the protocol needs its rows. Blocking.
  Status DeleteLock(std::string_view protocol, const std::string& table, const Holding& listed);
  // Creates the lock's row, for protocols that need it or benefit from it. OK also if the row exists;
  // of a lock that is said to be new, a row that an earlier call has made becomes free. Blocking.
  Status InitLock(std::string_view protocol, const std::string& table, const std::string& name,
                  const InitOptions& options, InitResult& out);
  // Ends the lease of the holder, or of `only`, though it may still believe that it leads. NOT_FOUND
  // if the row does not exist, FAILED_PRECONDITION if another process holds the lock, or none does.
  // INVALID_ARGUMENT if a token is named, and the protocol has none. Blocking.
  Status ForceRelease(std::string_view protocol, const std::string& table, const std::string& name,
                      const ReleaseTarget& only = {});

 private:
  class Core;
  explicit LockClient(std::unique_ptr<Core> core);

  std::unique_ptr<Core> core_;
};

}  // namespace whorl::real_client
