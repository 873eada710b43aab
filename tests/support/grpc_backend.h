// Runs a script through the real client and gRPC. A gRPC server of the test, between the client and
// the real server, forwards each call or injects the script's fault. It also records the calls that
// the client makes after its answer, until its end.
#pragma once

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "real_client/options.h"
#include "real_client/transaction_client.h"
#include "tests/support/scripted_network.h"

namespace whorl {

// Creates the client under test.
using ClientMaker = std::function<Status(real_client::ClientOptions,
                                         std::unique_ptr<real_client::TransactionClient>&)>;
Status MakeSpannerClient(real_client::ClientOptions options,
                         std::unique_ptr<real_client::TransactionClient>& out);

class GrpcBackend final : public ScriptBackend {
 public:
  // `server` serves Spanner's API; `database` exists there.
  GrpcBackend(std::shared_ptr<grpc::Channel> server, std::string database,
              ClientMaker maker = MakeSpannerClient)
      : server_(std::move(server)), database_(std::move(database)), maker_(std::move(maker)) {}
  std::vector<std::string> Run(const Script& script) override;

 private:
  std::shared_ptr<grpc::Channel> server_;
  std::string database_;
  ClientMaker maker_;
};

}  // namespace whorl
