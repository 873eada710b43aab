#include "real_client/linked_clients.h"

#include "real_client/google_cloud/google_cloud_client.h"

namespace whorl::real_client {

std::span<const NamedClient> LinkedClients() {
  static constexpr NamedClient kClients[] = {
      {.name = kGrpcName, .make = MakeGrpcClient},
      {.name = kGoogleCloudName, .make = MakeGoogleCloudClient}};
  return kClients;
}

}  // namespace whorl::real_client
