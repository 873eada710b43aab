#include "spanner_model/sql/timestamp_functions.h"

#include <array>
#include <cstddef>
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

// The size of a part is a fraction of a second or a number of seconds: one of the first two is 1.
struct PartSize {
  int64_t per_second = 1;
  int64_t seconds = 1;
  int64_t nanos = kNanosPerSecond;  // the nanoseconds of one part, if it is less than a second
};

constexpr PartSize Fraction(int64_t per_second) {
  return {.per_second = per_second, .seconds = 1, .nanos = kNanosPerSecond / per_second};
}
constexpr PartSize Multiple(int64_t seconds) {
  return {.per_second = 1, .seconds = seconds, .nanos = kNanosPerSecond};
}

// Indexed by DatePart.
constexpr std::array<PartSize, 7> kPartSizes = {
    Fraction(kNanosPerSecond), Fraction(1'000'000), Fraction(1'000), Multiple(1), Multiple(60),
    Multiple(3'600),           Multiple(86'400)};
static_assert(kPartSizes.size() == static_cast<size_t>(DatePart::kDay) + 1);

constexpr const PartSize& SizeOf(DatePart part) { return kPartSizes[static_cast<size_t>(part)]; }

}  // namespace

std::optional<int64_t> TimestampDiff(Timestamp a, Timestamp b, DatePart part) {
  int64_t seconds = a.seconds() - b.seconds();
  int64_t nanos = int64_t{a.nanos()} - b.nanos();
  // Gives both the same sign, so that each can be truncated by itself.
  if (seconds > 0 && nanos < 0) {
    --seconds;
    nanos += kNanosPerSecond;
  } else if (seconds < 0 && nanos > 0) {
    ++seconds;
    nanos -= kNanosPerSecond;
  }
  const PartSize& size = SizeOf(part);
  if (size.seconds > 1) return seconds / size.seconds;
  int64_t parts = 0;
  if (__builtin_mul_overflow(seconds, size.per_second, &parts)) return std::nullopt;
  if (__builtin_add_overflow(parts, nanos / size.nanos, &parts)) {
    return std::nullopt;
  }
  return parts;
}

std::optional<Timestamp> TimestampShift(Timestamp timestamp, int64_t amount, DatePart part,
                                        Direction direction) {
  const PartSize& size = SizeOf(part);
  int64_t seconds = amount / size.per_second;
  int64_t nanos = amount % size.per_second * size.nanos;
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
