#include "protocol/client/session_pool.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace whorl {
namespace {

using Use = PooledSession::Use;

constexpr Duration kDay = Seconds(24 * 3600);

PooledSession* Find(SessionPool& pool, const SessionName& name) {
  const auto found = std::ranges::find(pool.sessions, name, &PooledSession::name);
  return found == pool.sessions.end() ? nullptr : &*found;
}

void Remove(SessionPool& pool, const PooledSession& session) {
  pool.sessions.erase(pool.sessions.begin() + (&session - pool.sessions.data()));
}

Status ClosedStatus() { return Error(Code::kCancelled, "the client was shut down"); }

bool MaySucceedLater(const Status& status) {
  return status.code == Code::kUnavailable || status.code == Code::kResourceExhausted ||
         status.code == Code::kDeadlineExceeded || status.code == Code::kAborted;
}

void RefuseAll(SessionPool& pool, const Status& status, std::vector<PoolEffect>& out) {
  for (const SessionAsker& asker : pool.askers) {
    out.emplace_back(SessionRefused{.asker = asker.asker, .status = status});
  }
  pool.askers.clear();
}

// The session that was used last: the others may grow idle and be let go.
PooledSession* NextIdle(SessionPool& pool) {
  PooledSession* next = nullptr;
  for (PooledSession& session : pool.sessions) {
    if (session.use != Use::kIdle) continue;
    if (next == nullptr || session.idle_since > next->idle_since) next = &session;
  }
  return next;
}

bool IsTooOld(const SessionPoolPolicy& policy, const PooledSession& session, LocalInstant now) {
  return session.created + policy.max_age <= now;
}

void Serve(const SessionPoolPolicy& policy, SessionPool& pool, std::vector<PoolEffect>& out) {
  const bool multiplexed = policy.kind == SessionKind::kMultiplexed;
  size_t served = 0;
  while (served < pool.askers.size()) {
    PooledSession* session = NextIdle(pool);
    if (session == nullptr) break;
    if (!multiplexed) session->use = Use::kInUse;
    out.emplace_back(
        SessionGranted{.asker = pool.askers[served].asker,
                       .session = {.name = session->name, .multiplexed = multiplexed}});
    ++served;
  }
  pool.askers.erase(pool.askers.begin(), pool.askers.begin() + static_cast<std::ptrdiff_t>(served));
}

// How many sessions the pool lacks, beside those that are being created.
int32_t Lacking(const SessionPoolPolicy& policy, const SessionPool& pool, LocalInstant now) {
  const auto have = static_cast<int32_t>(pool.sessions.size());
  const auto waiting = static_cast<int32_t>(pool.askers.size());
  if (policy.kind == SessionKind::kMultiplexed) {
    const bool fresh = have > 0 && !IsTooOld(policy, pool.sessions.front(), now);
    const bool wanted = !fresh && (!pool.refused || waiting > 0);
    return wanted && pool.creating == 0 ? 1 : 0;
  }
  const int32_t for_min = pool.refused ? 0 : policy.min_sessions - have - pool.creating;
  const int32_t room = policy.max_sessions - have - pool.creating;
  return std::min(room, std::max(for_min, waiting - pool.creating));
}

void Create(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
            std::vector<PoolEffect>& out) {
  if (pool.closed || (pool.create_at && now < *pool.create_at)) return;
  pool.create_at.reset();
  for (int32_t lacking = Lacking(policy, pool, now); lacking > 0;) {
    const int32_t count = std::min(lacking, policy.batch);
    pool.creating += count;
    lacking -= count;
    out.emplace_back(
        CreateSessions{.count = count, .multiplexed = policy.kind == SessionKind::kMultiplexed});
  }
}

// Called after every change: serves waiting requests, and creates sessions that are lacking.
void ServeAndCreate(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
                    std::vector<PoolEffect>& out) {
  Serve(policy, pool, out);
  Create(policy, pool, now, out);
}

void LetGo(SessionPool& pool, const PooledSession& session, std::vector<PoolEffect>& out) {
  out.emplace_back(LetGoSession{.name = session.name});
  Remove(pool, session);
}

// An idle regular session is kept alive, or let go if it is too old or more than there need be.
void LookAfterIdle(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
                   std::vector<PoolEffect>& out) {
  for (size_t i = 0; i < pool.sessions.size();) {
    PooledSession& session = pool.sessions[i];
    const bool old = IsTooOld(policy, session, now);
    if (session.use != Use::kIdle || (!old && now < session.next_ping)) {
      ++i;
    } else if (old || static_cast<int32_t>(pool.sessions.size()) > policy.min_sessions) {
      LetGo(pool, session, out);
    } else {
      session.use = Use::kPinged;
      out.emplace_back(PingSession{.name = session.name});
      ++i;
    }
  }
}

// The session is free again.
void MakeIdle(const SessionPoolPolicy& policy, SessionPool& pool, PooledSession& session,
              LocalInstant now, LocalInstant next_ping, std::vector<PoolEffect>& out) {
  session.use = Use::kIdle;
  session.next_ping = next_ping;
  if (pool.closed || IsTooOld(policy, session, now)) LetGo(pool, session, out);
}

void RefuseLate(SessionPool& pool, LocalInstant now, std::vector<PoolEffect>& out) {
  Status status = Error(Code::kDeadlineExceeded, "no session was free in time");
  if (!pool.failure.ok())
    status.message = status.message + "; the last creation: " + FormatStatus(pool.failure);
  std::erase_if(pool.askers, [&](const SessionAsker& asker) {
    if (now < asker.deadline) return false;
    out.emplace_back(SessionRefused{.asker = asker.asker, .status = status});
    return true;
  });
}

}  // namespace

