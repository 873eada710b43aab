// Locks on Cloud Spanner for C++ programs: any of the protocols of protocol/, by the very code that
// the simulation runs.
//
//   std::unique_ptr<LockClient> client;
//   Status status = LockClient::Open({.database = "projects/p/instances/i/databases/d"}, client);
//   std::unique_ptr<DistributedLock> lock;
//   status = client->Make({.name = "nightly"}, lock);
//   if (LockGuard guard(*lock); guard) Work(guard.token(), guard.stop());
//
// Invariants:
//   1. Nothing is ever said to be held on doubt: HasLock() is true only while the protocol believes
//      in its term and this machine's clock, which counts suspension, shows less than the term's
//      end; the clock is read again for every answer.
//   2. A client has one thread for all its locks (and its library's own); nothing that runs there
//      blocks. Functions that block say so, and may not be called in a callback.
//   3. A lock gives back what it held before it is destroyed, if Spanner can be reached.
// What a lease cannot do is said in protocol/fenced_lease/README.md: a resource that must not be
// written twice has to compare tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/client/transaction.h"
#include "protocol/machine.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/time.h"
#include "protocol/spanner/words.h"
#include "real_client/options.h"

namespace whorl::real_client {

class TransactionClient;

// Makes what talks to Spanner. MakeGrpcClient is there in every program;
// google_cloud/google_cloud_client.h has another one, for programs that link that library.
using MakeClient = Status (*)(ClientOptions options, std::unique_ptr<TransactionClient>& out);
Status MakeGrpcClient(ClientOptions options, std::unique_ptr<TransactionClient>& out);

struct LockClientOptions {
  std::string database;  // projects/P/instances/I/databases/D
  ConnectionOptions connection;
  MakeClient make_client = MakeGrpcClient;
  // Transactions that may be under way at a time; the others wait for their turn.
  int32_t concurrency = 100;
};

// How a process stands to a lock.
struct Leadership {
  bool leads = false;
  // As the protocol hands it out; nothing: it does not lead, or the protocol has no tokens.
  std::optional<uint64_t> token;
  // While it leads: when that ends by itself unless the lease is renewed before, by MonotonicNow().
  Duration until;

  friend bool operator==(const Leadership&, const Leadership&) = default;
};

// Hears what happens to one lock, on the client's thread, so it must not block.
class LockObserver {
 public:
  virtual ~LockObserver() = default;
  // Whenever anything of it has changed: a renewal moves `until`.
  virtual void OnLeadership(const Leadership& /*leadership*/) {}
  virtual void OnNote(const Note& /*note*/) {}
  virtual void OnTransaction(StepName /*step*/, const TransactionResult& /*result*/,
                             Duration /*took*/) {}
};

struct LockOptions {
  std::string name;
  std::string protocol = "fenced_lease";
  std::string id;                 // of this process, as others see it; empty: drawn at random
  std::optional<Duration> lease;  // nothing: the protocol's default
  std::string table;              // empty: as the protocol's table is usually called
  // Runs once for each term, in a thread of its own, when leadership begins. `stop` is stopped the
  // moment leadership ends: then it has to return, since Unlock() gives the lock back only after
  // that (and so must not be called in it). An exception of it ends the program.
  std::function<void(std::stop_token stop, std::optional<uint64_t> token)> lead;
  std::shared_ptr<LockObserver> observer;
};

// Whether Spanner said how it stands with the lock, be it by refusing.
inline bool IsAnswer(const Status& status) {
  return status.ok() || status.code == Code::kFailedPrecondition ||
         status.code == Code::kAlreadyExists || status.code == Code::kAborted;
}

class LockHost;

// One process's part in one lock. All functions may be called from any thread.
class DistributedLock {
 public:
  explicit DistributedLock(std::shared_ptr<LockHost> host);
  DistributedLock(const DistributedLock&) = delete;
  DistributedLock& operator=(const DistributedLock&) = delete;
  // As Unlock().
  ~DistributedLock();

