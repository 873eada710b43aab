// Defines the faults that a test can inject into single calls of google.spanner.v1.Spanner, and an
// observer of all calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/spanner/status.h"

namespace whorl::server {

struct CallInfo {
  std::string_view method;  // "Commit"
  uint64_t nth = 0;         // counts this method's calls since the server started, from 1
  std::string session;      // the full name in the request; empty for none
  std::string transaction;  // the id in the request; empty for none
};

// Closed until a test opens it. Thread-safe.
class Gate {
 public:
  void Open();
  // Calls `run` at once if the gate is open, otherwise from Open.
  void WhenOpen(std::function<void()> run);

 private:
  std::mutex mutex_;
  bool is_open_ = false;
  std::vector<std::function<void()>> waiting_;
};

struct LetPass {};
struct FailBefore {  // the call is not served
  Status status;
};
struct LoseReply {  // the call is served, then fails with this status
  Status status;
};
struct HoldRequest {  // the call is served when the gate opens
  std::shared_ptr<Gate> gate;
};
struct HoldReply {  // the call is served, and answered when the gate opens
  std::shared_ptr<Gate> gate;
};
using FaultAction = std::variant<LetPass, FailBefore, LoseReply, HoldRequest, HoldReply>;
// Called before a call is served, from any thread, but never twice at the same time. It must not
// open a gate or call the server.
using FaultFunction = std::function<FaultAction(const CallInfo&)>;

enum class CallPhase : uint8_t {
  kArrived,
  kParked,    // the call waits (see CallOutcome); reported each time it is parked
  kAnswered,  // the reply is about to be sent
};
// Called from any thread, but never twice at the same time. It must not open a gate or call the
// server. `status` is set for kAnswered, which is reported before the client receives the answer.
using ObserverFunction =
    std::function<void(const CallInfo&, CallPhase phase, const Status& status)>;

}  // namespace whorl::server
