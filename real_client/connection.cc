#include "real_client/connection.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace whorl::real_client {
namespace {

constexpr std::string_view kHowToGetCredentials =
    "run `gcloud auth application-default login`, or name a key file in "
    "GOOGLE_APPLICATION_CREDENTIALS, or set SPANNER_EMULATOR_HOST to use the emulator";

class RenewedToken final : public grpc::MetadataCredentialsPlugin {
 public:
  explicit RenewedToken(std::function<std::string()> token) : token_(std::move(token)) {}

  bool IsBlocking() const override { return true; }
  const char* GetType() const override { return "renewed_access_token"; }
  grpc::Status GetMetadata(grpc::string_ref /*service_url*/, grpc::string_ref /*method_name*/,
                           const grpc::AuthContext& /*channel*/,
                           std::multimap<grpc::string, grpc::string>* metadata) override {
    const std::string token = token_();
    if (token.empty())
      return {grpc::StatusCode::UNAUTHENTICATED, "the program has no access token"};
    metadata->emplace("authorization", "Bearer " + token);
    return grpc::Status::OK;
  }

 private:
  const std::function<std::string()> token_;
};

// The field `type` of a JSON file of credentials; empty if the text is none.
std::string TypeOfCredentials(const std::string& text) {
  google::protobuf::Struct json;
  if (!google::protobuf::util::JsonStringToMessage(text, &json).ok()) return {};
  const auto type = json.fields().find("type");
  return type == json.fields().end() ? std::string() : type->second.string_value();
}

// Null if gRPC cannot use them.
std::shared_ptr<grpc::CallCredentials> JsonCredentials(const std::string& text) {
  const std::string type = TypeOfCredentials(text);
  if (type == "authorized_user") return grpc::GoogleRefreshTokenCredentials(text);
  if (type == "external_account") {
    return grpc::ExternalAccountCredentials(text, {"https://www.googleapis.com/auth/spanner.data"});
  }
  constexpr long kTokenLifetimeSeconds = 3600;
  return grpc::ServiceAccountJWTAccessCredentials(text, kTokenLifetimeSeconds);
}

std::shared_ptr<grpc::ChannelCredentials> TlsCredentials(const Tls& tls) {
  auto channel = grpc::SslCredentials({.pem_root_certs = tls.root_certificates});
  std::shared_ptr<grpc::CallCredentials> call;
  if (!tls.access_token.empty()) {
    call = grpc::AccessTokenCredentials(tls.access_token);
  } else if (tls.renewed_access_token) {
    call = grpc::MetadataCredentialsFromPlugin(
        std::make_unique<RenewedToken>(tls.renewed_access_token));
  } else if (!tls.credentials_json.empty()) {
    call = JsonCredentials(tls.credentials_json);
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

// Where Google's libraries look for Application Default Credentials.
std::string DefaultCredentialsPath() {
  // Read on the thread of a client that is being made.
  const char* named =
      std::getenv("GOOGLE_APPLICATION_CREDENTIALS");  // NOLINT(concurrency-mt-unsafe)
  if (named != nullptr && *named != '\0') return named;
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  if (home == nullptr) return {};
  return std::string(home) + "/.config/gcloud/application_default_credentials.json";
}

// gRPC does not say why it found none.
std::string WhyNoDefaultCredentials() {
  const std::string path = DefaultCredentialsPath();
  std::ifstream file(path);
  if (!file) return "no Application Default Credentials were found";
  const std::string kind = TypeOfCredentials({std::istreambuf_iterator<char>(file), {}});
  if (kind.empty()) return "the file " + path + " contains no credentials in JSON";
  return "the Application Default Credentials in " + path + " are of type \"" + kind +
         "\", which gRPC cannot use, or lack a field of that type; it knows service_account, "
         "authorized_user and external_account";
}

std::string_view RemedyOf(const Status& status, bool emulator) {
  switch (status.code) {
    case Code::kUnauthenticated:
      return kHowToGetCredentials;
    case Code::kPermissionDenied:
      if (status.Says("Role not found")) return "create it: `CREATE ROLE`";
      if (status.Says("does not have required privileges")) {
        return "GRANT gives them: `whorl lock doctor` says which are missing";
      }
      return "the account of these credentials needs a role on the database, such as "
             "roles/spanner.databaseUser: `gcloud spanner databases add-iam-policy-binding`";
    case Code::kNotFound:
      if (emulator && (status.Says("Instance not found") || status.Says("Database not found"))) {
        return "an emulator begins empty: `whorl lock init --create-database` makes both";
      }
      if (status.Says("Instance not found")) return "create it: `gcloud spanner instances create`";
      if (status.Says("Database not found")) return "create it: `gcloud spanner databases create`";
      return {};
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
      if (status.Says("Getting metadata from plugin failed")) return kHowToGetCredentials;
      if (emulator && (status.code == Code::kUnavailable || status.Says("UNAVAILABLE"))) {
        return "is the emulator running? SPANNER_EMULATOR_HOST names its gRPC address";
      }
      return {};
    case Code::kOk:
    case Code::kCancelled:
    case Code::kUnknown:
    case Code::kInvalidArgument:
    case Code::kAlreadyExists:
    case Code::kResourceExhausted:
    case Code::kFailedPrecondition:
    case Code::kAborted:
    case Code::kOutOfRange:
    case Code::kUnimplemented:
    case Code::kInternal:
    case Code::kDataLoss:
      break;
  }
  return {};
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
    return Error(
        Code::kFailedPrecondition,
        "the credentials are not the JSON text of a key file; `gcloud iam service-accounts "
        "keys create` makes one");
  }
  out = grpc::GoogleDefaultCredentials();
  if (out != nullptr) return {};
  return Error(Code::kUnauthenticated, WhyNoDefaultCredentials());
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
  status.message = status.message + " (" + std::string(resource) + " at " + options.endpoint +
                   "; " + std::string(remedy) + ")";
  return status;
}

}  // namespace whorl::real_client
