// The headers that go with each call, as Google's clients send them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/spanner/rpc.h"

namespace whorl::real_client {

using Headers = std::vector<std::pair<std::string, std::string>>;

// Names a call for whoever reads Spanner's logs. A resent call keeps its request and raises its
// attempt.
struct RequestId {
  uint64_t process = 0;  // drawn once by each process
  uint64_t client = 0;
  uint64_t channel = 0;
  uint64_t request = 0;
  uint64_t attempt = 1;
};
std::string FormatRequestId(const RequestId& id);

// "session=projects%2Fp%2F..."
std::string RoutingParameter(std::string_view field, std::string_view resource);

// Of a call under `database` (projects/p/instances/i/databases/d). The calls of read-write
// transactions ask to be routed to the leader, which has to serve them.
Headers HeadersOf(const Request& request, const std::string& database, const RequestId& id);
// Of any other call: of the admin services, and BatchCreateSessions.
Headers HeadersOf(std::string_view field, std::string_view resource, std::string_view prefix);

}  // namespace whorl::real_client
