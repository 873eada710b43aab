#include "spanner_model/sql/time_zone.h"

#include <chrono>

namespace whorl::model {
namespace {

using std::chrono::Sunday;
using std::chrono::sys_days;
using std::chrono::year;

constexpr int64_t kStandard = -8 * 3'600;
constexpr int64_t kDaylight = -7 * 3'600;
constexpr int64_t kChangeHour = 2 * 3'600;  // by the clock on the wall, both times
constexpr int kFirstYear = 1967;

int64_t Seconds(sys_days day) {
  return std::chrono::duration_cast<std::chrono::seconds>(day.time_since_epoch()).count();
}

// The Uniform Time Act and its changes; 1974 and 1975 are those of the oil crisis.
sys_days FirstDayOfDaylight(year y) {
  using std::chrono::April;
  using std::chrono::last;
  if (y >= year(2007)) return sys_days(y / std::chrono::March / Sunday[2]);
  if (y >= year(1987)) return sys_days(y / April / Sunday[1]);
  if (y == year(1974)) return sys_days(y / std::chrono::January / 6);
  if (y == year(1975)) return sys_days(y / std::chrono::February / 23);
  return sys_days(y / April / Sunday[last]);
}

sys_days LastDayOfDaylight(year y) {
  if (y >= year(2007)) return sys_days(y / std::chrono::November / Sunday[1]);
  return sys_days(y / std::chrono::October / Sunday[std::chrono::last]);
}

// The year of a wall clock, or nothing before the first.
std::optional<year> YearOf(int64_t local_seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(local_seconds)};
  const year y = std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(time)).year();
  if (y < year(kFirstYear)) return std::nullopt;
  return y;
}

}  // namespace

std::optional<int64_t> LosAngelesOffset(int64_t utc_seconds) {
  // No change falls near a new year, so standard time tells the year.
  const auto y = YearOf(utc_seconds + kStandard);
  if (!y) return std::nullopt;
  const int64_t begin = Seconds(FirstDayOfDaylight(*y)) + kChangeHour - kStandard;
  const int64_t end = Seconds(LastDayOfDaylight(*y)) + kChangeHour - kDaylight;
  return utc_seconds >= begin && utc_seconds < end ? kDaylight : kStandard;
}

std::optional<int64_t> LosAngelesToUtc(int64_t local_seconds) {
  const auto y = YearOf(local_seconds);
  if (!y) return std::nullopt;
  // In the skipped hour standard time still counts, in the one that comes twice daylight time does.
  const int64_t begin = Seconds(FirstDayOfDaylight(*y)) + kChangeHour + (kDaylight - kStandard);
  const int64_t end = Seconds(LastDayOfDaylight(*y)) + kChangeHour;
  const bool daylight = local_seconds >= begin && local_seconds < end;
  return local_seconds - (daylight ? kDaylight : kStandard);
}

}  // namespace whorl::model
