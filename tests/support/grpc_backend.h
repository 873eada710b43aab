// Runs a script through the real client and gRPC. Between the client and the server stands a gRPC
// server of the test's own, which hands each call on, or does to it what the script says.
#pragma once

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/scripted_network.h"

namespace whorl {

class GrpcBackend final : public ScriptBackend {
 public:
  // `server` is Spanner's API for `database`, which is there.
  GrpcBackend(std::shared_ptr<grpc::Channel> server, std::string database)
      : server_(std::move(server)), database_(std::move(database)) {}
  std::vector<std::string> Run(const Script& script) override;

 private:
  std::shared_ptr<grpc::Channel> server_;
  std::string database_;
};

}  // namespace whorl
