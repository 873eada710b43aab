// Reads UTF-8, the encoding of Spanner's STRING (RFC 3629).
#pragma once

#include <cstddef>
#include <string_view>

namespace whorl {

// Whether the byte of a UTF-8 text continues a character instead of beginning one.
constexpr bool IsContinuationByte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The number of bytes of the character with which the text begins; 0 if it begins with no well-formed one:
// no overlong forms, no surrogates.
size_t CharacterLength(std::string_view text);

// True if the text is well-formed.
bool IsUtf8(std::string_view text);

}  // namespace whorl
