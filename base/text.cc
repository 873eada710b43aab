#include "base/text.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace whorl {
namespace {

constexpr size_t kMaxListed = 16;

uint32_t ByteAt(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

// C0 and DEL, and the C1 controls, which a terminal may act on as well.
bool IsControl(std::string_view text, size_t i, size_t length) {
  if (length == 1) return ByteAt(text, i) < 0x20U || ByteAt(text, i) == 0x7FU;
  return length == 2 && ByteAt(text, i) == 0xC2U && ByteAt(text, i + 1) < 0xA0U;
}

void AppendEscaped(std::string& out, uint32_t byte) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\x";
  out += kDigits[byte >> 4U];
  out += kDigits[byte & 0xFU];
}

}  // namespace

std::string Printable(std::string_view text, size_t max_bytes) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (out.size() >= max_bytes) return out + "...";
    const size_t length = CharacterLength(text.substr(i));
    if (length == 0 || IsControl(text, i, length)) {
      const size_t end = i + (length == 0 ? 1 : length);
      for (; i < end; ++i) AppendEscaped(out, ByteAt(text, i));
      continue;
    }
    out.append(text.substr(i, length));
    i += length;
  }
  return out;
}

std::string Quoted(std::string_view text) { return Cat("\"", Printable(text), "\""); }

std::string ListOf(std::span<const std::string_view> words) {
  // A single remaining word is shown instead of "and 1 more".
  const size_t shown = words.size() <= kMaxListed + 1 ? words.size() : kMaxListed;
  std::string out;
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) out += ", ";
    out += Printable(words[i]);
  }
  if (shown < words.size()) {
    out += Cat(", ... and ", std::to_string(words.size() - shown), " more");
  }
  return out;
}

std::string HashText(uint64_t hash) {
  std::string text(16, '0');
  for (size_t i = 16; i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

std::string GroupedText(int64_t number) {
  std::string text = std::to_string(number);
  const size_t first_digit = number < 0 ? 1 : 0;
  for (size_t i = text.size(); i > first_digit + 3;) text.insert(i -= 3, ",");
  return text;
}

std::string CountText(int64_t count, std::string_view one, std::string_view many) {
  return GroupedText(count) + " " + std::string(count == 1 ? one : many);
}

}  // namespace whorl
