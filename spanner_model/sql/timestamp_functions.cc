#include "spanner_model/sql/timestamp_functions.h"

#include <string>
#include <string_view>

#include "spanner_model/sql/timestamp_text.h"

namespace whorl::model {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;

std::string_view PartName(DatePart part) {
  switch (part) {
    case DatePart::kNanosecond:
      return "NANOSECOND";
    case DatePart::kMicrosecond:
      return "MICROSECOND";
    case DatePart::kMillisecond:
      return "MILLISECOND";
    case DatePart::kSecond:
      return "SECOND";
    case DatePart::kMinute:
      return "MINUTE";
    case DatePart::kHour:
      return "HOUR";
    case DatePart::kDay:
      return "DAY";
  }
  return "";
}

// Of a part, one of the two is 1: how many go into a second, or how many seconds it has.
struct PartSize {
  int64_t per_second = 1;
  int64_t seconds = 1;
};

constexpr PartSize SizeOf(DatePart part) {
  switch (part) {
    case DatePart::kNanosecond:
      return {.per_second = kNanosPerSecond, .seconds = 1};
    case DatePart::kMicrosecond:
      return {.per_second = 1'000'000, .seconds = 1};
    case DatePart::kMillisecond:
      return {.per_second = 1'000, .seconds = 1};
    case DatePart::kSecond:
      return {.per_second = 1, .seconds = 1};
    case DatePart::kMinute:
      return {.per_second = 1, .seconds = 60};
    case DatePart::kHour:
      return {.per_second = 1, .seconds = 3'600};
    case DatePart::kDay:
      return {.per_second = 1, .seconds = 86'400};
  }
  return {};
}

}  // namespace

std::optional<int64_t> TimestampDiff(Timestamp a, Timestamp b, DatePart part) {
  int64_t seconds = a.seconds() - b.seconds();
  int64_t nanos = int64_t{a.nanos()} - b.nanos();
  // Of one sign, so that each of the two may be truncated alone.
  if (seconds > 0 && nanos < 0) {
    --seconds;
    nanos += kNanosPerSecond;
  } else if (seconds < 0 && nanos > 0) {
    ++seconds;
    nanos -= kNanosPerSecond;
  }
  const PartSize size = SizeOf(part);
  if (size.seconds > 1) return seconds / size.seconds;
  int64_t parts = 0;
  if (__builtin_mul_overflow(seconds, size.per_second, &parts)) return std::nullopt;
  if (__builtin_add_overflow(parts, nanos / (kNanosPerSecond / size.per_second), &parts)) {
    return std::nullopt;
  }
  return parts;
}

std::optional<Timestamp> TimestampShift(Timestamp timestamp, int64_t amount, DatePart part,
                                        Direction direction) {
  const PartSize size = SizeOf(part);
  int64_t seconds = amount / size.per_second;
  int64_t nanos = amount % size.per_second * (kNanosPerSecond / size.per_second);
  if (__builtin_mul_overflow(seconds, size.seconds, &seconds)) return std::nullopt;
  if (direction == Direction::kBackward) {
    if (__builtin_sub_overflow(int64_t{0}, seconds, &seconds)) return std::nullopt;
    nanos = -nanos;
  }
  nanos += timestamp.nanos();
  if (nanos < 0) {
    nanos += kNanosPerSecond;
    if (__builtin_sub_overflow(seconds, int64_t{1}, &seconds)) return std::nullopt;
  } else if (nanos >= kNanosPerSecond) {
    nanos -= kNanosPerSecond;
    if (__builtin_add_overflow(seconds, int64_t{1}, &seconds)) return std::nullopt;
  }
  if (__builtin_add_overflow(timestamp.seconds(), seconds, &seconds)) return std::nullopt;
  return Timestamp::FromParts(seconds, nanos);
}

Status TimestampDiffOverflow(Timestamp a, Timestamp b, DatePart part) {
  return Error(Code::kOutOfRange, "TIMESTAMP_DIFF at " + std::string(PartName(part)) +
                                      " precision between values of " +
                                      FormatTimestampForMessage(a) + " and " +
                                      FormatTimestampForMessage(b) + " causes overflow");
}

Status TimestampShiftOverflow(Timestamp timestamp, int64_t amount, DatePart part,
                              Direction direction) {
  std::string number = std::to_string(amount);
  if (direction == Direction::kBackward && amount != 0) {
    number = amount < 0 ? number.substr(1) : "-" + number;
  }
  return Error(Code::kOutOfRange, "Adding " + number + " " + std::string(PartName(part)) +
                                      " to timestamp " + FormatTimestampForMessage(timestamp) +
                                      " causes overflow");
}

}  // namespace whorl::model