SessionPoolPolicy MultiplexedSessionPolicy() {
  return {.kind = SessionKind::kMultiplexed,
          .max_age = {7 * kDay.ns},
          .ask_timeout = Seconds(60),
          .creation = {.initial = Milliseconds(250), .growth_percent = 130, .max = Seconds(32)}};
}

SessionPoolPolicy RegularSessionPolicy() {
  return {.kind = SessionKind::kRegular,
          .min_sessions = 100,
          .max_sessions = 400,
          .batch = 25,
          .keep_alive_after = Seconds(50 * 60),
          .ping_again_after = Seconds(60),
          .max_age = {28 * kDay.ns},
          .ask_timeout = Seconds(60),
          .creation = {.initial = Milliseconds(250), .growth_percent = 130, .max = Seconds(32)}};
}

void OpenPool(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
              std::vector<PoolEffect>& out) {
  ServeAndCreate(policy, pool, now, out);
}

void AskForSession(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
                   AskerId asker, std::optional<LocalInstant> give_up_at,
                   std::vector<PoolEffect>& out) {
  const LocalInstant latest = now + policy.ask_timeout;
  const LocalInstant deadline = std::clamp(give_up_at.value_or(latest), now, latest);
  pool.askers.push_back({.asker = asker, .deadline = deadline});
  if (pool.closed) return RefuseAll(pool, ClosedStatus(), out);
  ServeAndCreate(policy, pool, now, out);
}

void StopAsking(SessionPool& pool, AskerId asker) {
  std::erase_if(pool.askers, [&](const SessionAsker& one) { return one.asker == asker; });
}

void ReturnSession(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
                   const SessionName& name, bool lost, std::vector<PoolEffect>& out) {
  // Many users may tell that the same multiplexed session is gone; another one is there by then.
  PooledSession* session = Find(pool, name);
  if (session == nullptr) return;
  if (lost) {
    Remove(pool, *session);
  } else if (policy.kind == SessionKind::kRegular) {
    session->idle_since = now;
    MakeIdle(policy, pool, *session, now, now + policy.keep_alive_after, out);
  }
  ServeAndCreate(policy, pool, now, out);
}

