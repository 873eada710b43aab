#include "spanner_model/sql/text_functions.h"

#include <algorithm>

namespace whorl::model {
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
  while (!text.empty() || !pattern.empty()) {
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

}  // namespace whorl::model