  // Takes part from now on and does not wait; `lead` and the observer tell what comes of it.
  // Nothing happens when it takes part already.
  void Start();
  // Take part, and wait until this process leads. Blocking.
  // OK: it leads. What cannot get better by waiting is told at once: PERMISSION_DENIED,
  // UNAUTHENTICATED, NOT_FOUND (no such database), INVALID_ARGUMENT (no such table, or one of
  // another shape). CANCELLED: Unlock() was called meanwhile. Anything but OK ends the part, as
  // Unlock() does.
  Status Lock();
  // The same for so long at most: then DEADLINE_EXCEEDED, since another process holds the lock, or
  // UNAVAILABLE, since Spanner has not answered.
  Status LockFor(Duration timeout);
  // The same for as long as it takes to look once and to take what is free.
  Status TryLock();
  // Ends the part: leadership ends at once, the lock is given back when `lead` has returned (or at
  // the end of the lease), and this returns after that. Blocking; nothing happens when it takes no
  // part.
  void Unlock();
  // The same without waiting: `done` runs on the client's thread.
  void UnlockThen(std::function<void()> done);

  // Whether this process leads now. Blocking for protocols that ask Spanner for it (spindle_v2 and
  // semaphore), which is at most as long as their retry policy says; an error is a no.
  bool HasLock();
  // Nothing: it does not lead, or the protocol has no tokens. Never blocks.
  std::optional<uint64_t> Token() const;
  // Never blocks.
  Leadership Now() const;
  // Of the present term; one that is stopped already while this process does not lead.
  std::stop_token Term() const;
  // Who leads, by the table: asks Spanner. Blocking. OK and empty: nobody does.
  Status Leader(std::string& holder);

  const std::string& name() const;
  const std::string& id() const;  // of this process

 private:
  std::shared_ptr<LockHost> host_;
};

// Locks, and unlocks at the end of the block.
class LockGuard {
 public:
  explicit LockGuard(DistributedLock& lock);
  LockGuard(DistributedLock& lock, Duration timeout);
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;
  ~LockGuard() { lock_.Unlock(); }

  // Whether this process leads now, by its own clock.
  explicit operator bool() const { return lock_.Now().leads; }
  const Status& status() const { return status_; }
  std::optional<uint64_t> token() const { return token_; }  // of the term that began
  std::stop_token stop() const { return stop_; }            // of the same

 private:
  void Remember();

  DistributedLock& lock_;
  Status status_;
  std::optional<uint64_t> token_;
  std::stop_token stop_;
};

// Who holds a lock, as its row says.
struct Holding {
  std::string lock;
  std::string holder;              // empty: nobody
  std::optional<Timestamp> since;  // of the grant, where the table has it
  std::optional<Timestamp> token;
  // By Spanner's clock, at the time of asking; not above zero: over. Nothing: nobody holds it.
  std::optional<Duration> left;

  bool is_held() const { return left && *left > Duration(); }
};

// One database: its locks, and what an operator does with their tables.
class LockClient {
 public:
  // INVALID_ARGUMENT where the options cannot be meant; UNIMPLEMENTED where the program was built
  // without that library. Nothing is sent yet.
  static Status Open(LockClientOptions options, std::unique_ptr<LockClient>& out);
  LockClient(const LockClient&) = delete;
  LockClient& operator=(const LockClient&) = delete;
  // REQUIRES: its locks are gone; not in a callback.
  ~LockClient();

  // INVALID_ARGUMENT, before anything is sent: a name that is empty, no UTF-8 or too long for a key
  // of Spanner (8 KiB); an unknown protocol; a table that is no identifier; a lease that the
  // protocol refuses. A lease that it raises is raised.
  Status Make(LockOptions options, std::unique_ptr<DistributedLock>& out);

  // Reads one row, so that what is wrong with database, table or permissions shows. Blocking, for
  // `timeout` at most.
  Status Check(std::string_view protocol, const std::string& table, Duration timeout);
  // All locks of a table, or the one of that name (nothing: it has no row), by name. `lease`: that
  // of an observer, for protocols whose rows do not say theirs. Blocking.
  Status List(std::string_view protocol, const std::string& table, std::optional<std::string> name,
              Duration lease, std::vector<Holding>& out);
  // Makes the lock's row as if it had been released, where the protocol gains by it; OK also when
  // there is one already. Blocking.
  Status InitLock(std::string_view protocol, const std::string& table, const std::string& name);
  // Ends the lease of whoever holds the lock, who may go on believing in it. NOT_FOUND: there is no
  // such row. Blocking.
  Status ForceRelease(std::string_view protocol, const std::string& table, const std::string& name);

 private:
  class Core;
  explicit LockClient(std::unique_ptr<Core> core);

  std::unique_ptr<Core> core_;
};

}  // namespace whorl::real_client
