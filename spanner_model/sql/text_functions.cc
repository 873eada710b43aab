#include "spanner_model/sql/text_functions.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

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

// Of a pattern, what stands between two %: its characters, of which an empty one is _.
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

}  // namespace whorl::model
