// Forwards the calls of one node to the server, unchanged.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>
#include <grpcpp/support/string_ref.h>

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "live/proxy/interceptor.h"

namespace whorl::live {

using Metadata = std::multimap<std::string, std::string>;

// A whole reply.
struct Reply {
  Metadata headers;
  std::vector<grpc::ByteBuffer> messages;
  grpc::Status status;
  Metadata trailers;
};

Metadata CopyMetadata(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata);
// Whether gRPC creates this entry anew for each connection, so that it is not forwarded.
bool IsOfOneConnection(std::string_view name);

class Upstream {
 public:
  // Opens its own connections to `endpoint`; in plaintext if `credentials` is null.
  Upstream(const std::string& endpoint,
           const std::shared_ptr<grpc::ChannelCredentials>& credentials);

  // Waits for the end of the call; a request on `stop` ends it with CANCELLED.
  Reply Send(const ProxiedCall& call, const grpc::ByteBuffer& request, const std::stop_token& stop);

 private:
  grpc::GenericStub stub_;
};

}  // namespace whorl::live
