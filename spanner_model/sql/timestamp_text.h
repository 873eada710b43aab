// The text forms of a TIMESTAMP that Spanner reads and writes.
//
// It reads YYYY-[M]M-[D]D[( |T)[H]H:[M]M:[S]S[.F]][zone] with 1 to 9 digits of fraction. The zone
// is an offset (+2, -08:00, +0530; with a space before it if there is no time), or, after a time, Z
// or a space and a name. A text without a zone is in America/Los_Angeles. (Measured on the
// emulator.)
//
// Deliberately left out, with an error of their own: names of zones other than UTC and
// America/Los_Angeles, and the latter's times before 1967 (time_zone.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/time.h"

namespace whorl::model {

enum class TimestampTextError : uint8_t { kInvalid, kZoneNotModelled };

std::variant<Timestamp, TimestampTextError> ParseTimestampText(std::string_view text);

// "2026-06-30 17:00:00.500-07": the form of CAST, in America/Los_Angeles, with a fraction of 0, 3,
// 6 or 9 digits; nullopt before 1967.
std::optional<std::string> FormatInLosAngeles(Timestamp timestamp);

// "0001-01-01 00:00:00.5+00": the form of Spanner's messages.
std::string FormatTimestampForMessage(Timestamp timestamp);

}  // namespace whorl::model
