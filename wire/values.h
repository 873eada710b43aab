// Encodes and decodes values and types of columns and parameters, timestamps and durations, in the JSON-like
// protos of Spanner's API.
//
// Invariants:
//   1. An encoded value has only a kind, not a type: an INT64, a BYTES and a TIMESTAMP are strings.
//      Decoding needs the type, from param_types, row_type or the schema.
//   2. Decoding accepts what the emulator accepts, and refuses the rest with the emulator's codes
//      and texts: a value of the wrong form is FAILED_PRECONDITION. README.md lists the exceptions.
// Decoding functions do not change `out` if they fail.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <optional>

#include "base/time.h"
#include "google/spanner/v1/type.pb.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"

namespace whorl::wire {

namespace v1 = ::google::spanner::v1;

v1::Type EncodeType(Type type);
// UNIMPLEMENTED for types that whorl does not have (STRUCT, INTERVAL and so on).
Status DecodeType(const v1::Type& proto, Type& out);

google::protobuf::Value EncodeValue(const Value& value);
Status DecodeValue(const google::protobuf::Value& proto, Type type, Value& out);
// For a column: the text kCommitTimestamp is accepted for a TIMESTAMP and stays a string.
Status DecodeColumnValue(const google::protobuf::Value& proto, Type type, Value& out);
// The type of a value by its kind alone: BOOL, FLOAT64 or STRING.
Type TypeByKind(const google::protobuf::Value& proto);

google::protobuf::ListValue EncodeRow(const Row& row);

// Durations beyond 292 years, which whorl's type
// cannot hold, saturate.

google::protobuf::Timestamp EncodeTimestamp(Timestamp timestamp);
// nullopt outside of Spanner's range, or if nanos is not in [0, 1e9).
std::optional<Timestamp> DecodeTimestamp(const google::protobuf::Timestamp& proto);

google::protobuf::Duration EncodeDuration(Duration duration);
// nullopt if nanos is not in (-1e9, 1e9), or if its sign differs from that of the seconds.
std::optional<Duration> DecodeDuration(const google::protobuf::Duration& proto);

}  // namespace whorl::wire
