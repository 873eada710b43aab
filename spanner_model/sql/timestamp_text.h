// Reads and writes the text forms of a TIMESTAMP, and computes with timestamps.
//
// It reads YYYY-[M]M-[D]D[( |T)[H]H:[M]M:[S]S[.F]][zone] with 1 to 9 digits of fraction. The zone
// is an offset (+2, -08:00, +0530; with a space before it if there is no time), or, after a time, Z
// or a space and a name. A text without a zone is in America/Los_Angeles. (Measured on the
// emulator.)
//
// Deliberately left out, with an error of their own: names of zones other than UTC and
// America/Los_Angeles, and the latter's times before 1967.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/time.h"
#include "protocol/spanner/status.h"
#include "spanner_model/sql/expression.h"

namespace whorl::model {

enum class TimestampTextError : uint8_t { kInvalid, kZoneNotModelled };

std::variant<Timestamp, TimestampTextError> ParseTimestampText(std::string_view text);

// "2026-06-30 17:00:00.500-07": the form of CAST, in America/Los_Angeles, with a fraction of 0, 3,
// 6 or 9 digits; nullopt before 1967.
std::optional<std::string> FormatInLosAngeles(Timestamp timestamp);

// "0001-01-01 00:00:00.5+00": the form of Spanner's messages.
std::string FormatTimestampForMessage(Timestamp timestamp);

// The time zone America/Los_Angeles, Spanner's default for a text that names none.
//
// Invariant: the offsets follow the law as written down here, not the machine's time zone database,
// so that a text means the same on every machine.
// Deliberately left out: the years before 1967, when daylight time followed no rule, and all other
// zones.

// The offset in seconds east of UTC (so it is negative) at a time in seconds since 1970 UTC;
// nullopt before 1967.
std::optional<int64_t> LosAngelesOffset(int64_t utc_seconds);

// The time, in UTC, at which a clock in Los Angeles shows `local_seconds`. The hour that is skipped
// in spring and the one that occurs twice in autumn are read with the offset before the change, as
// Spanner does. nullopt before 1967.
std::optional<int64_t> LosAngelesToUtc(int64_t local_seconds);

// TIMESTAMP_DIFF, TIMESTAMP_ADD and TIMESTAMP_SUB on values: exact, with overflow reported (the
// vocabulary's operators saturate).

// a - b in whole parts, truncated toward zero; nullopt if that exceeds INT64, which only NANOSECOND
// can.
std::optional<int64_t> TimestampDiff(Timestamp a, Timestamp b, DatePart part);

enum class Direction : uint8_t { kForward, kBackward };

// The timestamp moved by `amount` parts; nullopt outside of Spanner's range.
std::optional<Timestamp> TimestampShift(Timestamp timestamp, int64_t amount, DatePart part,
                                        Direction direction);

// OUT_OF_RANGE, in Spanner's words.
Status TimestampDiffOverflow(Timestamp a, Timestamp b, DatePart part);
Status TimestampShiftOverflow(Timestamp timestamp, int64_t amount, DatePart part,
                              Direction direction);

}  // namespace whorl::model
