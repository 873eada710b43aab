// The text of a TIMESTAMP, as Spanner reads and writes it.
//
// Read: YYYY-[M]M-[D]D[( |T)[H]H:[M]M:[S]S[.F]][zone], 1 to 9 digits of fraction, where the zone is
// an offset (+2, -08:00, +0530; after a date alone, with a space before it), and after a time also
// Z or a space and a name. A text without a zone is in America/Los_Angeles. (Measured on the
// emulator.)
//
// Deliberately left out, and told apart from a wrong text: names of zones other than UTC and
// America/Los_Angeles, and that zone's time before 1967 (time_zone.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/spanner/time.h"

namespace whorl::model {

enum class TimestampTextError : uint8_t { kInvalid, kZoneNotModelled };

std::variant<Timestamp, TimestampTextError> ParseTimestampText(std::string_view text);

// "2026-06-30 17:00:00.500-07": as CAST writes it, in America/Los_Angeles, with 0, 3, 6 or 9 digits
// of fraction; nothing before 1967.
std::optional<std::string> FormatInLosAngeles(Timestamp timestamp);

// "0001-01-01 00:00:00.5+00", as Spanner's messages write a timestamp.
std::string FormatTimestampForMessage(Timestamp timestamp);

}  // namespace whorl::model
