// Manages the sessions of one client: how many there are, who uses which, and when they are
// created, kept alive and deleted.
//
// Like a protocol it is a value and functions that append effects to `out`. Its host makes the
// calls, passes their results on, and sets one timer for NextPoolTime.
//
// Invariants:
//   1. A regular session has at most one user at a time; a multiplexed one is shared by all.
//   2. Each asker gets exactly one answer, unless it stops asking: a session, or the error that
//      prevented one.
//   3. A session that Spanner did not know, or that was deleted, is never handed out again.
//   4. There are never more than `max_sessions` regular sessions, including those being created.
// Numbers: Google's clients (cloud.google.com/go/spanner session.go, google-cloud-cpp
// session_pool.cc), and Spanner's limits of an hour of idleness and 28 days of age.
// Deliberately left out: labels, roles, and a channel for each session.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/time.h"
#include "protocol/client/backoff.h"
#include "protocol/client/transaction_runner.h"
#include "protocol/machine.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/status.h"

namespace whorl {

enum class SessionKind : uint8_t { kMultiplexed, kRegular };

struct SessionPoolPolicy {
  SessionKind kind = SessionKind::kMultiplexed;
  int32_t min_sessions = 0;   // regular ones, created before the first asker
  int32_t max_sessions = 0;   // regular ones
  int32_t batch = 1;          // the most that one call creates
  Duration keep_alive_after;  // idle time; Spanner may delete a session after an idle hour
  Duration ping_again_after;  // after a ping that failed although the session may exist
  Duration max_age;           // older sessions are replaced
  Duration ask_timeout;       // an asker that waits longer gets an error
  Backoff creation;           // after a creation failed that may succeed later
  WHORL_FIELDS(SessionPoolPolicy, kind, min_sessions, max_sessions, batch, keep_alive_after,
               ping_again_after, max_age, ask_timeout, creation);
};
SessionPoolPolicy MultiplexedSessionPolicy();
SessionPoolPolicy RegularSessionPolicy();

using AskerId = uint64_t;  // chosen by the asker; can be used again after the answer

struct PooledSession {
  enum class Use : uint8_t { kIdle, kInUse, kPinged };

  SessionName name;
  Use use = Use::kIdle;
  LocalInstant created;
  LocalInstant idle_since;
  LocalInstant next_ping;
  WHORL_FIELDS(PooledSession, name, use, created, idle_since, next_ping);
};

struct SessionAsker {
  AskerId asker = 0;
  LocalInstant deadline;
  WHORL_FIELDS(SessionAsker, asker, deadline);
};

struct SessionPool {
  std::vector<PooledSession> sessions;  // at most one multiplexed one: the newest
  std::vector<SessionAsker> askers;     // in the order of asking
  int32_t creating = 0;                 // by calls that are under way
  // Spanner refused a creation for good (no permission, no database): the pool tries again only for
  // an asker.
  bool refused = false;
  std::optional<LocalInstant> create_at;  // after a backoff
  Duration backoff;
  Status failure;  // the last creation's error, for askers that wait too long
  bool closed = false;
  WHORL_FIELDS(SessionPool, sessions, askers, creating, refused, create_at, backoff, failure,
               closed);
};

struct CreateSessions {  // answered by OnSessionsCreated or OnCreationFailed
  int32_t count = 1;
  bool multiplexed = false;
  WHORL_FIELDS(CreateSessions, count, multiplexed);
};
struct PingSession {  // "SELECT 1"; answered by OnPinged
  SessionName name;
  WHORL_FIELDS(PingSession, name);
};
struct LetGoSession {  // DeleteSession; the answer does not matter
  SessionName name;
  WHORL_FIELDS(LetGoSession, name);
};
struct SessionGranted {
  AskerId asker = 0;
  Session session;
  WHORL_FIELDS(SessionGranted, asker, session);
};
struct SessionRefused {
  AskerId asker = 0;
  Status status;
  WHORL_FIELDS(SessionRefused, asker, status);
};
using PoolEffect =
    std::variant<CreateSessions, PingSession, LetGoSession, SessionGranted, SessionRefused>;

// Creates the sessions that are needed from the start. All times are local monotonic times.
void OpenPool(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
              std::vector<PoolEffect>& out);
// The asker is refused at `give_up_at`, if no session was there by then. REQUIRES: it is not waiting already.
void AskForSession(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
                   AskerId asker, std::optional<LocalInstant> give_up_at,
                   std::vector<PoolEffect>& out);
// The asker no longer wants a session. REQUIRES: it has not been answered yet.
void StopAsking(SessionPool& pool, AskerId asker);
// The user of a session no longer needs it. `lost`: Spanner answered that it does not exist.
void ReturnSession(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
                   const SessionName& name, bool lost, std::vector<PoolEffect>& out);
// `asked`: the count of CreateSessions; Spanner may create fewer.
void OnSessionsCreated(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
                       int32_t asked, std::span<const SessionName> names,
                       std::vector<PoolEffect>& out);
void OnCreationFailed(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
                      Entropy& entropy, int32_t asked, const Status& status,
                      std::vector<PoolEffect>& out);
void OnPinged(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
              const SessionName& name, const Status& status, std::vector<PoolEffect>& out);
// When to call OnPoolTime, if nothing else happens first.
std::optional<LocalInstant> NextPoolTime(const SessionPoolPolicy& policy, const SessionPool& pool);
void OnPoolTime(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
                std::vector<PoolEffect>& out);
// Refuses all present and future askers, and deletes every regular session that is idle now or
// returned later. Like Google's clients, it does not delete a multiplexed session.
void ClosePool(const SessionPoolPolicy& policy, SessionPool& pool, std::vector<PoolEffect>& out);

}  // namespace whorl
