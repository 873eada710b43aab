#include "spanner_model/sql/timestamp_text.h"

#include <cstddef>
#include <optional>

#include "spanner_model/sql/words.h"

namespace whorl::model {
namespace {

// Reads the text from left to right into the fixed form of RFC 3339.
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

  // One to `width` digits (exactly `width` when `exact`), padded with zeros; empty if none.
  std::string Digits(size_t width, bool exact) {
    std::string digits;
    while (!AtEnd() && digits.size() < width && text_[at_] >= '0' && text_[at_] <= '9') {
      digits.push_back(text_[at_++]);
    }
    if (digits.empty() || (exact && digits.size() < width)) return "";
    digits.insert(0, width - digits.size(), '0');
    return digits;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

// "YYYY-MM-DD", or empty.
std::string ReadDate(Reader& reader) {
  const std::string year = reader.Digits(4, true);
  if (year.empty() || !reader.Skip("-")) return "";
  const std::string month = reader.Digits(2, false);
  if (month.empty() || !reader.Skip("-")) return "";
  const std::string day = reader.Digits(2, false);
  return day.empty() ? "" : year + "-" + month + "-" + day;
}

// "hh:mm:ss.f", or empty.
std::string ReadTime(Reader& reader) {
  const std::string hour = reader.Digits(2, false);
  if (hour.empty() || !reader.Skip(":")) return "";
  const std::string minute = reader.Digits(2, false);
  if (minute.empty() || !reader.Skip(":")) return "";
  const std::string second = reader.Digits(2, false);
  if (second.empty()) return "";
  std::string time = hour + ":" + minute + ":" + second;
  if (!reader.Skip(".")) return time;
  time += ".";
  for (std::string digit = reader.Digits(1, true); !digit.empty(); digit = reader.Digits(1, true)) {
    time += digit;
  }
  if (time.back() == '.') time.pop_back();
  return time;
}

int64_t TwoDigits(const std::string& digits) {
  return int64_t{10} * (digits[0] - '0') + (digits[1] - '0');
}

// Seconds east of UTC.
std::variant<int64_t, TimestampTextError> ReadZone(Reader& reader) {
  if (EqualIgnoringCase(reader.Rest(), "Z")) return 0;
  reader.Skip(" ");
  const std::string_view zone = reader.Rest();
  if (EqualIgnoringCase(zone, "UTC")) return 0;
  const bool west = !zone.empty() && zone.front() == '-';
  if (!reader.Skip("+-")) {
    const bool name = zone.empty() || (zone.front() >= 'A' && zone.front() <= 'z');
    return name ? TimestampTextError::kZoneNotModelled : TimestampTextError::kInvalid;
  }
  const std::string hours = reader.Digits(2, false);
  std::string minutes = "00";
  if (reader.Skip(":")) minutes = reader.Digits(2, true);
  if (hours.empty() || minutes.empty() || !reader.AtEnd()) return TimestampTextError::kInvalid;
  const int64_t hour = TwoDigits(hours);
  const int64_t minute = TwoDigits(minutes);
  if (minute > 59 || hour * 60 + minute > int64_t{14} * 60) return TimestampTextError::kInvalid;
  const int64_t seconds = hour * 3'600 + minute * 60;
  return west ? -seconds : seconds;
}

}  // namespace

std::variant<Timestamp, TimestampTextError> ParseTimestampText(std::string_view text) {
  Reader reader(text);
  const std::string date = ReadDate(reader);
  if (date.empty()) return TimestampTextError::kInvalid;
  std::string time = "00:00:00";
  const std::string_view rest = reader.Rest();
  const bool has_time = rest.size() > 1 && rest[1] >= '0' && rest[1] <= '9';
  if (has_time && reader.Skip("Tt ")) time = ReadTime(reader);
  if (time.empty()) return TimestampTextError::kInvalid;
  const auto local = ParseRfc3339(date + "T" + time + "Z");
  if (!local) return TimestampTextError::kInvalid;
  const auto zone = ReadZone(reader);
  if (const auto* error = std::get_if<TimestampTextError>(&zone)) return *error;
  const auto timestamp =
      Timestamp::FromParts(local->seconds() - std::get<int64_t>(zone), local->nanos());
  if (!timestamp) return TimestampTextError::kInvalid;
  return *timestamp;
}

std::string FormatTimestampForMessage(Timestamp timestamp) {
  std::string text = FormatRfc3339(timestamp);
  text[text.find('T')] = ' ';
  text.pop_back();  // Z
  return text + "+00";
}

}  // namespace whorl::model
