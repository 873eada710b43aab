// gRPC's side of the server: any call, by the path under which it came.
//
// All methods go through one generic service, since nothing about them differs on this side: one
// request, then a status or messages.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <memory>
#include <string>
#include <utility>

#include "spanner_model/server/frontend.h"

namespace whorl::server {

class CallService final : public grpc::CallbackGenericService {
 public:
  // `bearer_token`: that each call has to bring, empty for none.
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
