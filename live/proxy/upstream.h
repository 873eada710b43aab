// The server's side of a node: its calls, sent on as they came.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>
#include <grpcpp/support/string_ref.h>

#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "live/proxy/judge.h"

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
// Whether gRPC makes this entry anew for each connection, so that it is not passed on.
bool IsOfOneConnection(std::string_view name);

class Upstream {
 public:
  // With connections of its own to `endpoint`, which speaks plaintext.
  explicit Upstream(const std::string& endpoint);

  // Waits for the end of the call; when `stop` is requested, that is CANCELLED.
  Reply Send(const ProxiedCall& call, const grpc::ByteBuffer& request, const std::stop_token& stop);

 private:
  grpc::GenericStub stub_;
};

}  // namespace whorl::live
