// Decides what a proxy does with each call: the interface of those who do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/status.h"

namespace whorl::live {

// One gRPC call of a node.
struct ProxiedCall {
  int16_t node = 0;
  uint64_t number = 0;                               // unique in its proxy
  std::string method;                                // "Commit": the last part of the path
  std::string path;                                  // "/google.spanner.v1.Spanner/Commit"
  std::multimap<std::string, std::string> metadata;  // sent by the node
};

// What the proxy does with a message.
struct Interception {
  enum class Action : uint8_t {
    kPass,
    kDrop,    // loses it; if it is a reply, Spanner has executed the call
    kAnswer,  // loses it as well, and answers the node with `status`
  };
  Action action = Action::kPass;
  Duration delay;  // before the message passes or the node is answered
  Status status;   // for kAnswer; not OK
  // Added to what the server gets, for a request that passes.
  std::multimap<std::string, std::string> metadata;
  // A call that the server gets in the node's name before the node is answered (kAnswer); its reply is
  // ignored.
  struct OwnCall {
    std::string path;     // "/google.spanner.v1.Spanner/Rollback"
    std::string message;  // its proto's bytes
  };
  std::optional<OwnCall> before_answer = std::nullopt;
};

// Whether an answer gets on its way to the node.
enum class Delivery : uint8_t {
  kSent,  // a black hole may still hold it back
  kLost,  // the way back is refused, the node waits no more, or the proxy shuts down
};

// Called on threads of the proxy, for several calls at a time. It may block, which delays only the
// call in question, but it has to return before the proxy can shut down. It may call SetLink of the
// proxy.
class CallInterceptor {
 public:
  virtual ~CallInterceptor() = default;

  // The whole request has arrived and was not forwarded yet. `message` has its proto's bytes.
  virtual Interception OnRequest(const ProxiedCall& /*call*/, const std::string& /*message*/) {
    return {};
  }
  // Spanner has answered and the node, which may be gone, was not told yet. `messages` has the
  // bytes of the reply's protos: several for a stream, none for a failed call.
  virtual Interception OnReply(const ProxiedCall& /*call*/, const Status& /*status*/,
                               const std::vector<std::string>& /*messages*/) {
    return {};
  }
  // An answer, Spanner's or the interceptor's own, is about to be sent or is lost. Not called for a message
  // that the interceptor drops.
  virtual void OnDelivery(const ProxiedCall& /*call*/, Delivery /*delivery*/) {}
  // The node has given up a call whose request or reply was dropped, or has gone.
  virtual void OnGivenUp(const ProxiedCall& /*call*/) {}
};

}  // namespace whorl::live
