#include "spanner_model/sql/functions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

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

namespace {

// The number of bytes of the first character. REQUIRES: the text is not empty.
size_t FirstCharacter(std::string_view text, TextUnit unit) {
  size_t size = 1;
  if (unit == TextUnit::kByte) return size;
  while (size < text.size() && IsContinuationByte(text[size])) ++size;
  return size;
}

// The byte at which character `index` (from 0) begins; the end if there are fewer.
size_t OffsetOf(std::string_view text, int64_t index, TextUnit unit) {
  if (unit == TextUnit::kByte) {
    return std::min(text.size(), static_cast<size_t>(index));
  }
  size_t at = 0;
  for (; index > 0 && at < text.size(); --index) at += FirstCharacter(text.substr(at), unit);
  return at;
}

bool EndsInBackslash(std::string_view pattern) {
  size_t at = 0;
  while (at < pattern.size()) {
    if (pattern[at] == '\\' && at + 1 == pattern.size()) return true;
    at += pattern[at] == '\\' ? 2 : 1;
  }
  return false;
}

// The characters between two % of a pattern; an empty one is _.
using Segment = std::vector<std::string_view>;

std::vector<Segment> SegmentsOf(std::string_view pattern, TextUnit unit) {
  std::vector<Segment> segments(1);
  while (!pattern.empty()) {
    const char first = pattern[0];
    if (first == '%') {
      segments.emplace_back();
    } else if (first == '_') {
      segments.back().emplace_back();
    } else {
      if (first == '\\') pattern.remove_prefix(1);
      const size_t size = FirstCharacter(pattern, unit);
      segments.back().push_back(pattern.substr(0, size));
      pattern.remove_prefix(size - 1);
    }
    pattern.remove_prefix(1);
  }
  return segments;
}

using Characters = std::span<const std::string_view>;

bool Begins(Characters text, const Segment& segment) {
  return text.size() >= segment.size() &&
         std::equal(segment.begin(), segment.end(), text.begin(),
                    [](auto wanted, auto found) { return wanted.empty() || wanted == found; });
}

// The number of characters up to the end of the segment's first occurrence; nothing if it does not occur.
// All of its prefixes are followed at once, a bit for each (the Shift-And algorithm).
std::optional<size_t> EndOfFirst(Characters text, const Segment& segment) {
  const size_t words = segment.size() / 64 + 1;
  using Bits = std::vector<uint64_t>;
  std::map<std::string_view, Bits> of;  // by character: which of the segment's can be it
  Bits any(words);
  for (size_t i = 0; i < segment.size(); ++i) {
    Bits& bits = segment[i].empty() ? any : of.try_emplace(segment[i], words).first->second;
    bits[i / 64] |= uint64_t{1} << (i % 64);
  }
  for (auto& [character, bits] : of) {
    for (size_t word = 0; word < words; ++word) bits[word] |= any[word];
  }
  if (segment.empty()) return 0;
  Bits seen(words);  // the prefixes that end at the last character
  const size_t last = segment.size() - 1;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto known = of.find(text[at]);
    const Bits& can_be = known == of.end() ? any : known->second;
    uint64_t carry = 1;
    for (size_t word = 0; word < words; ++word) {
      const uint64_t shifted = seen[word] << 1U | carry;
      carry = seen[word] >> 63U;
      seen[word] = shifted & can_be[word];
    }
    if ((seen[last / 64] >> (last % 64) & 1) != 0) return at + 1;
  }
  return std::nullopt;
}

// The same as MatchesPattern, slower for ordinary texts, but in steps that are at most the product of both
// lengths in characters divided by 64.
bool MatchesSegments(std::string_view whole, std::string_view pattern, TextUnit unit) {
  std::vector<std::string_view> characters;
  for (std::string_view left = whole; !left.empty(); left.remove_prefix(characters.back().size())) {
    characters.push_back(left.substr(0, FirstCharacter(left, unit)));
  }
  Characters text = characters;
  const std::vector<Segment> segments = SegmentsOf(pattern, unit);
  if (!Begins(text, segments.front())) return false;
  text = text.subspan(segments.front().size());
  if (segments.size() == 1) return text.empty();
  for (size_t i = 1; i + 1 < segments.size(); ++i) {
    const auto end = EndOfFirst(text, segments[i]);
    if (!end) return false;
    text = text.subspan(*end);
  }
  return text.size() >= segments.back().size() &&
         Begins(text.last(segments.back().size()), segments.back());
}

}  // namespace

int64_t TextLength(std::string_view text, TextUnit unit) {
  if (unit == TextUnit::kByte) return static_cast<int64_t>(text.size());
  return std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuationByte(c); });
}

