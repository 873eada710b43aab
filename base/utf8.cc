#include "base/utf8.h"

namespace whorl {
namespace {

// The length of a code point's encoding by its first byte; 0 for a byte that begins none.
size_t EncodedLength(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

// True if the second byte may follow the first: no overlong form, no surrogate, and not beyond the
// last character.
bool MayFollow(unsigned char first, unsigned char second) {
  if (first == 0xE0) return second >= 0xA0;
  if (first == 0xED) return second <= 0x9F;
  if (first == 0xF0) return second >= 0x90;
  return first != 0xF4 || second <= 0x8F;
}

}  // namespace

size_t CharacterLength(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = EncodedLength(first);
  if (length > text.size()) return 0;
  if (length > 1 && !MayFollow(first, static_cast<unsigned char>(text[1]))) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuationByte(text[i])) return 0;
  }
  return length;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace whorl
