#include "wire/status.h"

#include <array>
#include <cstdint>

#include "google/rpc/error_details.pb.h"
#include "wire/values.h"

namespace whorl::wire {
namespace {

using google::rpc::ResourceInfo;
using google::rpc::RetryInfo;

struct Resource {
  std::string_view not_found;  // the start of the message, before the resource's name
  std::string_view type;
  std::string_view description;
};
constexpr std::array<Resource, 3> kResources = {
    {{"Session not found: ", "type.googleapis.com/google.spanner.v1.Session",
      "Session does not exist."},
     {"Database not found: ", "type.googleapis.com/google.spanner.admin.database.v1.Database",
      "Database does not exist."},
     {"Instance not found: ", "type.googleapis.com/google.spanner.admin.instance.v1.Instance",
      "Instance does not exist."}}};

std::optional<ResourceInfo> MissingResource(const Status& status) {
  if (status.code != Code::kNotFound) return std::nullopt;
  for (const Resource& resource : kResources) {
    if (!status.message.view().starts_with(resource.not_found)) continue;
    ResourceInfo info;
    info.set_resource_type(std::string(resource.type));
    info.set_resource_name(std::string(status.message.view().substr(resource.not_found.size())));
    info.set_description(std::string(resource.description));
    return info;
  }
  return std::nullopt;
}

std::optional<RetryInfo> RetryInfoOf(const Status& status) {
  if (!status.retry_after) return std::nullopt;
  RetryInfo info;
  *info.mutable_retry_delay() = EncodeDuration(*status.retry_after);
  return info;
}

std::optional<Duration> RetryAfter(const google::rpc::Status& proto) {
  for (const google::protobuf::Any& detail : proto.details()) {
    RetryInfo info;
    if (detail.Is<RetryInfo>() && detail.UnpackTo(&info)) return DecodeDuration(info.retry_delay());
  }
  return std::nullopt;
}

Code DecodeCode(int64_t code) {
  return code >= 0 && code <= 16 ? static_cast<Code>(code) : Code::kUnknown;
}

// Whether a character of UTF-8 begins there.
bool BeginsCharacter(std::string_view text, size_t at) {
  return at >= text.size() || (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
}

// The beginning and the end of a text that is too long for a client: the beginning says what is wrong,
// the end says where.
std::string Shortened(std::string_view text) {
  if (text.size() <= kMessageMax) return std::string(text);
  constexpr size_t kEnd = kMessageMax / 4;
  constexpr size_t kBegin = kMessageMax - kEnd - 50;  // the rest is for the words between them
  size_t begin = kBegin;
  while (!BeginsCharacter(text, begin)) --begin;
  size_t end = text.size() - kEnd;
  while (!BeginsCharacter(text, end)) ++end;
  return std::string(text.substr(0, begin)) + " ... (" + std::to_string(end - begin) +
         " bytes left out) ... " + std::string(text.substr(end));
}

}  // namespace

google::rpc::Status EncodeRpcStatus(const Status& status) {
  google::rpc::Status proto;
  proto.set_code(static_cast<int32_t>(status.code));
  proto.set_message(status.message.str());
  if (const auto retry = RetryInfoOf(status)) proto.add_details()->PackFrom(*retry);
  if (const auto resource = MissingResource(status)) proto.add_details()->PackFrom(*resource);
  return proto;
}

Status DecodeRpcStatus(const google::rpc::Status& proto) {
  return {.code = DecodeCode(proto.code()),
          .retry_after = RetryAfter(proto),
          .message = proto.message()};
}

grpc::Status EncodeStatus(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  Status sent = status;
  sent.message = Shortened(status.message.view());
  return {static_cast<grpc::StatusCode>(sent.code), sent.message.str(),
          EncodeRpcStatus(sent).SerializeAsString()};
}

std::optional<std::string> EncodeRetryInfoTrailer(const Status& status) {
  const auto info = RetryInfoOf(status);
  if (!info) return std::nullopt;
  return info->SerializeAsString();
}

Status DecodeStatus(const grpc::Status& status,
                    std::optional<std::string_view> retry_info_trailer) {
  Status decoded = {.code = DecodeCode(status.error_code()),
                    .retry_after = std::nullopt,
                    .message = status.error_message()};
  google::rpc::Status details;
  if (!status.error_details().empty() && details.ParseFromString(status.error_details())) {
    decoded.retry_after = RetryAfter(details);
  }
  RetryInfo info;
  if (!decoded.retry_after && retry_info_trailer &&
      info.ParseFromString(std::string(*retry_info_trailer))) {
    decoded.retry_after = DecodeDuration(info.retry_delay());
  }
  return decoded;
}

}  // namespace whorl::wire
