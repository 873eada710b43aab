#include "check/json_lines.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "check/otlp.h"

namespace whorl::check {

namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

bool HasList(const Node& object) {
  for (const Node& member : object) {
    if (member.IsArray() && IsOtlpList(member.name, /*deep=*/0)) return true;
  }
  return false;
}

bool MayHaveList(std::string_view text) {
  text = Trimmed(text);
  if (text.starts_with('[')) return true;
  // The name of the list comes first, or after little.
  constexpr size_t kHead = 200;
  for (const std::string_view name : OtlpLists()) {
    if (text.substr(0, kHead).find(name) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

void JsonLines::Records(const Node& value, const Place& place, const TextAt* at) {
  const size_t had = out_->size();
  try {
    RecordReader(protocol_, wanted_, place, *out_, {.calls = &serve_calls_, .jepsen = &jepsen_})
        .Read(value);
  } catch (const Wrong& wrong) {
    out_->resize(had);
    wrong_.push_back(Cat(at != nullptr ? at->WhereIs({}, 0) : WhereIs(place), ": ", wrong.text));
  }
}

const Node* JsonLines::Parsed(std::string_view text, const TextAt& at, JsonText& json) {
  const Node* value = json.Parse(text);
  if (value == nullptr) {
    wrong_.push_back(Cat(at.WhereIs(text, json.error_at()), ": is no JSON (", json.error(),
                         "): ", Quoted(text)));
  }
  return value;
}

bool JsonLines::IsList(std::string_view name, size_t deep) const { return IsOtlpList(name, deep); }

void JsonLines::TakeNothing(const TextAt& at) {
  wrong_.push_back(Cat(at.WhereIs({}, 0), ": is no JSON: a value is missing before this"));
}

std::optional<const Node*> JsonLines::Resource() {
  const Elements::Head& head = elements_.heads()[1];
  if (resource_of_ != head.number || resource_ == nullptr) {
    resource_of_ = head.number;
    const Node* object = resource_json_.Parse(Cat(head.text, "[]}"));
    resource_ = object == nullptr ? nullptr : MemberIn(object, "resource");
  }
  if (resource_ == nullptr) return std::nullopt;
  return resource_;
}

void JsonLines::OfResource(std::string_view text, const TextAt& at, const Node* resource,
                           bool is_span) {
  const Node* value = Parsed(text, at, json_);
  if (value == nullptr) return;
  const size_t had = out_->size();
  try {
    if (is_span) {
      ReadSpan(*value, resource, wanted_, at.place, *out_);
    } else {
      ReadLogRecord(*value, resource, wanted_, at.place, *out_);
    }
  } catch (const Wrong& wrong) {
    out_->resize(had);
    wrong_.push_back(Cat(at.WhereIs({}, 0), ": ", wrong.text));
  }
}

void JsonLines::ReadWaiting(const Node* resource) {
  for (const Waiting& waiting : waiting_) {
    OfResource(waiting.text, waiting.at, resource, waiting.is_span);
  }
  waiting_.clear();
}

void JsonLines::Take(std::string_view text, const TextAt& at) {
  constexpr size_t kOfResource = 3;  // lists: of resources, of scopes, of spans
  const std::vector<Elements::Head>& heads = elements_.heads();
  if (heads.size() < kOfResource) {
    const Node* value = Parsed(text, at, json_);
    if (value == nullptr) {
      // Whose they were is lost.
      if (heads.size() == 1 && !waiting_.empty()) ReadWaiting(nullptr);
      return;
    }
    if (heads.empty()) {
      // Its spans were read, except those of other shapes.
      return Records(*value, at.place, &at);
    }
    if (IsMetricsList(heads[0].list)) {
      if (heads.size() == 1) wanted_.Counts().Pass("metrics of OpenTelemetry");
      return;
    }
    try {
      CheckLists(*value, heads.size());
    } catch (const Wrong& wrong) {
      wrong_.push_back(Cat(at.WhereIs({}, 0), ": ", wrong.text));
    }
    if (heads.size() > 1) return;
    if (waiting_.empty()) return;
    // A copy, since the spans need the parser.
    const Node* resource = resource_json_.Parse(text);
    resource_ = nullptr;
    return ReadWaiting(resource == nullptr ? nullptr : MemberIn(resource, "resource"));
  }
  const bool is_span = !IsLogList(heads.back().list);
  if (const std::optional<const Node*> resource = Resource()) {
    return OfResource(text, at, *resource, is_span);
  }
  waiting_.push_back({.text = std::string(text), .at = at, .is_span = is_span});
}

void JsonLines::Cut() {
  const TextAt at = elements_.Abandon();
  ReadWaiting(nullptr);
  wrong_.push_back(Cat(at.WhereIs({}, 0), ": is no JSON: what begins here does not end"));
}

std::string JsonLines::Said() { return wanted_.Counts().RefuseButLast(std::exchange(wrong_, {})); }

bool JsonLines::BeginsAnew(std::string_view line, const Place& place) {
  if (!line.starts_with("{\"")) return false;
  if (elements_.MayMissComma()) {
    std::string_view object = line.substr(0, line.find_last_not_of(" \t\r,") + 1);
    if (json_.Parse(object) == nullptr) return false;
    wrong_.push_back(Cat(WhereIs(place), ":1: is no JSON: a comma is missing before this"));
    elements_.Flush();
    return false;
  }
  if (!elements_.is_open_at_top() || json_.Parse(line) == nullptr) return false;
  Cut();
  takes_several_ = false;
  return true;
}

std::string JsonLines::Part(std::string_view part, const Place& place,
                            std::vector<Operation>& out) {
  out_ = &out;
  if (column_ == 1) may_be_cut_ = elements_.is_open() || is_first_ || takes_several_;
  is_first_ = false;
  elements_.Add(part, place, column_);
  column_ += static_cast<int64_t>(part.size());
  return Said();
}

std::string JsonLines::Read(std::string_view line, const Place& place,
                            std::vector<Operation>& out) {
  out_ = &out;
  const int64_t column = std::exchange(column_, 1);
  if (column == 1) {
    if (!elements_.is_open() || BeginsAnew(line, place)) {
      if (Trimmed(line).empty()) return Said();
      may_be_cut_ = is_first_ || takes_several_;
      is_first_ = false;
      const Node* value = json_.Parse(line);
      if (value != nullptr && value->IsObject() && !HasList(*value)) {
        Records(*value, place, nullptr);
        return Said();
      }
      if (value == nullptr && !MayHaveList(line) && !(may_be_cut_ && json_.is_cut())) {
        wrong_.push_back(Cat(WhereIs(place), ":", std::to_string(json_.error_at() + 1),
                             ": is no JSON (", json_.error(), "): ", Quoted(line)));
        return Said();
      }
    } else {
      may_be_cut_ = true;
    }
  }
  elements_.Add(line, place, column);
  elements_.EndLine();
  if (elements_.is_open() && !may_be_cut_) Cut();
  if (elements_.is_open()) takes_several_ = true;
  return Said();
}

std::string JsonLines::Finish() {
  if (!elements_.is_open()) return {};
  std::vector<Operation> none;
  out_ = &none;
  Cut();
  return Said();
}

}  // namespace whorl::check
