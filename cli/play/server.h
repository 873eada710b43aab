// Serves the page of `whorl play` on loopback.
//
// Invariants:
//   1. Only addresses of this machine are listened on, and a request whose Host header is another one is refused, so
//      that no name of another site leads here.
//   2. Each request has to bring the token: in the address of the page and of a run, in a header otherwise. A request
//      from another site (Origin) is refused.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cli/play/playground.h"

namespace whorl::cli {

class PlayServer {
 public:
  // `port`: 0 for a free one. UNAVAILABLE if it is taken. The playground outlives the server.
  static absl::StatusOr<std::unique_ptr<PlayServer>> Start(int port, Playground& playground);
  // Ends the requests under way.
  virtual ~PlayServer() = default;
  virtual std::string url() const = 0;  // with the token
};

}  // namespace whorl::cli
