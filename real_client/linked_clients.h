// The libraries that talk to Spanner in whorl's own programs, by name: all that this build has.
#pragma once

#include <span>
#include <string_view>

#include "real_client/lock.h"

namespace whorl::real_client {

inline constexpr std::string_view kGrpcName = "grpc";
// Where google-cloud-cpp was found when whorl was built.
inline constexpr std::string_view kGoogleCloudName = "google-cloud-cpp";

struct NamedClient {
  std::string_view name;
  MakeClient make;
};

// Of two definitions CMake chooses one: linked_clients.cc, or google_cloud/linked_clients.cc.
std::span<const NamedClient> LinkedClients();
// Null: it is not linked.
inline MakeClient FindLinkedClient(std::string_view name) {
  for (const NamedClient& client : LinkedClients()) {
    if (client.name == name) return client.make;
  }
  return nullptr;
}

}  // namespace whorl::real_client
