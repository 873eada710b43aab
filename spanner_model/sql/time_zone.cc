#include "spanner_model/sql/time_zone.h"

namespace whorl::model {
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

}  // namespace whorl::model
