#include "sim/report/trace_diff.h"

#include <deque>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "sim/report/trace.h"
#include "sim/scenario/error_text.h"

namespace whorl::sim {
namespace {

constexpr std::string_view kNoTrace =
    "is no trace: expected the head that whorl replay --trace writes";

// Reads a trace line by line.
class TraceReader {
 public:
  explicit TraceReader(TraceInput input) : input_(std::move(input)) {}

  absl::StatusOr<Json> ReadHeader() {
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

  // The next event; nothing after the last one.
  absl::StatusOr<std::optional<std::string>> ReadEvent() {
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

  absl::Status Error(std::string_view what) const {
    return absl::InvalidArgumentError(
        Cat(Printable(input_.name, 1'000), ":", std::to_string(line_), ": ", what));
  }

 private:
  absl::StatusOr<std::optional<std::string>> ReadLine() {
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

  TraceInput input_;
  uint64_t line_ = 0;
  uint64_t events_ = 0;
  bool ended_ = false;
};

// Splits an event's line into the line without its hash, and the hash.
struct Split {
  std::string rest;
  std::string hash;
};
Split WithoutHash(const std::string& line) {
  constexpr std::string_view kBefore = ",\"hash\":\"";
  constexpr size_t kDigits = 16;
  const size_t from = line.find(kBefore);
  const size_t to = from + kBefore.size() + kDigits + 1;
  if (from == std::string::npos || to > line.size()) return {.rest = line, .hash = {}};
  return {.rest = line.substr(0, from) + line.substr(to),
          .hash = line.substr(from + kBefore.size(), kDigits)};
}

std::vector<FieldDifference> FieldsThatDiffer(const Json& a, const Json& b) {
  std::vector<FieldDifference> differences;
  for (const auto& [key, value] : a.items()) {
    const Json other = b.contains(key) ? b[key] : Json(nullptr);
    if (other != value) differences.push_back({.field = key, .a = value, .b = other});
  }
  for (const auto& [key, value] : b.items()) {
    if (!a.contains(key)) differences.push_back({.field = key, .a = nullptr, .b = value});
  }
  return differences;
}

Json ParseEvent(const std::string& line) {
  return Json::parse(line, nullptr, /*allow_exceptions=*/false);
}

class Comparer {
 public:
  Comparer(TraceInput a, TraceInput b) : a_(std::move(a)), b_(std::move(b)) {}

  absl::StatusOr<TraceDifference> Compare() {
    const absl::StatusOr<Json> head_a = a_.ReadHeader();
    if (!head_a.ok()) return head_a.status();
    const absl::StatusOr<Json> head_b = b_.ReadHeader();
    if (!head_b.ok()) return head_b.status();
    difference_.header = FieldsThatDiffer(*head_a, *head_b);
    for (;;) {
      absl::StatusOr<std::optional<std::string>> a = a_.ReadEvent();
      if (!a.ok()) return a.status();
      absl::StatusOr<std::optional<std::string>> b = b_.ReadEvent();
      if (!b.ok()) return b.status();
      if (!a->has_value() && !b->has_value()) return std::move(difference_);
      const absl::StatusOr<bool> goes_on = CompareEvents(*std::move(a), *std::move(b));
      if (!goes_on.ok()) return goes_on.status();
      if (!*goes_on) return std::move(difference_);
    }
  }

 private:
  absl::StatusOr<bool> CompareEvents(std::optional<std::string> a, std::optional<std::string> b) {
    const uint64_t n = difference_.equal_events + 1;
    const Split of_a = WithoutHash(a.value_or(""));
    const Split of_b = WithoutHash(b.value_or(""));
    if (a.has_value() && b.has_value() && of_a.rest == of_b.rest) {
      if (of_a.hash != of_b.hash && !difference_.hash_from) difference_.hash_from = n;
      ++difference_.equal_events;
      before_.push_back(of_a.rest);
      if (before_.size() > kDiffContext) before_.pop_front();
      return true;
    }
    EventDifference& event = difference_.event.emplace();
    event.n = n;
    event.before.assign(before_.begin(), before_.end());
    if (a.has_value()) event.a = of_a.rest;
    if (b.has_value()) event.b = of_b.rest;
    if (!a.has_value() || !b.has_value()) return false;
    const Json json_a = ParseEvent(of_a.rest);
    if (!json_a.is_object()) return a_.Error("is not JSON");
    const Json json_b = ParseEvent(of_b.rest);
    if (!json_b.is_object()) return b_.Error("is not JSON");
    event.fields = FieldsThatDiffer(json_a, json_b);
    return false;
  }

  TraceReader a_;
  TraceReader b_;
  TraceDifference difference_;
  std::deque<std::string> before_;
};

}  // namespace

absl::StatusOr<TraceDifference> DiffTraces(TraceInput a, TraceInput b) {
  return Comparer(std::move(a), std::move(b)).Compare();
}

}  // namespace whorl::sim
