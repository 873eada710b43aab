// Random names, as text, for processes and their attempts.
#pragma once

#include <string>

#include "protocol/machine.h"

namespace whorl {

// A random UUID (version 4, RFC 9562), made from four draws of 32 bits.
std::string DrawUuid(Entropy& entropy, Purpose purpose);
// 128 random bits from four draws, as 32 hexadecimal digits.
std::string DrawHex128(Entropy& entropy, Purpose purpose);

}  // namespace whorl
