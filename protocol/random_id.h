// Draws random names, as text, for processes and their attempts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/machine.h"

namespace whorl {

// A random UUID (version 4, RFC 9562), made from four draws of 32 bits.
std::string DrawUuid(Entropy& entropy, Purpose purpose);
// 128 random bits from four draws, as 32 hexadecimal digits.
std::string DrawHex128(Entropy& entropy, Purpose purpose);

// A name that a process makes from 128 bits of its own and a number that counts up:
// "<32 hexadecimal digits>-<number><more>".
struct NumberedName {
  std::string_view base;  // the 32 digits
  int64_t number = 0;
  std::string_view more;  // begins with no digit
};
// Empty: the text is none.
std::optional<NumberedName> ParseNumberedName(std::string_view text);

// A name that a process makes of an instant, alone or in a message: "<base>_<19 digits><more>", nanoseconds since
// 1970 of the years after 2001.
struct InstantName {
  std::string_view base;
  uint64_t number = 0;
  std::string_view more;  // begins with no digit
};
// The first one in the text. Empty: there is none.
std::optional<InstantName> ParseInstantName(std::string_view text);

}  // namespace whorl
