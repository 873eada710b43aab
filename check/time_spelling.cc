#include "check/time_spelling.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace whorl::check {
namespace {

// 2026-01-31T00:00:00.5+01:00; 2026-01-31 00:00:00.5 UTC; 2026-01-31 00:00:00.5+01;
// 2026-01-31 00:00:00.5 +0100 CET m=+0.1
const RE2& Spelling() {
  static const RE2 spelling(
      R"((\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))? ?)"
      R"((Z|z|UTC|GMT|(?:([+-])(\d\d)(?::?(\d\d))?(?: [A-Z]{2,5}| [+-]\d{2,4})?(?: m=[+-][\d.]+)?)))");
  return spelling;
}

bool Is(std::string_view text, const char* pattern) {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

std::string_view Seen(std::string_view text) {
  if (Is(text, R"(\d{9,11}(\.\d+)?)")) return "seconds since 1970";
  if (Is(text, R"(\d{12,14}(\.\d+)?)")) return "milliseconds since 1970";
  if (Is(text, R"(\d{15,17})")) return "microseconds since 1970";
  if (Is(text, R"(\d{18,20})")) return "nanoseconds since 1970";
  if (Is(text, R"([\d.]+([eE]\+?\d+)?)")) return "a number";
  if (Is(text, R"(\d{4}-\d\d-\d\d)")) return "a day";
  if (Is(text, R"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d([.,]\d+)?)")) return "a time without its zone";
  if (Is(text, R"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d[.,]\d{10,}.*)")) {
    return "a time with more than nine digits behind the second";
  }
  if (Is(text, R"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d.*)")) return "a time whose zone is not known";
  if (Is(text, R"(\d{1,2}[./]\d{1,2}[./]\d{2,4}.*|\d{4}/\d\d?/\d\d?.*)")) {
    return "a time with another order of day, month and year";
  }
  if (Is(text, R"((Mon|Tue|Wed|Thu|Fri|Sat|Sun),? .*)"))
    return "a time of a mail or an HTTP header";
  if (Is(text, R"((Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) .*)")) {
    return "a time of syslog, without its year and zone";
  }
  return {};
}

}  // namespace

std::optional<Timestamp> ParseAnyTime(std::string_view text) {
  std::optional<Timestamp> time = ParseRfc3339(text);
  if (time) return time;
  re2::StringPiece day;
  re2::StringPiece clock;
  re2::StringPiece fraction;
  re2::StringPiece zone;
  re2::StringPiece sign;
  re2::StringPiece hours;
  re2::StringPiece minutes;
  if (!RE2::FullMatch(re2::StringPiece(text.data(), text.size()), Spelling(), &day, &clock,
                      &fraction, &zone, &sign, &hours, &minutes)) {
    return std::nullopt;
  }
  const auto view = [](re2::StringPiece piece) {
    return std::string_view(piece.data() == nullptr ? "" : piece.data(), piece.size());
  };
  const auto number = [](std::string_view digits) {
    int read = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), read);
    return read;
  };
  time = ParseRfc3339(
      Cat(view(day), "T", view(clock), fraction.empty() ? "" : ".", view(fraction), "Z"));
  if (!time || sign.empty()) return time;
  constexpr int kHoursMost = 23;
  constexpr int kMinutesMost = 59;
  if (number(view(hours)) > kHoursMost || number(view(minutes)) > kMinutesMost) return std::nullopt;
  const Duration offset = Seconds(number(view(hours)) * 3'600 + number(view(minutes)) * 60);
  return view(sign) == "-" ? *time + offset : *time - offset;
}

std::string TimeRefusal(std::string_view text) {
  const std::string_view seen = Seen(text);
  return Cat(
      "is a time such as 2026-01-31T00:00:00.5Z, not ", Quoted(text),
      seen.empty() ? "" : ", which seems to be ", seen,
      "; taken are times of RFC 3339, and as BigQuery, Go and PostgreSQL print them, with their "
      "zone");
}

}  // namespace whorl::check
