// Values, types and times on the wire: whorl decodes its own encoding to the same value, and
// accepts or refuses other clients' values as the emulator does.
#include "wire/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/wire/wire_testing.h"

namespace whorl::wire::values_test {
namespace {

using testing::HasSubstr;
using ProtoValue = google::protobuf::Value;

ProtoValue Text(std::string text) {
  ProtoValue proto;
  proto.set_string_value(std::move(text));
  return proto;
}

ProtoValue Number(double number) {
  ProtoValue proto;
  proto.set_number_value(number);
  return proto;
}

Value Decoded(const ProtoValue& proto, Type type) {
  Value value = std::string("not decoded");
  const Status status = DecodeValue(proto, type, value);
  EXPECT_TRUE(status.ok()) << FormatStatus(status);
  return value;
}

// A value that changed in transit could be a token or a lease.
RC_GTEST_PROP(WireValuesTest, EveryValueComesBackThroughBytes, ()) {
  const TypedValue sent = *AnyTypedValue();
  ProtoValue heard;
  RC_ASSERT(heard.ParseFromString(EncodeValue(sent.value).SerializeAsString()));
  Value value;
  const Status status = DecodeValue(heard, sent.type, value);
  RC_ASSERT(status.ok());
  RC_ASSERT(value == sent.value);
}

TEST(WireValuesTest, EveryTypeComesBack) {
  for (const Type type : kAllTypes) {
    Type decoded = type == Type::kBool ? Type::kString : Type::kBool;
    EXPECT_TRUE(DecodeType(EncodeType(type), decoded).ok());
    EXPECT_EQ(decoded, type);
  }
}

// Google's clients accept only these forms.
TEST(WireValuesTest, EncodesInSpannersForms) {
  EXPECT_EQ(EncodeValue(int64_t{-42}).string_value(), "-42");
  EXPECT_EQ(EncodeValue(std::numeric_limits<int64_t>::min()).string_value(),
            "-9223372036854775808");
  EXPECT_EQ(EncodeValue(Float64(1.5)).number_value(), 1.5);
  EXPECT_EQ(EncodeValue(Float64(std::numeric_limits<double>::quiet_NaN())).string_value(), "NaN");
  EXPECT_EQ(EncodeValue(Float64(-std::numeric_limits<double>::infinity())).string_value(),
            "-Infinity");
  EXPECT_EQ(EncodeValue(Bytes{"ab"}).string_value(), "YWI=");
  EXPECT_EQ(EncodeValue(*ParseRfc3339("2026-01-01T00:00:00.500Z")).string_value(),
            "2026-01-01T00:00:00.5Z");
  EXPECT_TRUE(EncodeValue(Null{}).has_null_value());
  EXPECT_TRUE(EncodeValue(true).bool_value());
}

// Measured on the emulator: clients that send these forms work with Spanner.
TEST(WireValuesTest, TakesWhatSpannerTakes) {
  EXPECT_EQ(Decoded(Text(" +1 "), Type::kInt64), Value(int64_t{1}));
  EXPECT_EQ(Decoded(Text("01"), Type::kInt64), Value(int64_t{1}));
  EXPECT_EQ(Decoded(Text("YWI"), Type::kBytes), Value(Bytes{"ab"}));
  EXPECT_EQ(Decoded(Text("2026-01-01T00:00:00.1234567891Z"), Type::kTimestamp),
            Value(*ParseRfc3339("2026-01-01T00:00:00.123456789Z")));
  EXPECT_EQ(Decoded(Text("2026-11-21T06:43:30.605070000Z"), Type::kTimestamp),
            Value(*ParseRfc3339("2026-11-21T06:43:30.60507Z")));
}

struct Refusal {
  ProtoValue proto;
  Type type;
  std::string text;
  Code code = Code::kFailedPrecondition;
};

// Also measured on the emulator; the code decides whether a client retries.
TEST(WireValuesTest, RefusesWhatSpannerRefuses) {
  for (const Refusal& refusal : std::vector<Refusal>{
           {Number(1), Type::kInt64, "Could not parse number_value: 1\n as INT64"},
           {Text("9223372036854775808"), Type::kInt64, "as an integer"},
           {Text(""), Type::kInt64, "as an integer"},
           {Text("0x10"), Type::kInt64, "as an integer"},
           {Text("1.5"), Type::kFloat64, "Could not parse 1.5"},
           {Text("inf"), Type::kFloat64, "Could not parse inf"},
           {Text("true"), Type::kBool, "as BOOL"},
           {Number(1), Type::kString, "as STRING"},
           {Text("Y_-="), Type::kBytes, "base64"},
           {Text("2026-01-01T00:00:00+00:00"), Type::kTimestamp, "uppercase literal 'Z'"},
           {Text("2026-01-01 00:00:00Z"), Type::kTimestamp, "Failed to parse input"},
           {Text("2026-01-01T00:00:00.Z"), Type::kTimestamp, "Failed to parse input"},
           {Text("spanner.commit_timestamp()"), Type::kTimestamp,
            "Invalid timestamp: 'spanner.commit_timestamp()'", Code::kOutOfRange},
           {Text("2026-02-30"), Type::kDate, "as a DATE"},
           {Text("0000-01-01"), Type::kDate, "as a DATE"},
           {Text("2026-01-01 "), Type::kDate, "as a DATE"},
           {Text("1.0000000001"), Type::kNumeric, "as a NUMERIC"},
           {Text("1e29"), Type::kNumeric, "as a NUMERIC"},
           {Text("."), Type::kNumeric, "as a NUMERIC"},
           {Text("1e"), Type::kNumeric, "as a NUMERIC"},
           {Text("{"), Type::kJson, "as JSON"},
           {Number(1), Type::kNumeric, "as NUMERIC"},
           {Text("[]"), Type::kInt64Array, "as ARRAY<INT64>"},
           {ProtoValue(), Type::kString, "Could not parse  as STRING"}}) {
    Value value = std::string("untouched");
    const Status status = DecodeValue(refusal.proto, refusal.type, value);
    EXPECT_EQ(status.code, refusal.code) << refusal.proto.DebugString();
    EXPECT_THAT(status.message, HasSubstr(refusal.text));
    EXPECT_EQ(value, Value(std::string("untouched")));
  }
}

// Only a write of a column may request the commit timestamp.
TEST(WireValuesTest, CommitTimestampIsATextOfTimestampColumnsOnly) {
  Value value;
  ASSERT_TRUE(DecodeColumnValue(Text(std::string(kCommitTimestamp)), Type::kTimestamp, value).ok());
  EXPECT_EQ(value, Value(std::string(kCommitTimestamp)));
  EXPECT_EQ(EncodeValue(value).string_value(), kCommitTimestamp);
}

TEST(WireValuesTest, RefusesTypesThatWhorlHasNot) {
  v1::Type proto;
  Type type = Type::kBool;
  EXPECT_EQ(DecodeType(proto, type).code, Code::kInvalidArgument);
  proto.set_code(v1::STRUCT);
  EXPECT_THAT(DecodeType(proto, type).message, HasSubstr("STRUCT"));
  EXPECT_EQ(DecodeType(proto, type).code, Code::kUnimplemented);
  proto.set_code(v1::ARRAY);
  EXPECT_EQ(DecodeType(proto, type).code, Code::kInvalidArgument);
  proto.mutable_array_element_type()->set_code(v1::ARRAY);
  EXPECT_EQ(DecodeType(proto, type).code, Code::kUnimplemented);
  proto.mutable_array_element_type()->set_code(v1::STRUCT);
  EXPECT_EQ(DecodeType(proto, type).code, Code::kUnimplemented);
}

// Equal values have one form, by which they are stored and compared.
TEST(WireValuesTest, DatesDecimalsAndJsonGetTheirNormalForm) {
  EXPECT_EQ(Decoded(Text("2026-1-2"), Type::kDate), Value(std::string("2026-01-02")));
  EXPECT_EQ(Decoded(Text("+0012.500"), Type::kNumeric), Value(std::string("12.5")));
  EXPECT_EQ(Decoded(Text("-.5"), Type::kNumeric), Value(std::string("-0.5")));
  EXPECT_EQ(Decoded(Text("-0.0"), Type::kNumeric), Value(std::string("0")));
  EXPECT_EQ(Decoded(Text("1.5E3"), Type::kNumeric), Value(std::string("1500")));
  EXPECT_EQ(Decoded(Text("15e-3"), Type::kNumeric), Value(std::string("0.015")));
  EXPECT_EQ(Decoded(Text(R"( {"a b" : [1, " \" x"]} )"), Type::kJson),
            Value(std::string(R"({"a b":[1," \" x"]})")));
  EXPECT_EQ(Decoded(Number(0.1), Type::kFloat32), Value(Float64(0.1F)));
}

// Pauses and staleness are exact to the nanosecond.
RC_GTEST_PROP(WireTimesTest, TimesAndDurationsComeBack, ()) {
  const Timestamp timestamp = *AnyTimestamp();
  RC_ASSERT(DecodeTimestamp(EncodeTimestamp(timestamp)) == timestamp);
  const Duration duration = {*rc::gen::arbitrary<int64_t>()};
  RC_ASSERT(DecodeDuration(EncodeDuration(duration)) == duration);
}

TEST(WireTimesTest, RefusesWhatNoClockSays) {
  google::protobuf::Timestamp timestamp;
  timestamp.set_nanos(-1);
  EXPECT_EQ(DecodeTimestamp(timestamp), std::nullopt);
  google::protobuf::Duration duration;
  duration.set_seconds(1);
  duration.set_nanos(-1);
  EXPECT_EQ(DecodeDuration(duration), std::nullopt);
  duration.set_seconds(std::numeric_limits<int64_t>::max());
  duration.set_nanos(1);
  EXPECT_EQ(DecodeDuration(duration), Duration::Max());
}

}  // namespace
}  // namespace whorl::wire::values_test
