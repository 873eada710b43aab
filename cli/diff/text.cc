#include "cli/diff/text.h"

#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/version.h"

namespace whorl::cli {
namespace {

using sim::Json;

constexpr int kDiffFormat = 1;

// --- for people ----------------------------------------------------------------------------------

std::string ShownJson(const Json& json) { return ShownTrace(sim::DumpJson(json)); }

void PrintFields(const std::vector<sim::FieldDifference>& fields) {
  for (const sim::FieldDifference& field : fields) {
    std::cout << "  " << ShownTrace(field.field) << ": " << ShownJson(field.a) << " / "
              << ShownJson(field.b) << '\n';
  }
}

std::string EventsText(uint64_t events) {
  return CountText(static_cast<int64_t>(events), "event", "events");
}

void PrintEvent(const sim::EventDifference& event, const DiffNames& names) {
  std::cout << "the first event that differs is number " << event.n << ":\n";
  for (const std::string& line : event.before) std::cout << "  " << ShownTrace(line) << '\n';
  const auto print = [](char mark, const std::optional<std::string>& line,
                        const std::string& name) {
    std::cout << mark << ' '
              << (line.has_value() ? ShownTrace(*line) : Cat("(", ShownTrace(name), " ends here)"))
              << '\n';
  };
  print('-', event.a, names[0]);
  print('+', event.b, names[1]);
  if (event.fields.empty()) return;
  std::cout << "it differs in:\n";
  PrintFields(event.fields);
}

// --- for machines --------------------------------------------------------------------------------

Json FieldsJson(const std::vector<sim::FieldDifference>& fields) {
  Json json = Json::array();
  for (const sim::FieldDifference& field : fields) {
    json.push_back({{"field", field.field}, {"a", field.a}, {"b", field.b}});
  }
  return json;
}

Json LineJson(const std::optional<std::string>& line) {
  return line.has_value() ? Json::parse(*line, nullptr, /*allow_exceptions=*/false) : Json(nullptr);
}

}  // namespace

std::string ShownTrace(const std::string& text) { return Printable(text, sim::kMaxTraceLine); }

void PrintDifference(const sim::TraceDifference& difference, const DiffNames& names) {
  if (difference.IsEqual()) {
    std::cout << "equal: " << EventsText(difference.equal_events) << '\n';
    return;
  }
  if (!difference.header.empty()) {
    std::cout << "the heads differ (" << ShownTrace(names[0]) << " / " << ShownTrace(names[1])
              << "):\n";
    PrintFields(difference.header);
  }
  if (difference.event.has_value()) return PrintEvent(*difference.event, names);
  std::cout << "all " << EventsText(difference.equal_events) << " are alike";
  if (difference.hash_from.has_value()) {
    std::cout << ", but the hash differs from event " << *difference.hash_from
              << " on: the seeds differ, or something that was not observed does";
  }
  std::cout << '\n';
}

Json DifferenceJson(const sim::TraceDifference& difference, const DiffNames& names) {
  Json json = {{"format", "whorl-diff"}, {"version", kDiffFormat}, {"whorl", kVersion}};
  json["a"] = names[0];
  json["b"] = names[1];
  json["equal"] = difference.IsEqual();
  json["header"] = FieldsJson(difference.header);
  json["equal_events"] = difference.equal_events;
  json["hash_from"] =
      difference.hash_from.has_value() ? Json(*difference.hash_from) : Json(nullptr);
  Json& first = json["first"] = nullptr;
  if (!difference.event.has_value()) return json;
  const sim::EventDifference& event = *difference.event;
  first = {{"n", event.n}};
  Json& before = first["before"] = Json::array();
  for (const std::string& line : event.before) before.push_back(LineJson(line));
  first["a"] = LineJson(event.a);
  first["b"] = LineJson(event.b);
  first["fields"] = FieldsJson(event.fields);
  return json;
}

}  // namespace whorl::cli
