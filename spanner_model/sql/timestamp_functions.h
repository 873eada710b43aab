// TIMESTAMP_DIFF, TIMESTAMP_ADD and TIMESTAMP_SUB on values: exact, with overflow reported (the
// vocabulary's operators saturate).
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "protocol/spanner/status.h"
#include "spanner_model/sql/expression.h"

namespace whorl::model {

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
