#include "check/verdict_json.h"

#include "base/time.h"
#include "check/relative_time.h"

namespace whorl::check {

using sim::Json;

namespace {

Json RecordsJson(const RecordCounts& records) {
  Json json = Json::object();
  Json& used = json["used"] = Json::object();
  for (const Used as : AllOf<Used>()) {
    if (records.used(as) > 0) used[std::string(WordOf(as))] = records.used(as);
  }
  Json& passed_over = json["passed_over"] = Json::array();
  for (const RecordCounts::Passed& passed : records.passed()) {
    Json words = Json::object();
    for (const auto& [word, count] : passed.words) words[word] = count;
    passed_over.push_back({{"reason", passed.reason},
                           {"count", passed.count},
                           {"may_decide", passed.bearing == Bearing::kMayDecide},
                           {"words", words}});
  }
  if (!records.matched().empty()) {
    Json& matched = json["matched"] = Json::array();
    for (const auto& [expression, count] : records.matched()) {
      matched.push_back({{"expression", expression}, {"count", count}});
    }
  }
  json["refused"] = records.refused();
  return json;
}

}  // namespace

Json VerdictJson(const HistoryVerdict& verdict) {
  Json json = Json::object();
  Json& invariants = json["invariants"] = Json::object();
  for (const InvariantResult& found : verdict.invariants) {
    Json& one = invariants[std::string(WordOf(found.invariant))];
    one["verdict"] = std::string(HistoryWordOf(found.verdict));
    one["violations"] = found.violations;
    one["possible"] = found.possible;
    one["at"] = found.at ? Json(TimeText(*found.at)) : Json(nullptr);
    one["text"] = found.text;
    one["remedy"] = found.remedy;
    one["clocks_wanted"] =
        found.clocks_wanted ? Json(FormatSeconds(*found.clocks_wanted)) : Json(nullptr);
  }
  Json& outside = json["outside_writes"] = {{"count", verdict.outside_count}};
  Json& first = outside["first"] = Json::array();
  for (const OutsideWrite& write : verdict.outside_writes) {
    first.push_back({{"at", TimeText(write.at)}, {"lock", write.lock}, {"text", write.text}});
  }
  json["records"] = RecordsJson(verdict.records);
  const HistoryMetrics& metrics = verdict.metrics;
  json["metrics"] = {{"row_changes", metrics.row_changes},
                     {"statements", metrics.statements},
                     {"calls", metrics.calls},
                     {"grants", metrics.grants},
                     {"takeovers", metrics.takeovers},
                     {"renewals", metrics.renewals},
                     {"duplicates", metrics.duplicates},
                     {"gaps", metrics.gaps},
                     {"outside_writes", metrics.outside},
                     {"late", metrics.late}};
  Json& clocks = json["clocks"] = Json::object();
  for (const ClockFinding& clock : verdict.clocks) {
    Json& one = clocks[clock.process] = nullptr;
    if (!clock.ahead) continue;
    one = {FormatSeconds(clock.ahead->least), FormatSeconds(clock.ahead->most)};
  }
  json["problems"] = verdict.problems;
  json["assumptions"] = verdict.assumptions;
  return json;
}

}  // namespace whorl::check
