// The gRPC service of the server: finds the method of a call by its path.
//
// One generic service serves all methods, since they do not differ here: one request, then a status
// or messages.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <memory>
#include <string>
#include <utility>

#include "spanner_model/server/frontend.h"

namespace whorl::server {

class CallService final : public grpc::CallbackGenericService {
 public:
  // Every call has to bring `bearer_token`, unless it is empty.
  CallService(std::shared_ptr<Frontend> frontend, std::string bearer_token)
      : frontend_(std::move(frontend)), bearer_token_(std::move(bearer_token)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;

 private:
  grpc::Status Authenticate(const grpc::GenericCallbackServerContext& context) const;

  const std::shared_ptr<Frontend> frontend_;
  const std::string bearer_token_;
};

}  // namespace whorl::server
