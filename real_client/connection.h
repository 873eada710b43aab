// Opens the gRPC channels to one endpoint.
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

// The search for Application Default Credentials may contact the machine's metadata server and take
// seconds, so this belongs on an event loop's thread, before anything else runs there.
// UNAUTHENTICATED if there are no credentials, FAILED_PRECONDITION if they are not usable.
Status MakeCredentials(const Credentials& credentials,
                       std::shared_ptr<grpc::ChannelCredentials>& out);

// Opens the channels, or returns the error of MakeCredentials.
Status OpenChannels(const ConnectionOptions& options,
                    std::vector<std::shared_ptr<grpc::Channel>>& out);

void AddHeaders(const Headers& headers, grpc::ClientContext& context);

// Appends advice to the status, where there is some: what its reader can do about the error.
// Spanner's own text comes first.
Status Advise(Status status, const ConnectionOptions& options, std::string_view resource);

}  // namespace whorl::real_client