void OnSessionsCreated(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
                       int32_t asked, std::span<const SessionName> names,
                       std::vector<PoolEffect>& out) {
  pool.creating -= asked;
  pool.refused = false;
  pool.backoff = Duration{};
  pool.failure = Status{};
  const bool multiplexed = policy.kind == SessionKind::kMultiplexed;
  // The one before is still in use by who has it, and grows old at Spanner.
  if (multiplexed) pool.sessions.clear();
  for (const SessionName& name : names) {
    if (pool.closed && !multiplexed) {
      out.emplace_back(LetGoSession{.name = name});
      continue;
    }
    pool.sessions.push_back({.name = name,
                             .created = now,
                             .idle_since = now,
                             .next_ping = now + policy.keep_alive_after});
  }
  ServeAndCreate(policy, pool, now, out);
}

void OnCreationFailed(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
                      Entropy& entropy, int32_t asked, const Status& status,
                      std::vector<PoolEffect>& out) {
  pool.creating -= asked;
  pool.failure = status;
  if (pool.closed) return;
  if (MaySucceedLater(status)) {
    const Duration pause =
        DrawPause(policy.creation, pool.backoff, entropy, purposes::kSessionBackoff);
    pool.create_at = now + status.retry_after.value_or(pause);
  } else {
    pool.refused = true;
    RefuseAll(pool, status, out);
    // A multiplexed session that is only to be refreshed is tried again later.
    if (!pool.sessions.empty() && policy.kind == SessionKind::kMultiplexed) {
      pool.refused = false;
      pool.create_at = now + policy.creation.max;
    }
  }
  ServeAndCreate(policy, pool, now, out);
}

void OnPinged(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
              const SessionName& name, const Status& status, std::vector<PoolEffect>& out) {
  PooledSession* session = Find(pool, name);
  if (session == nullptr) return;
  if (IsSessionNotFound(status)) {
    Remove(pool, *session);
  } else {
    const Duration pause = status.ok() ? policy.keep_alive_after : policy.ping_again_after;
    MakeIdle(policy, pool, *session, now, now + pause, out);
  }
  ServeAndCreate(policy, pool, now, out);
}

std::optional<LocalInstant> NextPoolTime(const SessionPoolPolicy& policy, const SessionPool& pool) {
  if (pool.closed) return std::nullopt;
  std::optional<LocalInstant> next = pool.create_at;
  const auto at = [&](LocalInstant time) { next = next ? std::min(*next, time) : time; };
  for (const SessionAsker& asker : pool.askers) at(asker.deadline);
  for (const PooledSession& session : pool.sessions) {
    if (session.use != Use::kIdle) continue;
    const LocalInstant old = session.created + policy.max_age;
    if (policy.kind == SessionKind::kRegular) {
      at(std::min(old, session.next_ping));
    } else if (pool.creating == 0 && !pool.create_at) {
      at(old);
    }
  }
  return next;
}

void OnPoolTime(const SessionPoolPolicy& policy, SessionPool& pool, LocalInstant now,
                std::vector<PoolEffect>& out) {
  if (pool.closed) return;
  RefuseLate(pool, now, out);
  if (policy.kind == SessionKind::kRegular) LookAfterIdle(policy, pool, now, out);
  ServeAndCreate(policy, pool, now, out);
}

void ClosePool(const SessionPoolPolicy& policy, SessionPool& pool, std::vector<PoolEffect>& out) {
  pool.closed = true;
  pool.create_at.reset();
  RefuseAll(pool, ClosedStatus(), out);
  if (policy.kind == SessionKind::kMultiplexed) return;
  for (size_t i = 0; i < pool.sessions.size();) {
    if (pool.sessions[i].use == Use::kIdle) {
      LetGo(pool, pool.sessions[i], out);
    } else {
      ++i;
    }
  }
}

}  // namespace whorl
