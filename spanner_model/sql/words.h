// Names and keywords without regard to case: ASCII letters only, as in GoogleSQL.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

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

}  // namespace whorl::model
