#include "base/time.h"

#include <array>
#include <cstddef>
#include <utility>

#include "base/text.h"

namespace whorl {
namespace {

struct Date {
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
};

constexpr int64_t kSecondsPerDay = 86'400;

// Proleptic Gregorian calendar, counted in eras of 400 years that begin on 1 March, so that the
// leap day is the last of its year.
constexpr int64_t DaysFromDate(Date date) {
  const int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t month_from_march = (date.month + 9) % 12;
  const int64_t day_of_year = (153 * month_from_march + 2) / 5 + date.day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

constexpr Date DateFromDays(int64_t days) {
  const int64_t shifted = days + 719'468;
  const int64_t era = (shifted >= 0 ? shifted : shifted - 146'096) / 146'097;
  const int64_t day_of_era = shifted - era * 146'097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  return {.year = year_of_era + era * 400 + (month <= 2 ? 1 : 0),
          .month = month,
          .day = day_of_year - (153 * month_from_march + 2) / 5 + 1};
}

// REQUIRES: number >= 0, 0 < width <= 20.
void AppendPadded(std::string& out, int64_t number, int width) {
  std::array<char, 20> digits{};
  size_t first = digits.size();
  for (; number > 0 || width > 0; number /= 10, --width) {
    digits[--first] = static_cast<char>('0' + number % 10);
  }
  out.append(digits.data() + first, digits.size() - first);
}

// REQUIRES: month is in [1, 12].
int64_t DaysOfMonth(int64_t year, int64_t month) {
  constexpr std::array<int64_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return kDays[static_cast<size_t>(month - 1)] + (is_leap && month == 2 ? 1 : 0);
}

// Nanoseconds of ".5" to ".123456789" at `at`, or 0 when there is no dot.
std::optional<int64_t> TakeFraction(std::string_view text, size_t& at) {
  if (at >= text.size() || text[at] != '.') return 0;
  ++at;
  int64_t nanos = 0;
  size_t digits = 0;
  for (; at < text.size() && IsDigit(text[at]); ++at) {
    if (++digits > 9) return std::nullopt;
    nanos = nanos * 10 + (text[at] - '0');
  }
  if (digits == 0) return std::nullopt;
  for (; digits < 9; ++digits) nanos *= 10;
  return nanos;
}

}  // namespace

std::string FormatDuration(Duration duration) {
  struct Unit {
    int64_t ns;
    std::string_view name;
  };
  constexpr std::array<Unit, 4> kPrinted = {
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}}};
  // The magnitude as unsigned, since the least int64 has no negative.
  const uint64_t magnitude =
      duration.ns < 0 ? 0 - static_cast<uint64_t>(duration.ns) : static_cast<uint64_t>(duration.ns);
  std::string out = duration.ns < 0 ? "-" : "";
  for (const Unit& unit : kPrinted) {
    const auto ns = static_cast<uint64_t>(unit.ns);
    if (magnitude < ns && unit.ns > 1 && magnitude != 0) continue;
    out += std::to_string(magnitude / ns);
    uint64_t rest = magnitude % ns;
    if (rest != 0) {
      out.push_back('.');
      for (uint64_t place = ns / 10; rest != 0; place /= 10) {
        out.push_back(static_cast<char>('0' + rest / place));
        rest %= place;
      }
    }
    out += unit.name;
    break;
  }
  return out;
}

std::string FormatSeconds(Duration duration, int digits) {
  // Unsigned, since int64_t cannot hold the magnitude of its smallest value.
  const bool negative = duration.ns < 0;
  uint64_t magnitude = static_cast<uint64_t>(duration.ns);
  if (negative) magnitude = ~magnitude + 1;
  uint64_t unit = 1;  // nanoseconds in the last digit
  for (int digit = digits; digit < 9; ++digit) unit *= 10;
  const uint64_t units = (magnitude + unit / 2) / unit;
  const uint64_t units_per_second = 1'000'000'000 / unit;
  std::string text = negative && units > 0 ? "-" : "";
  text += std::to_string(units / units_per_second);
  if (digits == 0) return text;
  const std::string fraction = std::to_string(units % units_per_second);
  return text + "." + std::string(static_cast<size_t>(digits) - fraction.size(), '0') + fraction;
}

std::string FormatRfc3339(Timestamp timestamp) {
  int64_t days = timestamp.seconds() / kSecondsPerDay;
  int64_t second_of_day = timestamp.seconds() % kSecondsPerDay;
  if (second_of_day < 0) {
    second_of_day += kSecondsPerDay;
    --days;
  }
  const Date date = DateFromDays(days);
  std::string out;
  out.reserve(30);
  AppendPadded(out, date.year, 4);
  out.push_back('-');
  AppendPadded(out, date.month, 2);
  out.push_back('-');
  AppendPadded(out, date.day, 2);
  out.push_back('T');
  AppendPadded(out, second_of_day / 3'600, 2);
  out.push_back(':');
  AppendPadded(out, second_of_day / 60 % 60, 2);
  out.push_back(':');
  AppendPadded(out, second_of_day % 60, 2);
  if (timestamp.nanos() != 0) {
    out.push_back('.');
    AppendPadded(out, timestamp.nanos(), 9);
    while (out.back() == '0') out.pop_back();
  }
  out.push_back('Z');
  return out;
}

std::optional<Timestamp> ParseRfc3339(std::string_view text) {
  // Histories have several of them in a line, so each digit is looked at once.
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd";
  if (text.size() <= kForm.size()) return std::nullopt;
  for (size_t i = 0; i < kForm.size(); ++i) {
    const bool fits = kForm[i] == 'd' ? IsDigit(text[i]) : text[i] == kForm[i];
    if (!fits) return std::nullopt;
  }
  const auto two = [text](size_t at) -> int64_t {
    return (text[at] - '0') * 10 + (text[at + 1] - '0');
  };
  size_t at = kForm.size();
  const auto nanos = TakeFraction(text, at);
  if (!nanos || at + 1 != text.size() || text[at] != 'Z') return std::nullopt;
  const Date date{.year = two(0) * 100 + two(2), .month = two(5), .day = two(8)};
  if (date.month < 1 || date.month > 12) return std::nullopt;
  if (date.day < 1 || date.day > DaysOfMonth(date.year, date.month)) return std::nullopt;
  if (two(11) > 23 || two(14) > 59 || two(17) > 59) return std::nullopt;
  return Timestamp::FromParts(
      DaysFromDate(date) * kSecondsPerDay + two(11) * 3'600 + two(14) * 60 + two(17), *nanos);
}

}  // namespace whorl
