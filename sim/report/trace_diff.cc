#include "sim/report/trace_diff.h"

#include <deque>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "base/text.h"

namespace whorl::sim {
namespace {

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
