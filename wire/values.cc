#include "wire/values.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace whorl::wire {

namespace {

using ProtoValue = google::protobuf::Value;

Status WrongForm(std::string message) {
  return Error(Code::kFailedPrecondition, std::move(message));
}

// The error for a value of a kind that no value of the type has, or of no kind.
Status WrongKind(const ProtoValue& proto, Type type) {
  // The emulator calls a FLOAT64 a DOUBLE in this text.
  const std::string name(type == Type::kFloat64 ? "DOUBLE" : WordOf(type));
  return WrongForm(absl::StrCat("Could not parse ", proto.DebugString(), " as ", name));
}

Status DecodeInt64(const std::string& text, Value& out) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) {
    return WrongForm(absl::StrCat("Could not parse ", text, " as an integer"));
  }
  out = number;
  return {};
}

Status DecodeFloat64(const std::string& text, Value& out) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "NaN") {
    out = Float64(std::numeric_limits<double>::quiet_NaN());
  } else if (text == "Infinity") {
    out = Float64(kInfinity);
  } else if (text == "-Infinity") {
    out = Float64(-kInfinity);
  } else {
    return WrongForm(
        absl::StrCat("Could not parse ", text,
                     " as a FLOAT64. Only the following string values are supported for FLOAT64: "
                     "'Infinity', 'NaN', and '-Infinity'."));
  }
  return {};
}

Status DecodeBytes(const std::string& text, Value& out) {
  std::string data;
  if (!absl::Base64Unescape(text, &data)) {
    return WrongForm(
        absl::StrCat("Could not parse ", text, " as BYTES. Byte strings must be base64-encoded."));
  }
  out = Bytes{std::move(data)};
  return {};
}

// Drops digits beyond nanoseconds, as Spanner does.
std::string WithoutDigitsBeyondNanos(const std::string& text) {
  const size_t dot = text.find('.');
  constexpr size_t kNanoDigits = 9;
  if (dot == std::string::npos) return text;
  const size_t end = text.find_first_not_of("0123456789", dot + 1);
  if (end == std::string::npos || end - dot - 1 <= kNanoDigits) return text;
  return text.substr(0, dot + 1 + kNanoDigits) + text.substr(end);
}

Status DecodeTimestampText(const std::string& text, Value& out) {
  if (text == kCommitTimestamp) {
    return Error(Code::kOutOfRange, absl::StrCat("Invalid timestamp: '", text, "'"));
  }
  if (!text.ends_with('Z')) {
    return WrongForm(
        absl::StrCat("Could not parse ", text,
                     " as a TIMESTAMP. The timestamp value must end with an uppercase literal 'Z' "
                     "to specify Zulu time (UTC-0)."));
  }
  const std::optional<Timestamp> timestamp = ParseRfc3339(WithoutDigitsBeyondNanos(text));
  if (!timestamp) {
    return WrongForm(
        absl::StrCat("Could not parse ", text, " as a TIMESTAMP: Failed to parse input."));
  }
  out = *timestamp;
  return {};
}

Status DecodeNormal(const std::string& text, std::optional<std::string> normal, Type type,
                    Value& out) {
  if (!normal) {
    return WrongForm(
        absl::StrCat("Could not parse ", text, " as a ", std::string(WordOf(type)), "."));
  }
  out = *std::move(normal);
  return {};
}

// The text without white space between its tokens. Spanner also sorts the members of objects.
Status DecodeJson(const std::string& text, Value& out) {
  ProtoValue parsed;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &parsed);
  if (!status.ok()) return WrongForm(absl::StrCat("Could not parse ", text, " as JSON."));
  std::string compact;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {  // the escaped character ends no string
      compact.append(text, i++, 2);
      continue;
    }
    if (text[i] == '"') quoted = !quoted;
    if (quoted || !absl::ascii_isspace(static_cast<unsigned char>(text[i]))) compact += text[i];
  }
  out = std::move(compact);
  return {};
}

Status DecodeText(const std::string& text, Type type, Value& out) {
  switch (type) {
    case Type::kInt64:
      return DecodeInt64(text, out);
    case Type::kFloat64:
    case Type::kFloat32:
      return DecodeFloat64(text, out);
    case Type::kDate:
      return DecodeNormal(text, NormalDate(text), type, out);
    case Type::kNumeric:
      return DecodeNormal(text, NormalNumeric(text), type, out);
    case Type::kJson:
      return DecodeJson(text, out);
    case Type::kBytes:
      return DecodeBytes(text, out);
    case Type::kTimestamp:
      return DecodeTimestampText(text, out);
    case Type::kBool:
    case Type::kString:
    case Type::kBoolArray:
    case Type::kInt64Array:
    case Type::kFloat64Array:
    case Type::kStringArray:
    case Type::kBytesArray:
    case Type::kTimestampArray:
    case Type::kDateArray:
    case Type::kNumericArray:
    case Type::kJsonArray:
    case Type::kFloat32Array:
      break;
  }
  out = text;
  return {};
}

