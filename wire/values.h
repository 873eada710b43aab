// Values and types of columns and parameters, as Spanner's API carries them in JSON-like protos.
//
// Invariants:
//   1. An encoded value says its kind only, not its type: an INT64, a BYTES and a TIMESTAMP are
//      strings. Decoding needs the type, which stands in param_types, row_type or the schema.
//   2. Decoding takes what the emulator takes, and refuses with its codes and texts: a value of the
//      wrong form is FAILED_PRECONDITION.
// Decoding functions answer a status and leave `out` alone when they fail.
#pragma once

#include <google/protobuf/struct.pb.h>

#include "google/spanner/v1/type.pb.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"

namespace whorl::wire {

namespace v1 = ::google::spanner::v1;

v1::Type EncodeType(Type type);
// UNIMPLEMENTED for types that whorl has not (ARRAY, NUMERIC and so on).
Status DecodeType(const v1::Type& proto, Type& out);

google::protobuf::Value EncodeValue(const Value& value);
Status DecodeValue(const google::protobuf::Value& proto, Type type, Value& out);
// Of a column: the text kCommitTimestamp stays that text in a TIMESTAMP column.
Status DecodeColumnValue(const google::protobuf::Value& proto, Type type, Value& out);
// The type that a value has where nothing else says it: BOOL, FLOAT64, or STRING.
Type TypeByKind(const google::protobuf::Value& proto);

google::protobuf::ListValue EncodeRow(const Row& row);

}  // namespace whorl::wire
