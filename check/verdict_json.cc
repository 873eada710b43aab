#include "check/verdict_json.h"

#include "check/relative_time.h"
#include "sim/scenario/number_text.h"

namespace whorl::check {

using sim::Json;

Json VerdictJson(const HistoryVerdict& verdict) {
  Json json = Json::object();
  Json& invariants = json["invariants"] = Json::object();
  for (const InvariantFinding& found : verdict.invariants) {
    Json& one = invariants[std::string(WordOf(found.invariant))];
    one["verdict"] = std::string(WordOf(found.finding));
    one["violations"] = found.violations;
    one["possible"] = found.possible;
    one["at"] = found.at ? Json(TimeText(*found.at)) : Json(nullptr);
    one["text"] = found.text;
    one["remedy"] = found.remedy;
    one["clocks_wanted"] =
        found.clocks_wanted ? Json(sim::SecondsText(*found.clocks_wanted)) : Json(nullptr);
  }
  const HistoryMetrics& metrics = verdict.metrics;
  json["metrics"] = {{"row_changes", metrics.row_changes},
                     {"statements", metrics.statements},
                     {"calls", metrics.calls},
                     {"grants", metrics.grants},
                     {"takeovers", metrics.takeovers},
                     {"renewals", metrics.renewals},
                     {"duplicates", metrics.duplicates},
                     {"gaps", metrics.gaps},
                     {"late", metrics.late}};
  Json& clocks = json["clocks"] = Json::object();
  for (const ClockFinding& clock : verdict.clocks) {
    Json& one = clocks[clock.process] = nullptr;
    if (!clock.ahead) continue;
    one = {sim::SecondsText(clock.ahead->least), sim::SecondsText(clock.ahead->most)};
  }
  json["problems"] = verdict.problems;
  json["assumptions"] = verdict.assumptions;
  return json;
}

}  // namespace whorl::check
