#include "real_client/session_host.h"

#include <algorithm>
#include <utility>

namespace whorl::real_client {
namespace {

// From Spanner's published gRPC service configuration.
constexpr Duration kSessionTimeout = Seconds(30);
constexpr Duration kBatchTimeout = Seconds(60);

}  // namespace

// Calls a function of the pool with the current time and carries out its effects.
template <typename F, typename... Args>
void SessionHost::Do(F verb, const Args&... args) {
  std::vector<PoolEffect> effects;
  verb(policy_, pool_, args..., effects);
  SetTimer();
  for (const PoolEffect& effect : effects) {
    std::visit([this](const auto& one) { this->Do(one); }, effect);
  }
}

void SessionHost::Open() { Do(OpenPool, MonotonicNow()); }

void SessionHost::Ask(AskerId asker, std::optional<LocalInstant> give_up_at, Granted granted) {
  waiting_[asker] = std::move(granted);
  Do(AskForSession, MonotonicNow(), asker, give_up_at);
}

void SessionHost::StopAsking(AskerId asker) {
  if (waiting_.erase(asker) > 0) whorl::StopAsking(pool_, asker);
}

void SessionHost::Return(const SessionName& name, bool lost) {
  Do(ReturnSession, MonotonicNow(), name, lost);
}

void SessionHost::Close(LocalInstant deadline) {
  last_deadline_ = deadline;
  Do([](const auto& policy, auto& pool, auto& effects) { ClosePool(policy, pool, effects); });
}

LocalInstant SessionHost::DeadlineAfter(Duration timeout) const {
  return std::min(last_deadline_, MonotonicNow() + timeout);
}

void SessionHost::Do(const CreateSessions& create) {
  const auto done = [this, asked = create.count](const Response& response) {
    OnCreated(asked, response);
  };
  if (create.multiplexed) {
    transport_.Send(CreateSession{.multiplexed = true},
                    {.deadline = DeadlineAfter(kSessionTimeout)}, done);
  } else {
    transport_.BatchCreateSessions(create.count, DeadlineAfter(kBatchTimeout), done);
  }
}

void SessionHost::FallBackToRegular() {
  SessionPoolPolicy regular = RegularSessionPolicy();
  regular.min_sessions = 0;
  regular.ask_timeout = policy_.ask_timeout;
  regular.creation = policy_.creation;
  policy_ = regular;
}

void SessionHost::OnCreated(int32_t asked, const Response& response) {
  if (policy_.kind == SessionKind::kMultiplexed) {
    const bool unknown = response.status.code == Code::kUnimplemented;
    const bool ignored = response.status.ok() && !response.sessions.front().multiplexed;
    if (unknown || ignored) FallBackToRegular();
    if (unknown) return Do(OnSessionsCreated, MonotonicNow(), asked, std::vector<SessionName>());
  }
  if (!response.status.ok()) {
    return Do([&](const auto& policy, auto& pool, auto& effects) {
      OnCreationFailed(policy, pool, MonotonicNow(), entropy_, asked, response.status, effects);
    });
  }
  std::vector<SessionName> names;
  for (const SessionInfo& session : response.sessions) names.push_back(session.name);
  Do(OnSessionsCreated, MonotonicNow(), asked, names);
}

void SessionHost::Do(const PingSession& ping) {
  static const Sql kPing = Sql::Intern("SELECT 1");
  const ExecuteSql request{
      .session = ping.name, .transaction = SingleUseRead{}, .statement = {.sql = kPing}};
  transport_.Send(request, {.deadline = DeadlineAfter(kSessionTimeout)},
                  [this, name = ping.name](const Response& response) {
                    Do(OnPinged, MonotonicNow(), name, response.status);
                  });
}

void SessionHost::Do(const LetGoSession& let_go) {
  transport_.Send(DeleteSession{.session = let_go.name},
                  {.deadline = DeadlineAfter(kSessionTimeout)}, [](const Response&) {});
}

void SessionHost::Do(const SessionGranted& granted) { Grant(granted.asker, granted.session); }

void SessionHost::Do(const SessionRefused& refused) { Grant(refused.asker, refused.status); }

void SessionHost::Grant(AskerId asker, std::variant<Session, Status> session) {
  const auto node = waiting_.extract(asker);
  node.mapped()(std::move(session));
}

void SessionHost::SetTimer() {
  const std::optional<LocalInstant> next = NextPoolTime(policy_, pool_);
  if (next == timer_at_) return;
  if (timer_at_) loop_.Cancel(timer_);
  timer_at_ = next;
  if (!next) return;
  timer_ = loop_.At(*next, [this] {
    timer_at_.reset();
    Do(OnPoolTime, MonotonicNow());
  });
}

}  // namespace whorl::real_client
