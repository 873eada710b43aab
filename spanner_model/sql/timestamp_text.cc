#include "spanner_model/sql/timestamp_text.h"

#include <cstddef>

#include "spanner_model/sql/time_zone.h"
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

}  // namespace whorl::model
