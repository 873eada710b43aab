// The gRPC channels to one endpoint.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/security/credentials.h>

#include <memory>
#include <vector>

#include "protocol/spanner/status.h"
#include "real_client/headers.h"
#include "real_client/options.h"

namespace whorl::real_client {

// Looking for Application Default Credentials may ask the machine's metadata server, so this can
// take seconds: it is for an event loop's thread, before anything else runs there.
// UNAUTHENTICATED when there are none, and FAILED_PRECONDITION when they cannot be used.
Status MakeCredentials(const Credentials& credentials,
                       std::shared_ptr<grpc::ChannelCredentials>& out);

// The same of their credentials.
Status OpenChannels(const ConnectionOptions& options,
                    std::vector<std::shared_ptr<grpc::Channel>>& out);

void AddHeaders(const Headers& headers, grpc::ClientContext& context);

// The status with what the person who reads it can do about it, where that is known. The text
// starts as Spanner wrote it.
Status Advise(Status status, const ConnectionOptions& options, std::string_view resource);

}  // namespace whorl::real_client
