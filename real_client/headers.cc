#include "real_client/headers.h"

#include <grpcpp/grpcpp.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

namespace whorl::real_client {
namespace {

std::string Escape(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || c == '-' || c == '_' || c == '.' || c == '~') {
      escaped += c;
    } else {
      escaped += {'%', kHex[byte / 16], kHex[byte % 16]};
    }
  }
  return escaped;
}

// True for all calls except reads outside of a read-write transaction. A transaction with an id is
// a read-write one, since this client begins no read-only ones.
bool GoesToLeader(const Request& request) {
  const auto selects = [](const TransactionSelector& selector) {
    return std::holds_alternative<BeginReadWrite>(selector) ||
           std::holds_alternative<TransactionId>(selector);
  };
  if (const auto* execute = std::get_if<ExecuteSql>(&request)) return selects(execute->transaction);
  if (const auto* read = std::get_if<Read>(&request)) return selects(read->transaction);
  if (const auto* begin = std::get_if<BeginTransaction>(&request)) {
    return std::holds_alternative<BeginReadWrite>(begin->options);
  }
  return !std::holds_alternative<GetSession>(request) &&
         !std::holds_alternative<DeleteSession>(request);
}

}  // namespace

std::string FormatSpannerRequestId(const SpannerRequestId& id) {
  // The first number is the version of this format.
  return absl::StrFormat("1.%016x.%d.%d.%d.%d", id.process, id.client, id.channel, id.request,
                         id.attempt);
}

std::string RoutingParameter(std::string_view field, std::string_view resource) {
  return std::string(field) + "=" + Escape(resource);
}

Headers HeadersOf(std::string_view field, std::string_view resource, std::string_view prefix) {
  return {{"google-cloud-resource-prefix", std::string(prefix)},
          {"x-goog-request-params", RoutingParameter(field, resource)},
          {"x-goog-api-client", "gl-cpp/" + std::to_string(__cplusplus / 100 % 100) +
                                    " whorl/0.1.0 grpc/" + grpc::Version()}};
}

Headers HeadersOf(const Request& request, const std::string& database, const SpannerRequestId& id) {
  const bool named =
      std::holds_alternative<GetSession>(request) || std::holds_alternative<DeleteSession>(request);
  const bool creates = std::holds_alternative<CreateSession>(request);
  Headers headers = creates ? HeadersOf("database", database, database)
                            : HeadersOf(named ? "name" : "session", SessionOf(request), database);
  headers.emplace_back("x-goog-spanner-request-id", FormatSpannerRequestId(id));
  if (GoesToLeader(request)) headers.emplace_back("x-goog-spanner-route-to-leader", "true");
  return headers;
}

}  // namespace whorl::real_client
