// Points in time and durations as protobuf says them. Durations that whorl's cannot hold (beyond
// 292 years) saturate.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <optional>

#include "protocol/spanner/time.h"

namespace whorl::wire {

google::protobuf::Timestamp EncodeTimestamp(Timestamp timestamp);
// Nothing when outside Spanner's range, or when nanos is not in [0, 1e9).
std::optional<Timestamp> DecodeTimestamp(const google::protobuf::Timestamp& proto);

google::protobuf::Duration EncodeDuration(Duration duration);
// Nothing when nanos is not in (-1e9, 1e9), or not of the sign of the seconds.
std::optional<Duration> DecodeDuration(const google::protobuf::Duration& proto);

}  // namespace whorl::wire
