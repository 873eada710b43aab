#include "spanner_model/sql/string_escapes.h"

#include <cstdint>

namespace whorl::model {
namespace {

void AppendUtf8(uint32_t code_point, std::string& out) {
  const auto byte = [&out](uint32_t bits) { out.push_back(static_cast<char>(bits)); };
  if (code_point < 0x80) {
    byte(code_point);
  } else if (code_point < 0x800) {
    byte(0xC0 | code_point >> 6);
    byte(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    byte(0xE0 | code_point >> 12);
    byte(0x80 | (code_point >> 6 & 0x3F));
    byte(0x80 | (code_point & 0x3F));
  } else {
    byte(0xF0 | code_point >> 18);
    byte(0x80 | (code_point >> 12 & 0x3F));
    byte(0x80 | (code_point >> 6 & 0x3F));
    byte(0x80 | (code_point & 0x3F));
  }
}

// The character that `\c` means, if it is a simple escape.
std::optional<char> SimpleEscape(char c) {
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case '\\':
    case '?':
    case '"':
    case '\'':
    case '`':
      return c;
    default:
      return std::nullopt;
  }
}

// The form of a numeric escape.
struct NumberForm {
  size_t prefix = 0;  // letters before the digits
  size_t digits = 0;
  uint32_t base = 16;
  uint32_t limit = 0xFF;  // greatest value
};

std::optional<NumberForm> FormOf(char c, EscapesOf literal) {
  const bool bytes = literal == EscapesOf::kBytes;
  // In a STRING these are code points; in BYTES, bytes.
  constexpr uint32_t limit = 0xFF;
  if (c >= '0' && c <= '7') return NumberForm{.prefix = 0, .digits = 3, .base = 8, .limit = limit};
  if (c == 'x' || c == 'X') return NumberForm{.prefix = 1, .digits = 2, .base = 16, .limit = limit};
  if (bytes) return std::nullopt;
  if (c == 'u') return NumberForm{.prefix = 1, .digits = 4, .base = 16, .limit = 0xFFFF};
  if (c == 'U') return NumberForm{.prefix = 1, .digits = 8, .base = 16, .limit = 0x10FFFF};
  return std::nullopt;
}

std::optional<uint32_t> DigitOf(char c, uint32_t base) {
  uint32_t digit = base;
  if (c >= '0' && c <= '9') digit = static_cast<uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') digit = static_cast<uint32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') digit = static_cast<uint32_t>(c - 'A' + 10);
  if (digit >= base) return std::nullopt;
  return digit;
}

// The number that the digits give; nullopt if a digit is missing or the number is not allowed.
std::optional<uint32_t> ReadNumber(std::string_view digits, const NumberForm& form) {
  if (digits.size() != form.digits) return std::nullopt;
  uint32_t number = 0;
  for (const char c : digits) {
    const auto digit = DigitOf(c, form.base);
    if (!digit) return std::nullopt;
    number = number * form.base + *digit;  // eight digits of base 16 fit
  }
  if (number > form.limit) return std::nullopt;
  if (number >= 0xD800 && number <= 0xDFFF) return std::nullopt;  // surrogates
  return number;
}

}  // namespace

std::optional<std::string> UndoEscapes(std::string_view body, EscapesOf literal,
                                       EscapeError& error) {
  std::string out;
  out.reserve(body.size());
  for (size_t at = 0; at < body.size();) {
    if (body[at] != '\\') {
      out.push_back(body[at++]);
      continue;
    }
    const std::string_view rest = body.substr(at + 1);
    const char c = rest.empty() ? '\0' : rest.front();
    if (const auto simple = SimpleEscape(c)) {
      out.push_back(*simple);
      at += 2;
      continue;
    }
    const auto form = FormOf(c, literal);
    const auto number =
        form ? ReadNumber(rest.substr(form->prefix, form->digits), *form) : std::nullopt;
    if (!number) {
      const size_t length = form ? form->prefix + form->digits : 1;
      error = {.offset = at, .reason = "\\" + std::string(rest.substr(0, length))};
      return std::nullopt;
    }
    if (literal == EscapesOf::kBytes) {
      out.push_back(static_cast<char>(*number));
    } else {
      AppendUtf8(*number, out);
    }
    at += 1 + form->prefix + form->digits;
  }
  return out;
}

}  // namespace whorl::model
