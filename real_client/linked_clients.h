// Lists the client libraries that this build links into whorl's own programs, by name.
#pragma once

#include <span>
#include <string_view>

#include "real_client/lock.h"

namespace whorl::real_client {

inline constexpr std::string_view kGrpcName = "grpc";
// Linked if CMake found google-cloud-cpp.
inline constexpr std::string_view kGoogleCloudName = "google-cloud-cpp";

struct NamedClient {
  std::string_view name;
  MakeClient make;
};

// Defined in linked_clients.cc or in google_cloud/linked_clients.cc; CMake chooses one.
std::span<const NamedClient> LinkedClients();
// Null if the library is not linked.
inline MakeClient FindLinkedClient(std::string_view name) {
  for (const NamedClient& client : LinkedClients()) {
    if (client.name == name) return client.make;
  }
  return nullptr;
}

}  // namespace whorl::real_client
