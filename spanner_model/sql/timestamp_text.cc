#include "spanner_model/sql/timestamp_text.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "spanner_model/sql/words.h"

namespace whorl::model {

namespace {

// Reads the text from left to right and rewrites it in the fixed form of RFC 3339.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool AtEnd() const { return at_ == text_.size(); }
  std::string_view Rest() const { return text_.substr(at_); }

  bool Skip(std::string_view any_of) {
    if (AtEnd() || any_of.find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  }

  // The number of digits that the last call of Digits found.
  size_t LastDigits() const { return last_digits_; }

  // One to `width` digits (exactly `width` if `exact`), padded with zeros; empty if there are none.
  std::string Digits(size_t width, bool exact) {
    std::string digits;
    while (!AtEnd() && digits.size() < width && text_[at_] >= '0' && text_[at_] <= '9') {
      digits.push_back(text_[at_++]);
    }
    last_digits_ = digits.size();
    if (digits.empty() || (exact && digits.size() < width)) return "";
    digits.insert(0, width - digits.size(), '0');
    return digits;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
  size_t last_digits_ = 0;
};

// "YYYY-MM-DD", or empty. Spanner accepts a year with a leading zero.
std::string ReadDate(Reader& reader) {
  std::string year = reader.Digits(5, false);
  if (year.size() != 5 || year[0] != '0' || !reader.Skip("-")) return "";
  const bool short_year = reader.LastDigits() < 4;
  const std::string month = reader.Digits(2, false);
  if (short_year || month.empty() || !reader.Skip("-")) return "";
  const std::string day = reader.Digits(2, false);
  return day.empty() ? "" : year.substr(1) + "-" + month + "-" + day;
}

// "hh:mm:ss.f", or empty.
std::string ReadTime(Reader& reader) {
  const std::string hour = reader.Digits(2, false);
  if (hour.empty() || !reader.Skip(":")) return "";
  const std::string minute = reader.Digits(2, false);
  if (minute.empty() || !reader.Skip(":")) return "";
  const std::string second = reader.Digits(2, false);
  if (second.empty()) return "";
  const std::string time = hour + ":" + minute + ":" + second;
  if (!reader.Skip(".")) return time;
  std::string fraction;
  for (std::string digit = reader.Digits(1, true); !digit.empty(); digit = reader.Digits(1, true)) {
    fraction += digit;
  }
  return fraction.empty() ? "" : time + "." + fraction;
}

int64_t TwoDigits(const std::string& digits) {
  return int64_t{10} * (digits[0] - '0') + (digits[1] - '0');
}

// The offset, in seconds east of UTC, from "+8", "-08:30" or "+0830" at the end of the text.
std::optional<int64_t> ReadOffset(Reader& reader) {
  const bool west = reader.Skip("-");
  if (!west && !reader.Skip("+")) return std::nullopt;
  const std::string hours = reader.Digits(2, false);
  std::string minutes = "00";
  if (reader.Skip(":")) {
    minutes = reader.Digits(2, false);
  } else if (!reader.AtEnd()) {
    minutes = reader.Digits(2, true);
  }
  if (hours.empty() || minutes.empty() || !reader.AtEnd()) return std::nullopt;
  const int64_t hour = TwoDigits(hours);
  const int64_t minute = TwoDigits(minutes);
  if (minute > 59 || hour * 60 + minute > int64_t{14} * 60) return std::nullopt;
  const int64_t seconds = hour * 3'600 + minute * 60;
  return west ? -seconds : seconds;
}

using ParsedSeconds = std::variant<int64_t, TimestampTextError>;

ParsedSeconds FromLosAngeles(int64_t local_seconds) {
  const auto utc = LosAngelesToUtc(local_seconds);
  if (!utc) return TimestampTextError::kZoneNotModelled;
  return *utc;
}

// Converts a local time to UTC by the zone that the rest of the text names.
ParsedSeconds ReadZone(Reader& reader, bool has_time, int64_t local_seconds) {
  if (reader.AtEnd()) return FromLosAngeles(local_seconds);
  if (has_time && EqualIgnoringCase(reader.Rest(), "Z")) return local_seconds;
  const bool space = reader.Skip(" ");
  const std::string_view zone = reader.Rest();
  const bool offset = zone.starts_with('+') || zone.starts_with('-');
  // An offset follows a time directly but a date after a space; a name follows a time after a
  // space.
  if (offset == (has_time == space)) return TimestampTextError::kInvalid;
  if (offset) {
    const auto seconds = ReadOffset(reader);
    if (!seconds) return TimestampTextError::kInvalid;
    return local_seconds - *seconds;
  }
  if (!has_time || !space || EqualIgnoringCase(zone, "Z")) return TimestampTextError::kInvalid;
  if (zone == "UTC") return local_seconds;
  if (zone == "America/Los_Angeles") return FromLosAngeles(local_seconds);
  const bool name =
      !zone.empty() && ToCapital(zone.front()) >= 'A' && ToCapital(zone.front()) <= 'Z';
  return name ? TimestampTextError::kZoneNotModelled : TimestampTextError::kInvalid;
}

}  // namespace

std::variant<Timestamp, TimestampTextError> ParseTimestampText(std::string_view text) {
  Reader reader(text);
  const std::string date = ReadDate(reader);
  if (date.empty()) return TimestampTextError::kInvalid;
  std::string time = "00:00:00";
  const std::string_view rest = reader.Rest();
  const bool has_time = rest.size() > 1 && rest[1] >= '0' && rest[1] <= '9';
  if (has_time) time = reader.Skip("Tt ") ? ReadTime(reader) : "";
  if (time.empty()) return TimestampTextError::kInvalid;
  // A leap second is read as the second after it.
  const bool leap = time.substr(6, 2) == "60";
  if (leap) time.replace(6, 2, "59");
  const auto local = ParseRfc3339(date + "T" + time + "Z");
  if (!local) return TimestampTextError::kInvalid;
  const auto seconds = ReadZone(reader, has_time, local->seconds() + (leap ? 1 : 0));
  if (const auto* error = std::get_if<TimestampTextError>(&seconds)) return *error;
  const auto timestamp = Timestamp::FromParts(std::get<int64_t>(seconds), local->nanos());
  if (!timestamp) return TimestampTextError::kInvalid;
  return *timestamp;
}

std::optional<std::string> FormatInLosAngeles(Timestamp timestamp) {
  const auto offset = LosAngelesOffset(timestamp.seconds());
  if (!offset) return std::nullopt;
  const auto local = Timestamp::FromParts(timestamp.seconds() + *offset, timestamp.nanos());
  if (!local) return std::nullopt;
  std::string text = FormatRfc3339(*local);
  text[text.find('T')] = ' ';
  text.pop_back();  // Z
  if (const size_t point = text.find('.'); point != std::string::npos) {
    const size_t digits = text.size() - point - 1;
    text.append((3 - digits % 3) % 3, '0');
  }
  return text + "-0" + std::to_string(-*offset / 3'600);
}

std::string FormatTimestampForMessage(Timestamp timestamp) {
  std::string text = FormatRfc3339(timestamp);
  text[text.find('T')] = ' ';
  text.pop_back();  // Z
  return text + "+00";
}

namespace {

constexpr int64_t kStandard = -8 * 3'600;
constexpr int64_t kDaylight = -7 * 3'600;
constexpr int64_t kChangeHour = 2 * 3'600;  // local time, for both changes
constexpr int64_t kSecondsPerDay = 86'400;
constexpr int64_t kFirstYear = 1967;

// Months count from March, so that the leap day is the last of its year.
constexpr int64_t kJanuary = 10;
constexpr int64_t kFebruary = 11;
constexpr int64_t kMarch = 0;
constexpr int64_t kApril = 1;
constexpr int64_t kOctober = 7;
constexpr int64_t kNovember = 8;

// Days from 1970-01-01 to a day of the Gregorian calendar. REQUIRES: the year is positive.
constexpr int64_t DayNumber(int64_t year, int64_t month, int64_t day) {
  if (month == kJanuary || month == kFebruary) --year;
  const int64_t leap_days = year / 4 - year / 100 + year / 400;
  // From March on, the lengths of months repeat: 31, 30, 31, 30, 31 days.
  const int64_t days_before_month = (153 * month + 2) / 5;
  constexpr int64_t kFrom0ToEpoch = 719'469;  // 0000-03-01 to 1970-01-01, and days count from 1
  return year * 365 + leap_days + days_before_month + day - kFrom0ToEpoch;
}
static_assert(DayNumber(1970, kJanuary, 1) == 0);
static_assert(DayNumber(2000, kMarch, 1) - DayNumber(2000, kFebruary, 29) == 1);
static_assert(DayNumber(2026, kNovember, 21) == 20'778);

// The first Sunday on or after the day. 1970-01-01 was a Thursday.
constexpr int64_t SundayFrom(int64_t day) { return day + 6 - ((day + 10) % 7 + 7) % 7; }
static_assert(SundayFrom(0) == 3 && SundayFrom(3) == 3 && SundayFrom(4) == 10);
static_assert(SundayFrom(-11) == -11 && SundayFrom(-12) == -11);

// The Uniform Time Act and its amendments; 1974 and 1975 were exceptions in the oil crisis.
int64_t FirstDayOfDaylight(int64_t year) {
  if (year >= 2007) return SundayFrom(DayNumber(year, kMarch, 8));
  if (year >= 1987) return SundayFrom(DayNumber(year, kApril, 1));
  if (year == 1974) return DayNumber(year, kJanuary, 6);
  if (year == 1975) return DayNumber(year, kFebruary, 23);
  return SundayFrom(DayNumber(year, kApril, 24));
}

int64_t LastDayOfDaylight(int64_t year) {
  if (year >= 2007) return SundayFrom(DayNumber(year, kNovember, 1));
  return SundayFrom(DayNumber(year, kOctober, 25));
}

// The year of a local time; nullopt before the first.
std::optional<int64_t> YearOf(int64_t local_seconds) {
  if (local_seconds < DayNumber(kFirstYear, kJanuary, 1) * kSecondsPerDay) return std::nullopt;
  constexpr int64_t kSecondsPerYear = 31'556'952;  // on average
  // The estimate is off by at most one.
  int64_t year = 1970 + local_seconds / kSecondsPerYear;
  while (local_seconds < DayNumber(year, kJanuary, 1) * kSecondsPerDay) --year;
  while (local_seconds >= DayNumber(year + 1, kJanuary, 1) * kSecondsPerDay) ++year;
  return year;
}

}  // namespace

std::optional<int64_t> LosAngelesOffset(int64_t utc_seconds) {
  // No change is near a new year, so standard time gives the right year.
  const auto year = YearOf(utc_seconds + kStandard);
  if (!year) return std::nullopt;
  const int64_t begin = FirstDayOfDaylight(*year) * kSecondsPerDay + kChangeHour - kStandard;
  const int64_t end = LastDayOfDaylight(*year) * kSecondsPerDay + kChangeHour - kDaylight;
  return utc_seconds >= begin && utc_seconds < end ? kDaylight : kStandard;
}

std::optional<int64_t> LosAngelesToUtc(int64_t local_seconds) {
  const auto year = YearOf(local_seconds);
  if (!year) return std::nullopt;
  // Standard time still holds in the skipped hour, daylight time in the one that occurs twice.
  const int64_t begin =
      FirstDayOfDaylight(*year) * kSecondsPerDay + kChangeHour + (kDaylight - kStandard);
  const int64_t end = LastDayOfDaylight(*year) * kSecondsPerDay + kChangeHour;
  const bool daylight = local_seconds >= begin && local_seconds < end;
  return local_seconds - (daylight ? kDaylight : kStandard);
}

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
