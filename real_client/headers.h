// Sets the headers of each call, as Google's clients send them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/spanner/rpc.h"

namespace whorl::real_client {

using Headers = std::vector<std::pair<std::string, std::string>>;

// Identifies a call in Spanner's logs, by the header x-goog-spanner-request-id. A resent call keeps its `request` and increments `attempt`.
struct SpannerRequestId {
  uint64_t process = 0;  // a random number, one for each process
  uint64_t client = 0;
  uint64_t channel = 0;
  uint64_t request = 0;
  uint64_t attempt = 1;
};
std::string FormatSpannerRequestId(const SpannerRequestId& id);

// "session=projects%2Fp%2F..."
std::string RoutingParameter(std::string_view field, std::string_view resource);

// The headers of a call to `database` (projects/p/instances/i/databases/d). Calls of read-write
// transactions request routing to the leader, which has to serve them.
Headers HeadersOf(const Request& request, const std::string& database, const SpannerRequestId& id);
// The headers of other calls: those of the admin services, and BatchCreateSessions.
Headers HeadersOf(std::string_view field, std::string_view resource, std::string_view prefix);

}  // namespace whorl::real_client
