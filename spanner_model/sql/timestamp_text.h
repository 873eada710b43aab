// The text of a TIMESTAMP literal, as GoogleSQL reads it:
// YYYY-[M]M-[D]D[( |T)[H]H:[M]M:[S]S[.F]][zone], 0 to 9 digits of fraction, where the zone is Z,
// UTC or an offset such as +2, -08:00 (with a space before it or without).
//
// Deliberately left out: names of time zones, and texts without a zone, which Spanner reads in
// America/Los_Angeles; both would need a database of time zones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/spanner/time.h"

namespace whorl::model {

enum class TimestampTextError : uint8_t { kInvalid, kZoneNotModelled };

std::variant<Timestamp, TimestampTextError> ParseTimestampText(std::string_view text);

// "0001-01-01 00:00:00.5+00", as Spanner's messages write a timestamp.
std::string FormatTimestampForMessage(Timestamp timestamp);

}  // namespace whorl::model
