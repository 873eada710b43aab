#include "sim/report/trace_diff.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/text.h"
#include "sim/report/page_spans.h"
#include "sim/report/page_tables.h"

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

namespace {

std::string TextOf(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}
bool Says(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

// "12.345678901" as nanoseconds; nothing if it is no time.
std::optional<int64_t> TimeOf(const std::string& text) {
  constexpr size_t kDecimals = 9;
  const size_t point = text.find('.');
  if (point == std::string::npos || text.size() != point + 1 + kDecimals || point > 9) return {};
  int64_t ns = 0;
  for (const char c : text) {
    if (c == '.') continue;
    if (c < '0' || c > '9') return std::nullopt;
    ns = ns * 10 + (c - '0');
  }
  return ns;
}

int64_t PlaceOf(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? -1 : found - names.begin();
}

class TracePage {
 public:
  explicit TracePage(TraceInput input) : reader_(std::move(input)) {}

  absl::StatusOr<PageModel::Data> Read() {
    absl::StatusOr<Json> header = reader_.ReadHeader();
    if (!header.ok()) return header.status();
    for (auto [field, names] : {std::pair("nodes", &nodes_), std::pair("locks", &locks_)}) {
      for (const Json& name : header->value(field, Json::array())) {
        if (name.is_string()) names->push_back(name.get<std::string>());
      }
    }
    for (uint64_t ordinal = 1;; ++ordinal) {
      const absl::StatusOr<std::optional<std::string>> line = reader_.ReadEvent();
      if (!line.ok()) return line.status();
      if (!line->has_value()) return Finish(*header);
      if (absl::Status added = Add(**line, ordinal); !added.ok()) return added;
    }
  }

 private:
  absl::Status Add(const std::string& line, uint64_t ordinal) {
    Json fields = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!fields.is_object()) return reader_.Error("is not JSON");
    const std::optional<int64_t> at = TimeOf(TextOf(fields, "t"));
    const std::string kind = TextOf(fields, "event");
    if (!at.has_value() || kind.empty()) return reader_.Error("has no time, or no event");
    for (const char* own : {"n", "t", "hash", "event"}) fields.erase(own);
    last_ = *at;
    int64_t number = PlaceOf(kinds_, kind);
    if (number < 0) {
      number = static_cast<int64_t>(kinds_.size());
      kinds_.push_back(kind);
    }
    tables_.Add("events").Int("at", *at).Int("kind", number);
    tables_.Add(kind).Fields(fields);
    spans_.Observing(ordinal);
    Follow(kind, fields);
    return absl::OkStatus();
  }

  // "a#1" or "a".
  int16_t NodeOf(const Json& fields) const {
    std::string name = TextOf(fields, "process");
    if (name.empty()) name = TextOf(fields, "node");
    const int64_t place = PlaceOf(nodes_, name);
    if (place >= 0 || name.rfind('#') == std::string::npos) return static_cast<int16_t>(place);
    return static_cast<int16_t>(PlaceOf(nodes_, name.substr(0, name.rfind('#'))));
  }

  void Follow(const std::string& kind, const Json& fields) {
    using Does = std::function<void(TracePage&, const Json&, int16_t, uint16_t)>;
    static const std::map<std::string, Does, std::less<>> kDoes = {
        {"process_started",
         [](auto& p, auto&, auto n, auto) { p.spans_.Set(PageSpan::kUp, n, 0, true); }},
        {"process_gone", [](auto& p, auto&, auto n, auto) { p.spans_.Gone(n, p.locks_.size()); }},
        {"process_paused",
         [](auto& p, auto&, auto n, auto) { p.spans_.Set(PageSpan::kPaused, n, 0, true); }},
        {"process_resumed",
         [](auto& p, auto&, auto n, auto) { p.spans_.Set(PageSpan::kPaused, n, 0, false); }},
        {"belief_changed",
         [](auto& p, const Json& x, auto n, auto lock) {
           p.spans_.Set(PageSpan::kBelieves, n, lock, Says(x, "believes"));
         }},
        {"work_changed",
         [](auto& p, const Json& x, auto n, auto lock) {
           p.spans_.Set(PageSpan::kWorks, n, lock, Says(x, "at_work"));
         }},
        {"link_changed", [](auto& p, const Json& x, auto n, auto) { p.Cut(x, n); }},
        {"fault_began",
         [](auto& p, const Json& x, auto, auto) { p.spans_.FaultBegins(p.FaultOf(x)); }},
        {"fault_ended",
         [](auto& p, const Json& x, auto, auto) { p.spans_.FaultEnds(p.FaultOf(x)); }},
        {"call_sent", [](auto& p, const Json& x, auto, auto) { p.spans_.Sent(CallOf(x)); }},
        {"call_served", [](auto& p, const Json& x, auto, auto) { p.spans_.Served(CallOf(x)); }},
        {"call_ended", [](auto& p, const Json& x, auto, auto) { p.spans_.Ended(CallOf(x)); }},
    };
    const auto does = kDoes.find(kind);
    if (does == kDoes.end()) return;
    const int64_t lock = std::max<int64_t>(0, PlaceOf(locks_, TextOf(fields, "lock")));
    does->second(*this, fields, NodeOf(fields), static_cast<uint16_t>(lock));
  }

  static std::string CallOf(const Json& fields) {
    const auto call = fields.find("call");
    return call == fields.end() ? std::string() : DumpJson(*call);
  }
  uint32_t FaultOf(const Json& fields) {
    const auto fault = fields.find("fault");
    const bool is_number = fault != fields.end() && fault->is_number_unsigned();
    const uint32_t number = is_number ? fault->get<uint32_t>() : 0;
    constexpr uint32_t kMost = 10'000;
    faults_ = std::max(faults_, std::min(number, kMost) + 1);
    return number;
  }
  void Cut(const Json& fields, int16_t node) {
    const bool is_cut = TextOf(fields, "link") != "up";
    const std::string way = TextOf(fields, "direction");
    if (way != "from") spans_.Set(PageSpan::kCutTo, node, 0, is_cut);
    if (way != "to") spans_.Set(PageSpan::kCutFrom, node, 0, is_cut);
  }

  PageModel::Data Finish(const Json& header) {
    spans_.AddTo(tables_);
    Json nodes = Json::array();
    for (const std::string& name : nodes_) {
      nodes.push_back({{"name", name}, {"lease", ""}, {"clock_offset", 0}, {"clock_ppm", 0}});
    }
    Json faults = Json::array();
    for (uint32_t i = 0; i < faults_; ++i) {
      faults.push_back({{"text", Cat("fault ", std::to_string(i))}, {"node", -1}, {"line", 0}});
    }
    Json head = Json::object();
    head["format"] = kPageFormat;
    head["from_trace"] = true;
    head["whorl"] = TextOf(header, "whorl");
    head["command"] = "";
    head["on"] = "";
    head["scenario"] = {{"name", TextOf(header, "scenario")},
                        {"start", TextOf(header, "start")},
                        {"about", ""},
                        {"protocol", TextOf(header, "protocol")},
                        {"duration", last_},
                        {"epsilon", 0},
                        {"locks", locks_},
                        {"nodes", std::move(nodes)},
                        {"faults", std::move(faults)}};
    head["result"] = {{"seed", TextOf(header, "seed")},
                      {"hash", ""},
                      {"simulated", last_},
                      {"judged", false},
                      {"failures", Json::array()},
                      {"metrics", Json::object()},
                      {"invariants", Json::array()}};
    head["story"] = {{"invariant", ""},        {"at", 0},       {"head", ""},
                     {"lines", Json::array()}, {"left_out", 0}, {"end", ""}};
    head["timeline"] = Json::array();
    head["timeline_left_out"] = 0;
    head["kinds"] = kinds_;
    PageTables::Packed packed = tables_.Pack();
    head["data"] = std::move(packed.manifest);
    return {.head = std::move(head), .bytes = std::move(packed.bytes)};
  }

  TraceReader reader_;
  std::vector<std::string> nodes_;
  std::vector<std::string> locks_;
  std::vector<std::string> kinds_;
  uint32_t faults_ = 0;
  int64_t last_ = 0;
  PageTables tables_;
  PageSpans<std::string> spans_;
};

}  // namespace

absl::StatusOr<PageModel::Data> PageOfTrace(TraceInput input) {
  return TracePage(std::move(input)).Read();
}

}  // namespace whorl::sim
