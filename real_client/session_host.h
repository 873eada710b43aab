// Does what the session pool asks for: creates sessions, keeps them alive, lets them go.
// All of it belongs to the event loop's thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/client/session_pool.h"
#include "real_client/event_loop.h"
#include "real_client/os.h"
#include "real_client/transport.h"

namespace whorl::real_client {

class SessionHost {
 public:
  // A session, or why there is none.
  using Granted = std::function<void(std::variant<Session, Status>)>;

  SessionHost(EventLoop& loop, Transport& transport, SessionPoolPolicy policy)
      : loop_(loop), transport_(transport), policy_(policy) {}

  void Open();
  // `granted` may be called before Ask returns. REQUIRES: `asker` is not waiting.
  void Ask(AskerId asker, Granted granted);
  void StopAsking(AskerId asker);
  void Return(const SessionName& name, bool lost);
  // Refuses who waits and who comes. Calls that are sent from now on end by `deadline`.
  void Close(Duration deadline);

 private:
  template <typename F, typename... Args>
  void Do(F verb, const Args&... args);
  void Do(const CreateSessions& create);
  void Do(const PingSession& ping);
  void Do(const LetGoSession& let_go);
  void Do(const SessionGranted& granted);
  void Do(const SessionRefused& refused);
  void Grant(AskerId asker, std::variant<Session, Status> session);
  // The server has no multiplexed sessions (an older emulator), so regular ones have to do, as in
  // Google's clients.
  void FallBackToRegular();
  void OnCreated(int32_t asked, const Response& response);
  void SetTimer();
  Duration DeadlineAfter(Duration timeout) const;

  EventLoop& loop_;
  Transport& transport_;
  SessionPoolPolicy policy_;
  SessionPool pool_;
  OsEntropy entropy_;
  std::map<AskerId, Granted> waiting_;
  std::optional<Duration> timer_at_;
  EventLoop::TimerId timer_ = 0;
  Duration last_deadline_ = Duration::Max();
};

}  // namespace whorl::real_client
