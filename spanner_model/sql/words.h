// Compares names, keywords and types without regard to the case of ASCII letters, as GoogleSQL does.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/spanner/value.h"

namespace whorl::model {

constexpr char ToCapital(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

inline std::string ToCapitals(std::string_view word) {
  std::string capitals(word);
  for (char& c : capitals) c = ToCapital(c);
  return capitals;
}

constexpr bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return ToCapital(x) == ToCapital(y); });
}

// The scalar type with this name in GoogleSQL. REQUIRES: `name` is in capitals.
inline std::optional<Type> FindType(std::string_view name) {
  for (const Type type : AllOf<Type>()) {
    if (!IsArray(type) && WordOf(type) == name) return type;
  }
  return std::nullopt;
}

}  // namespace whorl::model
