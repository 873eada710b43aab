#include "real_client/linked_clients.h"

namespace whorl::real_client {

std::span<const NamedClient> LinkedClients() {
  static constexpr NamedClient kClients[] = {{.name = kGrpcName, .make = MakeGrpcClient}};
  return kClients;
}

}  // namespace whorl::real_client
