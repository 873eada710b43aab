// Numbers as text.
//
// Invariant: a text depends on its arguments alone, never on a locale or on how a library prints
// floating-point numbers, so the bytes are the same with every compiler.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/spanner/time.h"

namespace whorl::sim {

// Seconds with `digits` decimals, rounded half away from zero: "12.345678901".
// REQUIRES: digits is in [0, 9].
std::string SecondsText(Duration duration, int digits = 9);

// 16 hexadecimal digits.
std::string HashText(uint64_t hash);

// "1,234,567".
std::string GroupedText(int64_t number);

// "1 grant", "2 grants".
std::string CountText(int64_t count, std::string_view one, std::string_view many);

}  // namespace whorl::sim
