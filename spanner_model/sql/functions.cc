#include "spanner_model/sql/functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "spanner_model/sql/arithmetic.h"
#include "spanner_model/sql/text_functions.h"

namespace whorl::model {
namespace {

using Arguments = std::span<const Value>;

int64_t Int64(const Value& value) { return std::get<int64_t>(value); }

// A STRING or a BYTES: its bytes, and the unit in which its length is counted.
struct Text {
  std::string_view data;
  TextUnit unit = TextUnit::kByte;
};

Text TextOf(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return {.data = *text, .unit = TextUnit::kCharacter};
  }
  return {.data = std::get<Bytes>(value).data, .unit = TextUnit::kByte};
}

// A value of the same type as `like`.
Value MakeText(std::string data, const Text& like) {
  if (like.unit == TextUnit::kByte) return Bytes{std::move(data)};
  return data;
}

Status AbsInt64(Arguments arguments, Value& result) {
  const int64_t number = Int64(arguments[0]);
  if (number == std::numeric_limits<int64_t>::min()) return NegationOverflow(number);
  result = number < 0 ? -number : number;
  return {};
}

Status AbsFloat64(Arguments arguments, Value& result) {
  result = Float64(std::fabs(std::get<Float64>(arguments[0]).value()));
  return {};
}

Status Mod(Arguments arguments, Value& result) {
  const int64_t left = Int64(arguments[0]);
  const int64_t right = Int64(arguments[1]);
  if (right == 0) {
    return OutOfRange("division by zero: MOD(" + std::to_string(left) + ", 0)");
  }
  result = right == -1 ? 0 : left % right;  // the least INT64 by -1 traps
  return {};
}

Status Length(Arguments arguments, Value& result) {
  const Text text = TextOf(arguments[0]);
  result = TextLength(text.data, text.unit);
  return {};
}

Status ByteLength(Arguments arguments, Value& result) {
  result = static_cast<int64_t>(TextOf(arguments[0]).data.size());
  return {};
}

// Maps ASCII letters only. Spanner also maps the other letters of a STRING.
template <char kFirst, char kLast>
Status MapLetters(Arguments arguments, Value& result) {
  const Text text = TextOf(arguments[0]);
  if (text.unit == TextUnit::kCharacter && !IsAscii(text.data)) {
    return Error(Code::kInvalidArgument,
                 "LOWER or UPPER of characters beyond ASCII is not modelled");
  }
  std::string mapped(text.data);
  for (char& c : mapped) {
    if (c >= kFirst && c <= kLast) c = static_cast<char>(c ^ 0x20);
  }
  result = MakeText(std::move(mapped), text);
  return {};
}

Status Substr(Arguments arguments, Value& result) {
  const Text text = TextOf(arguments[0]);
  const int64_t length =
      arguments.size() > 2 ? Int64(arguments[2]) : std::numeric_limits<int64_t>::max();
  if (length < 0) return OutOfRange("Third argument in SUBSTR() cannot be negative");
  result = MakeText(std::string(TextPart(text.data, Int64(arguments[1]), length, text.unit)), text);
  return {};
}

Status Strpos(Arguments arguments, Value& result) {
  const Text text = TextOf(arguments[0]);
  result = TextPosition(text.data, TextOf(arguments[1]).data, text.unit);
  return {};
}

Status EndsWith(Arguments arguments, Value& result) {
  result = TextOf(arguments[0]).data.ends_with(TextOf(arguments[1]).data);
  return {};
}

Status Like(Arguments arguments, Value& result) {
  const Text text = TextOf(arguments[0]);
  const auto matches = MatchesPattern(text.data, TextOf(arguments[1]).data, text.unit);
  if (!matches) return OutOfRange("LIKE pattern ends with a backslash");
  result = *matches;
  return {};
}

// The number of whole parts since 1970, rounded down.
template <int64_t kPerSecond>
Status UnixParts(Arguments arguments, Value& result) {
  const auto time = std::get<Timestamp>(arguments[0]);
  constexpr int64_t kNanosPerPart = 1'000'000'000 / kPerSecond;
  result = time.seconds() * kPerSecond + time.nanos() / kNanosPerPart;
  return {};
}

template <int64_t kPerSecond>
Status FromUnixParts(Arguments arguments, Value& result) {
  const int64_t parts = Int64(arguments[0]);
  int64_t seconds = parts / kPerSecond;
  int64_t rest = parts % kPerSecond;
  if (rest < 0) {
    rest += kPerSecond;
    --seconds;
  }
  const auto time = Timestamp::FromParts(seconds, rest * (1'000'000'000 / kPerSecond));
  if (!time) {
    return OutOfRange("Input value " + std::to_string(parts) +
                      " cannot be converted into a TIMESTAMP, because it would be out of the "
                      "allowed range between -62135596800000000 to 253402300799999999 "
                      "(microseconds)");
  }
  result = *time;
  return {};
}

using enum Type;
constexpr std::array<Type, 1> kOneInt64 = {kInt64};
constexpr std::array<Type, 2> kTwoInt64 = {kInt64, kInt64};
constexpr std::array<Type, 1> kOneFloat64 = {kFloat64};
constexpr std::array<Type, 1> kOneString = {kString};
constexpr std::array<Type, 1> kOneBytes = {kBytes};
constexpr std::array<Type, 2> kTwoStrings = {kString, kString};
constexpr std::array<Type, 2> kTwoBytes = {kBytes, kBytes};
constexpr std::array<Type, 3> kPartOfString = {kString, kInt64, kInt64};
constexpr std::array<Type, 3> kPartOfBytes = {kBytes, kInt64, kInt64};
constexpr std::array<Type, 1> kOneTimestamp = {kTimestamp};

constexpr auto kFunctions = std::to_array<ScalarFunction>({
    {"ABS", kOneInt64, 1, kInt64, AbsInt64},
    {"ABS", kOneFloat64, 1, kFloat64, AbsFloat64},
    {"BYTE_LENGTH", kOneString, 1, kInt64, ByteLength},
    {"BYTE_LENGTH", kOneBytes, 1, kInt64, ByteLength},
    {"CHARACTER_LENGTH", kOneString, 1, kInt64, Length},
    {"CHAR_LENGTH", kOneString, 1, kInt64, Length},
    {"ENDS_WITH", kTwoStrings, 2, kBool, EndsWith},
    {"ENDS_WITH", kTwoBytes, 2, kBool, EndsWith},
    {"LENGTH", kOneString, 1, kInt64, Length},
    {"LENGTH", kOneBytes, 1, kInt64, Length},
    {"LIKE", kTwoStrings, 2, kBool, Like},
    {"LIKE", kTwoBytes, 2, kBool, Like},
    {"LOWER", kOneString, 1, kString, MapLetters<'A', 'Z'>},
    {"LOWER", kOneBytes, 1, kBytes, MapLetters<'A', 'Z'>},
    {"MOD", kTwoInt64, 2, kInt64, Mod},
    {"STRPOS", kTwoStrings, 2, kInt64, Strpos},
    {"STRPOS", kTwoBytes, 2, kInt64, Strpos},
    {"SUBSTR", kPartOfString, 2, kString, Substr},
    {"SUBSTR", kPartOfBytes, 2, kBytes, Substr},
    {"SUBSTRING", kPartOfString, 2, kString, Substr},
    {"SUBSTRING", kPartOfBytes, 2, kBytes, Substr},
    {"TIMESTAMP_MICROS", kOneInt64, 1, kTimestamp, FromUnixParts<1'000'000>},
    {"TIMESTAMP_MILLIS", kOneInt64, 1, kTimestamp, FromUnixParts<1'000>},
    {"TIMESTAMP_SECONDS", kOneInt64, 1, kTimestamp, FromUnixParts<1>},
    {"UNIX_MICROS", kOneTimestamp, 1, kInt64, UnixParts<1'000'000>},
    {"UNIX_MILLIS", kOneTimestamp, 1, kInt64, UnixParts<1'000>},
    {"UNIX_SECONDS", kOneTimestamp, 1, kInt64, UnixParts<1>},
    {"UPPER", kOneString, 1, kString, MapLetters<'a', 'z'>},
    {"UPPER", kOneBytes, 1, kBytes, MapLetters<'a', 'z'>},
});
static_assert(std::all_of(kFunctions.begin(), kFunctions.end(), [](const ScalarFunction& function) {
  return function.required <= function.parameters.size() &&
         function.parameters.size() <= kMaxArguments;
}));

}  // namespace

std::span<const ScalarFunction> ScalarFunctions() { return kFunctions; }

}  // namespace whorl::model
