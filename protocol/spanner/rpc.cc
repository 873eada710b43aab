#include "protocol/spanner/rpc.h"

#include <array>

namespace whorl {

std::string_view RequestName(const Request& request) {
  constexpr std::array<std::string_view, 4> kNames = {"ExecuteSql", "BeginTransaction", "Commit",
                                                      "Rollback"};
  return kNames[request.index()];
}

}  // namespace whorl
