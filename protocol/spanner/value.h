// Represents the values of Spanner's columns, parameters and results.
//
// Invariant: equal values compare equal. Float64 therefore keeps one NaN and one zero, since the
// bits of a fingerprint and == have to agree.
// Deliberately left out: STRUCT, INTERVAL, UUID, and the order of NUMERIC (CompareNumerics has it).
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/words.h"

namespace whorl {

// The scalar types, then the arrays of each, in the same order.
enum class Type : uint8_t {
  kBool,
  kInt64,
  kFloat64,
  kString,
  kBytes,
  kTimestamp,
  kDate,
  kNumeric,
  kJson,
  kFloat32,
  kBoolArray,
  kInt64Array,
  kFloat64Array,
  kStringArray,
  kBytesArray,
  kTimestampArray,
  kDateArray,
  kNumericArray,
  kJsonArray,
  kFloat32Array
};
// As GoogleSQL spells them.
constexpr auto WordTableOf(Type) {
  return MakeWordTable<Type>({
      {Type::kBool, "BOOL"},
      {Type::kInt64, "INT64"},
      {Type::kFloat64, "FLOAT64"},
      {Type::kString, "STRING"},
      {Type::kBytes, "BYTES"},
      {Type::kTimestamp, "TIMESTAMP"},
      {Type::kDate, "DATE"},
      {Type::kNumeric, "NUMERIC"},
      {Type::kJson, "JSON"},
      {Type::kFloat32, "FLOAT32"},
      {Type::kBoolArray, "ARRAY<BOOL>"},
      {Type::kInt64Array, "ARRAY<INT64>"},
      {Type::kFloat64Array, "ARRAY<FLOAT64>"},
      {Type::kStringArray, "ARRAY<STRING>"},
      {Type::kBytesArray, "ARRAY<BYTES>"},
      {Type::kTimestampArray, "ARRAY<TIMESTAMP>"},
      {Type::kDateArray, "ARRAY<DATE>"},
      {Type::kNumericArray, "ARRAY<NUMERIC>"},
      {Type::kJsonArray, "ARRAY<JSON>"},
      {Type::kFloat32Array, "ARRAY<FLOAT32>"},
  });
}

inline constexpr uint8_t kScalarTypes = 10;
static_assert(kCountOf<Type> == 2 * kScalarTypes);
constexpr bool IsArray(Type type) { return static_cast<uint8_t>(type) >= kScalarTypes; }
// REQUIRES: the type is a scalar.
constexpr Type ArrayOf(Type element) {
  return static_cast<Type>(static_cast<uint8_t>(element) + kScalarTypes);
}
// REQUIRES: IsArray(array).
constexpr Type ElementOf(Type array) {
  return static_cast<Type>(static_cast<uint8_t>(array) - kScalarTypes);
}

// Whether CompareValues orders the type's values, so that it can be a key. (Spanner orders NUMERIC, too.)
constexpr bool IsOrdered(Type type) {
  return !IsArray(type) && type != Type::kJson && type != Type::kNumeric;
}

struct Null {
  WHORL_NO_FIELDS(Null);
};

class Float64 {
 public:
  constexpr Float64() = default;
  explicit Float64(double value)
      : value_(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN()
                                 : (value == 0 ? 0.0 : value)) {}
  constexpr double value() const { return value_; }
  // NaN equals itself here: this is identity of stored values, not SQL's comparison.
  friend bool operator==(Float64 a, Float64 b) {
    return a.value_ == b.value_ || (std::isnan(a.value_) && std::isnan(b.value_));
  }

 private:
  double value_ = 0;
};

struct Bytes {
  std::string data;
  WHORL_FIELDS(Bytes, data);
};

struct Array;

// A DATE (2026-01-31), a NUMERIC (without zeros at its ends: -0.5) and a JSON are their texts, in the
// form that Spanner gives them; a FLOAT32 is a Float64.
using Value = std::variant<Null, bool, int64_t, Float64, std::string, Bytes, Timestamp, Array>;

// Elements of one type; some may be NULL.
struct Array {
  std::vector<Value> elements;
  WHORL_FIELDS(Array, elements);
};

// The values of a statement's parameters, or of a note, each made in its place: a braced list would
// copy each once more.
template <typename... T>
std::vector<Value> ValuesOf(T&&... values) {
  std::vector<Value> made;
  made.reserve(sizeof...(values));
  (made.emplace_back(std::forward<T>(values)), ...);
  return made;
}

inline bool IsNull(const Value& value) { return std::holds_alternative<Null>(value); }

// Order of keys and of ORDER BY: NULL first, NaN before every number, strings by bytes.
// REQUIRES: both NULL or of one type, which IsOrdered.
std::weak_ordering CompareValues(const Value& a, const Value& b);

// The order of two texts of NUMERIC.
std::strong_ordering CompareNumerics(std::string_view a, std::string_view b);

// The form that Spanner gives a DATE (YYYY-[M]M-[D]D) or a NUMERIC (at most 29 digits before the point
// and 9 after it; an exponent is allowed); nullopt if the text is none.
std::optional<std::string> NormalDate(std::string_view text);
std::optional<std::string> NormalNumeric(std::string_view text);

// For people: 'text', 42, 2026-01-01T00:00:00Z, NULL, b'..' in hex, [1, 2].
std::string FormatValue(const Value& value);

}  // namespace whorl
