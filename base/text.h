// Builds text: messages that quote what a user wrote short, printable and on one line, and numbers.
//
// Invariant: a text depends on its arguments alone, never on a locale, so its bytes are the same with every
// compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace whorl {

// The parts, one after the other. (absl::StrCat does not accept std::string_view where Abseil is built
// with a string_view of its own, as Debian's is.)
template <typename... Parts>
std::string Cat(const Parts&... parts) {
  std::string text;
  (text.append(std::string_view(parts)), ...);
  return text;
}

// `text` with control characters and bytes that are not UTF-8 escaped, cut after about `max_bytes`.
// It contains no control sequence that a terminal would act on.
std::string Printable(std::string_view text, size_t max_bytes = 80);

// Printable(text) between double quotes.
std::string Quoted(std::string_view text);

// "a, b, c", and "a, b, ... and 97 more" when there are many.
std::string ListOf(std::span<const std::string_view> words);

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// 16 hexadecimal digits.
std::string HashText(uint64_t hash);

// "1,234,567".
std::string GroupedText(int64_t number);

// "1 grant", "2 grants".
std::string CountText(int64_t count, std::string_view one, std::string_view many);

}  // namespace whorl
