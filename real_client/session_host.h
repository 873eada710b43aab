// Carries out the session pool's effects: creates sessions, keeps them alive, deletes them.
// Used on the event loop's thread only.
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
  // Receives a session, or the error.
  using Granted = std::function<void(std::variant<Session, Status>)>;

  SessionHost(EventLoop& loop, Transport& transport, SessionPoolPolicy policy)
      : loop_(loop), transport_(transport), policy_(policy) {}

  void Open();
  // `granted` may be called before Ask returns. REQUIRES: `asker` is not waiting already.
  // Refuses the asker at `give_up_at`, if no session was there by then.
  void Ask(AskerId asker, std::optional<LocalInstant> give_up_at, Granted granted);
  void StopAsking(AskerId asker);
  void Return(const SessionName& name, bool lost);
  // Refuses all waiting and later askers. Calls that are sent from now on end by `deadline`.
  void Close(LocalInstant deadline);

 private:
  template <typename F, typename... Args>
  void Do(F verb, const Args&... args);
  void Do(const CreateSessions& create);
  void Do(const PingSession& ping);
  void Do(const LetGoSession& let_go);
  void Do(const SessionGranted& granted);
  void Do(const SessionRefused& refused);
  void Grant(AskerId asker, std::variant<Session, Status> session);
  // Uses regular sessions, since the server (an older emulator) has no multiplexed ones; Google's
  // clients do the same.
  void FallBackToRegular();
  void OnCreated(int32_t asked, const Response& response);
  void SetTimer();
  LocalInstant DeadlineAfter(Duration timeout) const;

  EventLoop& loop_;
  Transport& transport_;
  SessionPoolPolicy policy_;
  SessionPool pool_;
  OsEntropy entropy_;
  std::map<AskerId, Granted> waiting_;
  std::optional<LocalInstant> timer_at_;
  EventLoop::TimerId timer_ = 0;
  LocalInstant last_deadline_ = LocalInstant::Max();
};

}  // namespace whorl::real_client
