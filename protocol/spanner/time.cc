#include "protocol/spanner/time.h"

#include <array>
#include <cstddef>
#include <utility>

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

// Exactly `width` digits at `at`, which moves past them.
std::optional<int64_t> TakeDigits(std::string_view text, size_t& at, size_t width) {
  if (at + width > text.size()) return std::nullopt;
  int64_t number = 0;
  for (size_t end = at + width; at < end; ++at) {
    if (text[at] < '0' || text[at] > '9') return std::nullopt;
    number = number * 10 + (text[at] - '0');
  }
  return number;
}

// Nanoseconds of ".5" to ".123456789" at `at`, or 0 when there is no dot.
std::optional<int64_t> TakeFraction(std::string_view text, size_t& at) {
  if (at >= text.size() || text[at] != '.') return 0;
  ++at;
  int64_t nanos = 0;
  size_t digits = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
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
  constexpr std::array<Unit, 4> kUnits = {
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}}};
  // The magnitude as unsigned, since the least int64 has no negative.
  const uint64_t magnitude =
      duration.ns < 0 ? 0 - static_cast<uint64_t>(duration.ns) : static_cast<uint64_t>(duration.ns);
  std::string out = duration.ns < 0 ? "-" : "";
  for (const Unit& unit : kUnits) {
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
  // The separators of 2026-01-01T00:00:00, in the order in which they come.
  constexpr std::string_view kSeparators = "--T::";
  constexpr std::array<size_t, 6> kWidths = {4, 2, 2, 2, 2, 2};
  std::array<int64_t, 6> parts{};
  size_t at = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0 && (at >= text.size() || text[at++] != kSeparators[i - 1])) return std::nullopt;
    const auto number = TakeDigits(text, at, kWidths[i]);
    if (!number) return std::nullopt;
    parts[i] = *number;
  }
  const auto nanos = TakeFraction(text, at);
  if (!nanos || at + 1 != text.size() || text[at] != 'Z') return std::nullopt;
  const Date date{.year = parts[0], .month = parts[1], .day = parts[2]};
  if (date.month < 1 || date.month > 12 || date.day < 1) return std::nullopt;
  const int64_t days = DaysFromDate(date);
  const Date back = DateFromDays(days);
  if (back.day != date.day || back.month != date.month) return std::nullopt;  // 30 February
  if (parts[3] > 23 || parts[4] > 59 || parts[5] > 59) return std::nullopt;
  return Timestamp::FromParts(days * kSecondsPerDay + parts[3] * 3'600 + parts[4] * 60 + parts[5],
                              *nanos);
}

}  // namespace whorl