std::string_view TextPart(std::string_view text, int64_t position, int64_t length, TextUnit unit) {
  const int64_t size = TextLength(text, unit);
  int64_t first = position > 0 ? position - 1 : 0;
  if (position < 0 && position >= -size) first = size + position;
  text.remove_prefix(OffsetOf(text, std::min(first, size), unit));
  return text.substr(0, OffsetOf(text, std::min(length, size), unit));
}

int64_t TextPosition(std::string_view text, std::string_view part, TextUnit unit) {
  const size_t at = text.find(part);
  return at == std::string_view::npos ? 0 : TextLength(text.substr(0, at), unit) + 1;
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::optional<bool> MatchesPattern(std::string_view text, std::string_view pattern, TextUnit unit) {
  if (EndsInBackslash(pattern)) return std::nullopt;
  // The pattern after the last % so far, and the text at which it was last tried.
  std::optional<std::string_view> retry_pattern;
  std::string_view retry_text;
  const std::string_view whole_text = text;
  const std::string_view whole_pattern = pattern;
  // Ordinary patterns are tried again seldom.
  constexpr size_t kStepsOfEachByte = 64;
  size_t steps_left = kStepsOfEachByte * (text.size() + pattern.size());
  while (!text.empty() || !pattern.empty()) {
    if (steps_left-- == 0) return MatchesSegments(whole_text, whole_pattern, unit);
    if (!pattern.empty() && pattern[0] == '%') {
      pattern.remove_prefix(1);
      retry_pattern = pattern;
      retry_text = text;
      continue;
    }
    if (!pattern.empty() && !text.empty()) {
      if (pattern[0] == '_') {
        pattern.remove_prefix(1);
        text.remove_prefix(FirstCharacter(text, unit));
        continue;
      }
      const size_t escape = pattern[0] == '\\' ? 1 : 0;
      if (pattern[escape] == text[0]) {
        pattern.remove_prefix(escape + 1);
        text.remove_prefix(1);
        continue;
      }
    }
    if (!retry_pattern || retry_text.empty()) return false;
    retry_text.remove_prefix(FirstCharacter(retry_text, unit));
    text = retry_text;
    pattern = *retry_pattern;
  }
  return true;
}

namespace {

std::string_view Sign(Op op) {
  switch (op) {
    case Op::kAdd:
      return " + ";
    case Op::kSubtract:
      return " - ";
    case Op::kMultiply:
      return " * ";
    default:
      return " / ";
  }
}

std::string Describe(std::string_view left, Op op, std::string_view right) {
  return std::string(left) + std::string(Sign(op)) + std::string(right);
}

}  // namespace

std::optional<int64_t> ComputeInt64(Op op, int64_t left, int64_t right) {
  int64_t result = 0;
  bool overflow = false;
  if (op == Op::kAdd) {
    overflow = __builtin_add_overflow(left, right, &result);
  } else if (op == Op::kSubtract) {
    overflow = __builtin_sub_overflow(left, right, &result);
  } else {
    overflow = __builtin_mul_overflow(left, right, &result);
  }
  if (overflow) return std::nullopt;
  return result;
}

std::optional<double> ComputeFloat64(Op op, double left, double right) {
  double result = 0;
  switch (op) {
    case Op::kAdd:
      result = left + right;
      break;
    case Op::kSubtract:
      result = left - right;
      break;
    case Op::kMultiply:
      result = left * right;
      break;
    default:
      if (right == 0) return std::nullopt;
      result = left / right;
      break;
  }
  if (!std::isfinite(result) && std::isfinite(left) && std::isfinite(right)) return std::nullopt;
  return result;
}

Status OutOfRange(const std::string& message) { return Error(Code::kOutOfRange, message); }

Status Int64Overflow(Op op, int64_t left, int64_t right) {
  return Error(Code::kOutOfRange,
               "int64 overflow: " + Describe(std::to_string(left), op, std::to_string(right)));
}

Status Float64Error(Op op, double left, double right) {
  const bool by_zero = op == Op::kDivide && right == 0;
  return Error(Code::kOutOfRange, (by_zero ? "division by zero: " : "double overflow: ") +
                                      Describe(FormatShort(left), op, FormatShort(right)));
}

Status NegationOverflow(int64_t operand) {
  return Error(Code::kOutOfRange, "int64 overflow: -" + std::to_string(operand));
}

bool Surpasses(Extreme extreme, const Value& candidate, const Value& best) {
  const auto is_nan = [](const Value& value) {
    const auto* number = std::get_if<Float64>(&value);
    return number != nullptr && std::isnan(number->value());
  };
  if (is_nan(best)) return false;
  if (is_nan(candidate)) return true;
  const std::weak_ordering order = CompareValues(candidate, best);
  return extreme == Extreme::kLeast ? order < 0 : order > 0;
}

std::string FormatShort(double number) {
  std::array<char, 32> text{};
  const auto result =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, 6);
  return {text.data(), result.ptr};
}

}  // namespace whorl::model
