#include "sim/report/trace_reader.h"

#include "base/text.h"
#include "sim/report/trace.h"

namespace whorl::sim {
namespace {

constexpr std::string_view kNoTrace =
    "is no trace: expected the head that whorl replay --trace writes";

}  // namespace

absl::StatusOr<Json> TraceReader::ReadHeader() {
  const absl::StatusOr<std::optional<std::string>> line = ReadLine();
  if (!line.ok()) return line.status();
  if (!line->has_value()) return Error("is empty, and no trace");
  Json header = Json::parse(**line, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object() || header["format"] != "whorl-trace") {
    return Error(kNoTrace);
  }
  const Json& version = header["version"];
  if (version == kTraceVersion) return header;
  return Error(Cat("is a trace of version ", DumpJson(version), ", and this whorl reads version ",
                   std::to_string(kTraceVersion)));
}

absl::StatusOr<std::optional<std::string>> TraceReader::ReadEvent() {
  absl::StatusOr<std::optional<std::string>> line = ReadLine();
  if (!line.ok()) return line;
  if (!line->has_value()) {
    if (ended_) return line;
    return Error("is cut off after this line: no run_ended");
  }
  const std::string& text = **line;
  if (!text.starts_with(Cat("{\"n\":", std::to_string(++events_), ",")) || !text.ends_with("}")) {
    return Error(Cat("is not event ", std::to_string(events_), " of a trace"));
  }
  if (ended_) return Error("stands after run_ended");
  ended_ = text.ends_with("\"event\":\"run_ended\"}");
  return line;
}

absl::Status TraceReader::Error(std::string_view what) const {
  return absl::InvalidArgumentError(
      Cat(Printable(input_.name, 1'000), ":", std::to_string(line_), ": ", what));
}

absl::StatusOr<std::optional<std::string>> TraceReader::ReadLine() {
  std::string text;
  std::streambuf& buffer = *input_.stream->rdbuf();
  constexpr int kEnd = std::char_traits<char>::eof();
  for (int c = buffer.sbumpc(); c != '\n'; c = buffer.sbumpc()) {
    if (text.empty() && c == kEnd) return std::nullopt;
    if (text.empty()) ++line_;
    const bool may_be_trace = line_ > 1 || text.starts_with("{\"format\":\"whorl-trace\"");
    if (c == kEnd) return Error(may_be_trace ? "the last line is cut off" : kNoTrace);
    if (text.size() == kMaxTraceLine) {
      return Error(may_be_trace ? "is too long for a line of a trace" : kNoTrace);
    }
    text.push_back(static_cast<char>(c));
  }
  if (text.empty()) {
    ++line_;
    return Error("is empty");
  }
  return text;
}

}  // namespace whorl::sim
