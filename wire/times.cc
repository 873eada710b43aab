#include "wire/times.h"

#include <cstdint>

namespace whorl::wire {
namespace {
constexpr int64_t kNanosPerSecond = 1'000'000'000;
}

google::protobuf::Timestamp EncodeTimestamp(Timestamp timestamp) {
  google::protobuf::Timestamp proto;
  proto.set_seconds(timestamp.seconds());
  proto.set_nanos(timestamp.nanos());
  return proto;
}

std::optional<Timestamp> DecodeTimestamp(const google::protobuf::Timestamp& proto) {
  return Timestamp::FromParts(proto.seconds(), proto.nanos());
}

google::protobuf::Duration EncodeDuration(Duration duration) {
  google::protobuf::Duration proto;
  proto.set_seconds(duration.ns / kNanosPerSecond);
  proto.set_nanos(static_cast<int32_t>(duration.ns % kNanosPerSecond));
  return proto;
}

std::optional<Duration> DecodeDuration(const google::protobuf::Duration& proto) {
  const int64_t seconds = proto.seconds();
  const int64_t nanos = proto.nanos();
  if (nanos <= -kNanosPerSecond || nanos >= kNanosPerSecond) return std::nullopt;
  if ((seconds < 0 && nanos > 0) || (seconds > 0 && nanos < 0)) return std::nullopt;
  return Duration{SaturatingNanos(seconds, nanos)};
}

}  // namespace whorl::wire
