// What a test can do to single calls of google.spanner.v1.Spanner, and see of all calls.
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
  uint64_t nth = 0;         // of this method's calls since the server started; the first is 1
  std::string session;      // its whole name, as the request says it; empty for none
  std::string transaction;  // that the request names; empty for none
};

// Shut until a test opens it. May be used from any thread.
class Gate {
 public:
  void Open();
  // Calls `run` at once when it is open, otherwise from Open.
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
struct LoseReply {  // the call is served, and then fails so
  Status status;
};
struct HoldRequest {  // the call is served when the gate opens
  std::shared_ptr<Gate> gate;
};
struct HoldReply {  // the call is served, and answered when the gate opens
  std::shared_ptr<Gate> gate;
};
using FaultAction = std::variant<LetPass, FailBefore, LoseReply, HoldRequest, HoldReply>;
// Called from any thread, one call at a time, before anything is done with the call; it opens no
// gate and calls nothing of the server.
using FaultFunction = std::function<FaultAction(const CallInfo&)>;

enum class CallStage : uint8_t {
  kArrived,
  kParked,    // it waits (answer.h says for what); may come more than once
  kAnswered,  // the reply is about to be sent
};
// Called from any thread, one call at a time; it opens no gate and calls nothing of the server.
// `status` counts when the stage is kAnswered; a call is seen to be answered before its client
// hears the answer.
using ObserverFunction =
    std::function<void(const CallInfo&, CallStage stage, const Status& status)>;

}  // namespace whorl::server
