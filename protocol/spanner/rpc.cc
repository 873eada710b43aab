#include "protocol/spanner/rpc.h"

#include <array>
#include <utility>

namespace whorl {

std::string_view RequestName(const Request& request) {
  constexpr std::array<std::string_view, std::variant_size_v<Request>> kNames = {
      "ExecuteSql",      "BeginTransaction", "Commit",     "Rollback",     "Read",
      "ExecuteBatchDml", "CreateSession",    "GetSession", "DeleteSession"};
  return kNames[request.index()];
}

const SessionName& SessionOf(const Request& request) {
  static const SessionName kNone;
  return std::visit(
      [](const auto& one) -> const SessionName& {
        if constexpr (requires { one.session; }) {
          return one.session;
        } else {
          return kNone;
        }
      },
      request);
}

void SetSession(Request& request, SessionName session) {
  std::visit(
      [&](auto& one) {
        if constexpr (requires { one.session; }) one.session = std::move(session);
      },
      request);
}

}  // namespace whorl
