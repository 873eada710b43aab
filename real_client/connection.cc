#include "real_client/connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <string>
#include <utility>

namespace whorl::real_client {
namespace {

constexpr std::string_view kHowToGetCredentials =
    "run `gcloud auth application-default login`, or name a key file in "
    "GOOGLE_APPLICATION_CREDENTIALS, or set SPANNER_EMULATOR_HOST to use the emulator";

std::shared_ptr<grpc::ChannelCredentials> TlsCredentials(const Tls& tls) {
  auto channel = grpc::SslCredentials({.pem_root_certs = tls.root_certificates});
  std::shared_ptr<grpc::CallCredentials> call;
  if (!tls.access_token.empty()) {
    call = grpc::AccessTokenCredentials(tls.access_token);
  } else if (!tls.service_account_key.empty()) {
    constexpr long kTokenLifetimeSeconds = 3600;
    call = grpc::ServiceAccountJWTAccessCredentials(tls.service_account_key, kTokenLifetimeSeconds);
    if (call == nullptr) return nullptr;
  } else {
    return channel;
  }
  return grpc::CompositeChannelCredentials(channel, call);
}

grpc::ChannelArguments ArgumentsOf(const ConnectionOptions& options, int32_t channel) {
  grpc::ChannelArguments arguments;
  // Only the runner resends calls, since it has to know whether a Commit was sent twice.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // Without it, channels with equal arguments would share one TCP connection.
  arguments.SetInt("whorl.channel", channel);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A connection that is lost silently (a black hole) is noticed without a call's deadline.
  constexpr int kMinuteMs = 60'000;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 2 * kMinuteMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMinuteMs / 6);
  constexpr int kMessageBytes = 128 << 20;
  arguments.SetMaxReceiveMessageSize(kMessageBytes);
  const auto* tls = std::get_if<Tls>(&options.credentials);
  if (tls != nullptr && !tls->server_name.empty()) {
    arguments.SetSslTargetNameOverride(tls->server_name);
  }
  return arguments;
}

std::string_view RemedyOf(const Status& status, bool emulator) {
  const auto says = [&](std::string_view text) {
    return status.message.find(text) != std::string::npos;
  };
  switch (status.code) {
    case Code::kUnauthenticated:
      return kHowToGetCredentials;
    case Code::kPermissionDenied:
      return "the account of these credentials needs a role on the database, such as "
             "roles/spanner.databaseUser: `gcloud spanner databases add-iam-policy-binding`";
    case Code::kNotFound:
      if (says("Instance not found")) return "create it: `gcloud spanner instances create`";
      if (says("Database not found")) return "create it: `gcloud spanner databases create`";
      return {};
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
      if (says("Getting metadata from plugin failed")) return kHowToGetCredentials;
      if (emulator && (status.code == Code::kUnavailable || says("UNAVAILABLE"))) {
        return "is the emulator running? SPANNER_EMULATOR_HOST names its gRPC address";
      }
      return {};
    default:
      return {};
  }
}

}  // namespace

Status MakeCredentials(const Credentials& credentials,
                       std::shared_ptr<grpc::ChannelCredentials>& out) {
  if (std::holds_alternative<Plaintext>(credentials)) {
    out = grpc::InsecureChannelCredentials();
    return {};
  }
  if (const auto* tls = std::get_if<Tls>(&credentials)) {
    out = TlsCredentials(*tls);
    if (out != nullptr) return {};
    return Error(Code::kFailedPrecondition,
                 "the service account's key is not the JSON text of a key file; make one with "
                 "`gcloud iam service-accounts keys create`");
  }
  out = grpc::GoogleDefaultCredentials();
  if (out != nullptr) return {};
  return Error(Code::kUnauthenticated, "no Application Default Credentials were found");
}

Status OpenChannels(const ConnectionOptions& options,
                    std::vector<std::shared_ptr<grpc::Channel>>& out) {
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  Status status = MakeCredentials(options.credentials, credentials);
  if (!status.ok()) return status;
  for (int32_t i = 0; i < options.channels; ++i) {
    out.push_back(
        grpc::CreateCustomChannel(options.endpoint, credentials, ArgumentsOf(options, i)));
  }
  return {};
}

void AddHeaders(const Headers& headers, grpc::ClientContext& context) {
  for (const auto& [name, value] : headers) context.AddMetadata(name, value);
}

Status Advise(Status status, const ConnectionOptions& options, std::string_view resource) {
  const bool emulator = std::holds_alternative<Plaintext>(options.credentials);
  const std::string_view remedy = RemedyOf(status, emulator);
  if (remedy.empty()) return status;
  status.message +=
      " (" + std::string(resource) + " at " + options.endpoint + "; " + std::string(remedy) + ")";
  return status;
}

}  // namespace whorl::real_client
