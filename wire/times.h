// Timestamps and durations as protobuf messages. Durations beyond 292 years, which whorl's type
// cannot hold, saturate.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <optional>

#include "base/time.h"

namespace whorl::wire {

google::protobuf::Timestamp EncodeTimestamp(Timestamp timestamp);
// nullopt outside of Spanner's range, or if nanos is not in [0, 1e9).
std::optional<Timestamp> DecodeTimestamp(const google::protobuf::Timestamp& proto);

google::protobuf::Duration EncodeDuration(Duration duration);
// nullopt if nanos is not in (-1e9, 1e9), or if its sign differs from that of the seconds.
std::optional<Duration> DecodeDuration(const google::protobuf::Duration& proto);

}  // namespace whorl::wire
