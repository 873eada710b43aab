// Functions on STRING and BYTES. A character is a code point of UTF-8, or a byte of a BYTES.
//
// Invariant: any bytes are accepted, even those that are not UTF-8.
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

// The number of characters.
int64_t TextLength(std::string_view text, TextUnit unit);

// At most `length` characters from `position` on: 1 is the first, -1 the last character; 0 and
// positions before the first mean the first. REQUIRES: length >= 0.
std::string_view TextPart(std::string_view text, int64_t position, int64_t length, TextUnit unit);

// The position of `part`, from 1; 0 if it is not in the text.
int64_t TextPosition(std::string_view text, std::string_view part, TextUnit unit);

bool IsAscii(std::string_view text);

// LIKE: % matches any characters, _ one, and a backslash quotes the next one. nullopt if the
// pattern ends in a backslash.
std::optional<bool> MatchesPattern(std::string_view text, std::string_view pattern, TextUnit unit);

}  // namespace whorl::model
