#include "check/input.h"

#include <utility>

#include "base/text.h"
#include "check/csv_lines.h"
#include "check/edn_lines.h"
#include "check/json_lines.h"
#include "check/looks_like.h"

namespace whorl::check {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view WithoutSpaces(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r,");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

}  // namespace

std::optional<InputFormat> FormatOf(std::string_view first_line, bool has_pattern) {
  const std::string_view text = WithoutSpaces(first_line);
  if (text.starts_with('{') || text.starts_with('[')) {
    std::string_view within = WithoutSpaces(text.substr(1));
    if (within.starts_with('{')) within = WithoutSpaces(within.substr(1));
    const bool is_edn = within.starts_with(':') || within.starts_with('#');
    // "[spindle/...] ..." is a log.
    const bool is_json = text[0] == '{' || within.empty() || within[0] == '"' || within[0] == '{' ||
                         within[0] == '[' || within[0] == ']' || within[0] == '}' ||
                         text != first_line;
    if (is_edn) return InputFormat::kEdn;
    if (is_json) return InputFormat::kJson;
  }
  if (IsCsvHeader(first_line)) return InputFormat::kCsv;
  if (has_pattern) return InputFormat::kLog;
  // "# a comment" is of no EDN.
  const bool is_tag = text.starts_with('#') && text.size() > 1 && text[1] != ' ' && text[1] != '#';
  if (is_tag || text.starts_with(';') || text.starts_with('(')) return InputFormat::kEdn;
  return std::nullopt;
}

void Input::Make(InputFormat format) {
  switch (format) {
    case InputFormat::kJson:
      reader_ = std::make_unique<JsonLines>(protocol_, options_.wanted);
      break;
    case InputFormat::kEdn:
      reader_ = std::make_unique<EdnLines>(protocol_, options_.wanted);
      break;
    case InputFormat::kCsv:
      reader_ = std::make_unique<CsvLines>(protocol_, options_.wanted);
      break;
    case InputFormat::kLog:
      reader_ = std::make_unique<LogLines>(protocol_, options_.wanted, *options_.pattern);
      break;
  }
}

bool Input::Knows(std::string_view line, const Place& place, std::string& wrong) {
  constexpr size_t kKept = 20;
  constexpr size_t kBeginning = 1'000;
  if (reader_ != nullptr) return true;
  if (is_refused_ || line.find_first_not_of(" \t\r") == std::string_view::npos) return false;
  const auto format =
      options_.format ? options_.format : FormatOf(line, options_.pattern != nullptr);
  if (format) {
    Make(*format);
    return true;
  }
  place_ = place;
  if (unknown_.size() < kKept) {
    unknown_.emplace_back(line.substr(0, kBeginning));
    unknown_at_.push_back(place.line);
  }
  ++unknown_lines_;
  if (unknown_lines_ == 1 && IsBinary(line)) {
    is_refused_ = true;
    wrong =
        Cat(Printable(place.file, 1'000), ": is not read: it seems to be ", LooksLike(unknown_));
  }
  return false;
}

std::string Input::RefuseUnknown() {
  std::string last;
  const auto say = [&](std::string text) {
    if (!last.empty()) options_.wanted.Counts().Refuse(std::move(last));
    last = std::move(text);
  };
  for (size_t i = 0; i < unknown_.size(); ++i) {
    // Comments, and what spreadsheets write before a header.
    if (unknown_[i].starts_with('#') || unknown_[i].starts_with("sep=")) continue;
    say(Cat(WhereIs({.file = place_.file, .line = unknown_at_[i]}),
            ": is no record: ", Quoted(unknown_[i])));
  }
  const auto more = unknown_lines_ - static_cast<int64_t>(unknown_.size());
  if (more > 0) {
    say(Cat(WhereIs(place_), ": and ", std::to_string(more),
            " more lines until here are no records"));
  }
  unknown_.clear();
  unknown_lines_ = 0;
  return last;
}

std::string Input::Part(std::string_view part, const Place& place, std::vector<Operation>& out) {
  // This prefix is enough to tell the format.
  constexpr size_t kEnough = 4'096;
  if (is_part_ && reader_ == nullptr)
    return {};  // of a line that is not known the beginning is enough
  if (reader_ == nullptr || !reader_->TakesParts()) {
    begun_ += part;
    if (reader_ != nullptr || begun_.size() < kEnough) return {};
  }
  const std::string begun = std::exchange(begun_, {});
  if (!begun.empty()) part = begun;
  if (!std::exchange(has_begun_, true) && part.starts_with(kByteOrderMark)) {
    part.remove_prefix(kByteOrderMark.size());
  }
  std::string wrong;
  is_part_ = true;
  if (!Knows(part, place, wrong)) return wrong;
  if (!reader_->TakesParts()) {
    begun_ = part;
    return {};
  }
  std::string before = RefuseUnknown();
  std::string now = reader_->Part(part, place, out);
  if (!before.empty() && !now.empty()) options_.wanted.Counts().Refuse(std::move(before));
  return now.empty() ? before : now;
}

std::string Input::Read(std::string_view line, const Place& place, std::vector<Operation>& out) {
  std::string whole = std::exchange(begun_, {});
  if (!whole.empty()) {
    whole += line;
    line = whole;
  }
  if (!std::exchange(has_begun_, true) && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  std::string wrong;
  const bool was_part = std::exchange(is_part_, false);
  if ((was_part && reader_ == nullptr) || !Knows(line, place, wrong)) return wrong;
  if (unknown_lines_ == 0) return reader_->Read(line, place, out);
  std::string before = RefuseUnknown();
  std::string now = reader_->Read(line, place, out);
  if (!before.empty() && !now.empty()) options_.wanted.Counts().Refuse(std::move(before));
  return now.empty() ? before : now;
}

std::string Input::Finish() {
  if (reader_ != nullptr) return reader_->Finish();
  if (unknown_lines_ == 0 || is_refused_) return {};
  return Cat(Printable(place_.file, 1'000), ": is not read: it seems to be ", LooksLike(unknown_));
}

}  // namespace whorl::check
