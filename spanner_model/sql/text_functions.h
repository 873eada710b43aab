// Functions of STRING and BYTES. A character is a code point of UTF-8; of BYTES it is a byte.
//
// Invariant: any bytes are accepted, also those that are not UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whorl::model {

enum class TextUnit : uint8_t { kCharacter, kByte };

// Whether the byte of a UTF-8 text continues a character instead of beginning one.
constexpr bool IsContinuationByte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// How many characters.
int64_t TextLength(std::string_view text, TextUnit unit);

// From `position` on (1 is the first, -1 the last character, 0 is read as 1, and what lies before
// the first as the first), `length` characters or fewer. REQUIRES: length >= 0.
std::string_view TextPart(std::string_view text, int64_t position, int64_t length, TextUnit unit);

// Where `part` begins, from 1; 0 when it is not in the text.
int64_t TextPosition(std::string_view text, std::string_view part, TextUnit unit);

bool IsAscii(std::string_view text);

// LIKE: % is any characters, _ is one, a backslash takes the next one as it is. Nothing when the
// pattern ends in a backslash.
std::optional<bool> MatchesPattern(std::string_view text, std::string_view pattern, TextUnit unit);

}  // namespace whorl::model