struct ValueEncoder {
  ProtoValue& proto;

  void operator()(Null) const { proto.set_null_value(google::protobuf::NULL_VALUE); }
  void operator()(bool value) const { proto.set_bool_value(value); }
  void operator()(int64_t value) const { proto.set_string_value(absl::StrCat(value)); }
  void operator()(Float64 value) const {
    const double number = value.value();
    if (std::isfinite(number)) {
      proto.set_number_value(number);
    } else if (std::isnan(number)) {
      proto.set_string_value("NaN");
    } else {
      proto.set_string_value(number > 0 ? "Infinity" : "-Infinity");
    }
  }
  void operator()(const std::string& value) const { proto.set_string_value(value); }
  void operator()(const Bytes& value) const {
    proto.set_string_value(absl::Base64Escape(value.data));
  }
  void operator()(Timestamp value) const { proto.set_string_value(FormatRfc3339(value)); }
  void operator()(const Array& value) const {
    google::protobuf::ListValue& list = *proto.mutable_list_value();
    for (const Value& element : value.elements) *list.add_values() = EncodeValue(element);
  }
};

// In the order of Type.
constexpr std::array<v1::TypeCode, kScalarTypes> kCodes = {
    v1::BOOL,      v1::INT64, v1::FLOAT64, v1::STRING, v1::BYTES,
    v1::TIMESTAMP, v1::DATE,  v1::NUMERIC, v1::JSON,   v1::FLOAT32};

Status DecodeArray(const google::protobuf::ListValue& list, Type element, Value& out) {
  Array array;
  for (const ProtoValue& one : list.values()) {
    Status status = DecodeValue(one, element, array.elements.emplace_back());
    if (!status.ok()) return status;
  }
  out = std::move(array);
  return {};
}

}  // namespace

v1::Type EncodeType(Type type) {
  v1::Type proto;
  if (IsArray(type)) {
    proto.set_code(v1::ARRAY);
    *proto.mutable_array_element_type() = EncodeType(ElementOf(type));
    return proto;
  }
  proto.set_code(kCodes[static_cast<size_t>(type)]);
  return proto;
}

Status DecodeType(const v1::Type& proto, Type& out) {
  if (proto.code() == v1::TYPE_CODE_UNSPECIFIED) {
    return Error(Code::kInvalidArgument, "Type code must be specified");
  }
  if (proto.code() == v1::ARRAY && proto.array_element_type().code() != v1::ARRAY) {
    Type element{};
    Status status = DecodeType(proto.array_element_type(), element);
    if (status.ok()) out = ArrayOf(element);
    return status;
  }
  const auto found = std::find(kCodes.begin(), kCodes.end(), proto.code());
  if (found == kCodes.end()) {
    return Error(Code::kUnimplemented,
                 absl::StrCat("whorl has no values of type ", v1::TypeCode_Name(proto.code())));
  }
  out = static_cast<Type>(found - kCodes.begin());
  return {};
}

ProtoValue EncodeValue(const Value& value) {
  ProtoValue proto;
  std::visit(ValueEncoder{proto}, value);
  return proto;
}

Status DecodeValue(const ProtoValue& proto, Type type, Value& out) {
  switch (proto.kind_case()) {
    case ProtoValue::kNullValue:
      out = Null{};
      return {};
    case ProtoValue::kBoolValue:
      if (type != Type::kBool) return WrongKind(proto, type);
      out = proto.bool_value();
      return {};
    case ProtoValue::kNumberValue:
      if (type == Type::kFloat32) {
        out = Float64(static_cast<float>(proto.number_value()));
        return {};
      }
      if (type != Type::kFloat64) return WrongKind(proto, type);
      out = Float64(proto.number_value());
      return {};
    case ProtoValue::kStringValue:
      if (type == Type::kBool || IsArray(type)) return WrongKind(proto, type);
      return DecodeText(proto.string_value(), type, out);
    case ProtoValue::kListValue:
      if (!IsArray(type)) return WrongKind(proto, type);
      return DecodeArray(proto.list_value(), ElementOf(type), out);
    default:
      return WrongKind(proto, type);
  }
}

Status DecodeColumnValue(const ProtoValue& proto, Type type, Value& out) {
  if (type == Type::kTimestamp && proto.string_value() == kCommitTimestamp) {
    out = std::string(kCommitTimestamp);
    return {};
  }
  return DecodeValue(proto, type, out);
}

Type TypeByKind(const ProtoValue& proto) {
  if (proto.has_bool_value()) return Type::kBool;
  return proto.has_number_value() ? Type::kFloat64 : Type::kString;
}

google::protobuf::ListValue EncodeRow(const Row& row) {
  google::protobuf::ListValue proto;
  for (const Value& value : row) *proto.add_values() = EncodeValue(value);
  return proto;
}

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
