// The sessions of one client: how many there are, who has which, and when they are made, kept alive
// and let go.
//
// Like a protocol it is a value and functions that append effects to `out`; its host makes the
// calls, sets one timer for NextPoolTime, and tells what came of them.
//
// Invariants:
//   1. A regular session has at most one user at a time; a multiplexed one is shared by all.
//   2. Who asks is answered exactly once, unless it stops asking: with a session, or with the error
//      for which there is none.
//   3. A session that Spanner did not know, or that was let go, is never handed out again.
//   4. There are never more than `max_sessions` regular sessions, those being created included.
// Numbers: Google's clients (cloud.google.com/go/spanner session.go, google-cloud-cpp
// session_pool.cc), and Spanner's limits of an hour of idleness and 28 days of age.
// Deliberately left out: labels, roles, and a channel for each session.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "protocol/client/backoff.h"
#include "protocol/client/transaction_runner.h"
#include "protocol/machine.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/time.h"

namespace whorl {

enum class SessionKind : uint8_t { kMultiplexed, kRegular };

struct SessionPoolPolicy {
  SessionKind kind = SessionKind::kMultiplexed;
  int32_t min_sessions = 0;   // that are there before anybody asks; of the regular kind
  int32_t max_sessions = 0;   // of the regular kind
  int32_t batch = 1;          // at most so many are asked for by one call
  Duration keep_alive_after;  // of idleness; Spanner may delete a session that was idle for an hour
  Duration ping_again_after;  // a ping that failed for another reason than that the session is gone
  Duration max_age;           // then it is replaced
  Duration ask_timeout;       // who has waited for so long is told an error
  Backoff creation;           // after a creation that may succeed later
  WHORL_FIELDS(SessionPoolPolicy, kind, min_sessions, max_sessions, batch, keep_alive_after,
               ping_again_after, max_age, ask_timeout, creation);
};
SessionPoolPolicy MultiplexedSessionPolicy();
SessionPoolPolicy RegularSessionPolicy();

using AskerId = uint64_t;  // given by who asks; free again once answered

struct PooledSession {
  enum class Use : uint8_t { kIdle, kInUse, kPinged };

  SessionName name;
  Use use = Use::kIdle;
  Duration created;
  Duration idle_since;
  Duration next_ping;
  WHORL_FIELDS(PooledSession, name, use, created, idle_since, next_ping);
};

struct SessionAsker {
  AskerId asker = 0;
  Duration deadline;
  WHORL_FIELDS(SessionAsker, asker, deadline);
};

struct SessionPool {
  std::vector<PooledSession> sessions;  // at most one multiplexed one: the newest
  std::vector<SessionAsker> askers;     // in the order in which they asked
  int32_t creating = 0;                 // asked for by calls that are out
  // Spanner refused a creation for good (no permission, no database): now only an asker makes the
  // pool try again.
  bool refused = false;
  std::optional<Duration> create_at;  // after a backoff
  Duration backoff;
  Status failure;  // of the last creation, for askers that run out of time
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

// Creates what has to be there from the start. All times are of the local monotonic clock.
void OpenPool(const SessionPoolPolicy& policy, SessionPool& pool, Duration now,
              std::vector<PoolEffect>& out);
// REQUIRES: `asker` is not waiting already.
void AskForSession(const SessionPoolPolicy& policy, SessionPool& pool, Duration now, AskerId asker,
                   std::vector<PoolEffect>& out);
// It does not want one any more. REQUIRES: it was not answered yet.
void StopAsking(SessionPool& pool, AskerId asker);
// The user of a session is done with it; `lost`: Spanner answered that there is no such session.
void ReturnSession(const SessionPoolPolicy& policy, SessionPool& pool, Duration now,
                   const SessionName& name, bool lost, std::vector<PoolEffect>& out);
// `asked`: the count of CreateSessions; Spanner may create fewer.
void OnSessionsCreated(const SessionPoolPolicy& policy, SessionPool& pool, Duration now,
                       int32_t asked, std::span<const SessionName> names,
                       std::vector<PoolEffect>& out);
void OnCreationFailed(const SessionPoolPolicy& policy, SessionPool& pool, Duration now,
                      Entropy& entropy, int32_t asked, const Status& status,
                      std::vector<PoolEffect>& out);
void OnPinged(const SessionPoolPolicy& policy, SessionPool& pool, Duration now,
              const SessionName& name, const Status& status, std::vector<PoolEffect>& out);
// When OnPoolTime is to be called, if nothing else happens before.
std::optional<Duration> NextPoolTime(const SessionPoolPolicy& policy, const SessionPool& pool);
void OnPoolTime(const SessionPoolPolicy& policy, SessionPool& pool, Duration now,
                std::vector<PoolEffect>& out);
// Refuses all askers, now and from now on, and lets every regular session go that is idle now or
// returned later. A multiplexed one is left to its age, as Google's clients leave it.
void ClosePool(const SessionPoolPolicy& policy, SessionPool& pool, std::vector<PoolEffect>& out);

}  // namespace whorl
