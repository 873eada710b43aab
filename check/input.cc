#include "check/input.h"

#include "check/csv_lines.h"
#include "check/edn_lines.h"
#include "check/json_lines.h"

namespace whorl::check {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view WithoutSpaces(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r,");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

}  // namespace

InputFormat FormatOf(std::string_view first_line, bool has_pattern) {
  const std::string_view text = WithoutSpaces(first_line);
  if (text.starts_with('{') || text.starts_with('[')) {
    std::string_view within = WithoutSpaces(text.substr(1));
    if (within.starts_with('{')) within = WithoutSpaces(within.substr(1));
    const bool is_edn = within.starts_with(':') || within.starts_with('#');
    // "[spindle/...] ..." is a log.
    const bool is_json = text[0] == '{' || within.empty() || within[0] == '"' || within[0] == '{' ||
                         text != first_line;
    if (is_edn) return InputFormat::kEdn;
    return has_pattern && !is_json ? InputFormat::kLog : InputFormat::kJson;
  }
  if (IsCsvHeader(first_line)) return InputFormat::kCsv;
  if (has_pattern) return InputFormat::kLog;
  const bool is_edn = text.starts_with('#') || text.starts_with(';') || text.starts_with('(');
  return is_edn ? InputFormat::kEdn : InputFormat::kJson;
}

std::string Input::Read(std::string_view line, const Place& place, std::vector<Operation>& out) {
  if (reader_ == nullptr) {
    if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
    switch (options_.format.value_or(FormatOf(line, options_.pattern != nullptr))) {
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
  return reader_->Read(line, place, out);
}

std::string Input::Finish() { return reader_ == nullptr ? std::string() : reader_->Finish(); }

}  // namespace whorl::check
