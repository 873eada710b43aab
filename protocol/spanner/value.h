// The values of Spanner's columns, parameters and results.
//
// Invariant: equal values compare equal. Float64 therefore keeps one NaN and one zero, since the
// bits of a fingerprint and == have to agree.
// Deliberately left out: ARRAY, STRUCT, NUMERIC, JSON, DATE; no lock protocol here stores them.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/time.h"
#include "protocol/spanner/words.h"

namespace whorl {

enum class Type : uint8_t { kBool, kInt64, kFloat64, kString, kBytes, kTimestamp };
// As GoogleSQL spells them.
constexpr auto WordTableOf(Type) {
  return MakeWordTable<Type>({
      {Type::kBool, "BOOL"},
      {Type::kInt64, "INT64"},
      {Type::kFloat64, "FLOAT64"},
      {Type::kString, "STRING"},
      {Type::kBytes, "BYTES"},
      {Type::kTimestamp, "TIMESTAMP"},
  });
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

using Value = std::variant<Null, bool, int64_t, Float64, std::string, Bytes, Timestamp>;

inline bool IsNull(const Value& value) { return std::holds_alternative<Null>(value); }

// Order of keys and of ORDER BY: NULL first, NaN before every number, strings by bytes.
// REQUIRES: both NULL or of one type.
std::weak_ordering CompareValues(const Value& a, const Value& b);

// For people: 'text', 42, 2026-01-01T00:00:00Z, NULL, b'..' in hex.
std::string FormatValue(const Value& value);

}  // namespace whorl
