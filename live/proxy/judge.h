// What is done to the calls that pass a proxy: whoever decides, and what can be decided.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocol/spanner/status.h"
#include "protocol/spanner/time.h"

namespace whorl::live {

// One gRPC call of a node.
struct ProxiedCall {
  int16_t node = 0;
  uint64_t number = 0;                               // unique in its proxy
  std::string method;                                // "Commit": the last part of the path
  std::string path;                                  // "/google.spanner.v1.Spanner/Commit"
  std::multimap<std::string, std::string> metadata;  // that the node sent along
};

struct Verdict {
  enum class Kind : uint8_t {
    kPass,
    kDrop,    // a request: Spanner never gets it. A reply: Spanner did it. The node never hears.
    kAnswer,  // `status` is the answer: of a request, which Spanner never gets, or for the reply
  };
  Kind kind = Kind::kPass;
  Duration delay;  // before it passes, or is answered
  Status status;   // of kAnswer; not OK
};

// Asked from threads of the proxy, for several calls at a time. It may block, which holds up the
// call it is asked about and no other; but it has to let go before the proxy can shut down. It may
// call SetLink of the proxy.
class Judge {
 public:
  virtual ~Judge() = default;

  // The whole request has arrived, and Spanner knows nothing of it yet. `message`: the bytes of its
  // proto.
  virtual Verdict OnRequest(const ProxiedCall& /*call*/, const std::string& /*message*/) {
    return {};
  }
  // Spanner has answered, and the node does not know yet; it may be gone. `messages`: the bytes of
  // the reply's protos, of which a stream has several and a failed call none.
  virtual Verdict OnReply(const ProxiedCall& /*call*/, const Status& /*status*/,
                          const std::vector<std::string>& /*messages*/) {
    return {};
  }
};

}  // namespace whorl::live
