// JSON lines and CSV of `whorl bench cost`.
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "cli/bench/cost_text.h"
#include "sim/measure/takeover_case.h"
#include "sim/report/json_print.h"
#include "sim/scenario/instant.h"

namespace whorl::cli {
namespace {

using sim::CostFigures;
using sim::Json;
using sim::Preset;

// To six decimals, so that no compiler's last bit shows.
double Rounded(double number) {
  constexpr double kScale = 1e6;
  return std::round(number * kScale) / kScale;
}

Json CaseJson(std::string_view table, const sim::CostCase& what) {
  return {{"cost", table},
          {"protocol", what.protocol},
          {"preset", WordOf(what.preset)},
          {"lease", FormatDuration(what.lease)},
          {"followers", what.followers},
          {"locks", what.locks}};
}

Json FiguresJson(std::string_view table, const CostFigures& figures) {
  Json json = CaseJson(table, figures.what);
  json["measured"] = figures.measured;
  json["runs"] = figures.runs;
  json["takeovers"] = figures.takeovers;
  json["early_grants"] = figures.early_grants;
  VisitFields(figures.rates,
              [&](std::string_view name, double rate) { json[std::string(name)] = Rounded(rate); });
  json["units_regional"] = Rounded(UnitsOf(figures.rates, Preset::kRegional));
  json["units_multi_region"] = Rounded(UnitsOf(figures.rates, Preset::kMultiRegion));
  return json;
}

Json OptionsJson(const sim::CostReport& report) {
  const sim::CostOptions& options = report.options;
  Json json = {{"cost", "options"},
               {"version", 1},
               {"seed", std::to_string(options.seed)},
               {"runs", options.runs},
               {"largest", options.largest},
               {"preset", WordOf(options.preset)},
               {"interrupted", report.interrupted}};
  for (const Preset preset : {Preset::kRegional, Preset::kMultiRegion}) {
    const sim::Throughput throughput = sim::ThroughputOf(preset);
    json["node_" + std::string(WordOf(preset))] = {
        {"reads_per_second", throughput.reads_per_second},
        {"writes_per_second", throughput.writes_per_second},
        {"cpu_share", throughput.cpu_share}};
  }
  json["sources"] = {sim::kThroughputSource, sim::kCpuShareSource};
  return json;
}

Json TradeoffJson(const sim::Tradeoff& one) {
  const auto seconds = [](const std::optional<Duration>& time) {
    return time ? Json(FormatSeconds(*time)) : Json(nullptr);
  };
  return {{"cost", "tradeoff"},
          {"protocol", one.protocol},
          {"lease", FormatDuration(one.lease)},
          {"followers", one.followers},
          {"takeover_p50", seconds(one.takeover_p50)},
          {"takeover_p99", seconds(one.takeover_p99)},
          {"transactions", Rounded(one.transactions)},
          {"rpcs", Rounded(one.rpcs)}};
}

Json LawJson(std::string_view law, const sim::LawCheck& check) {
  return {{"cost", "law"},
          {"law", law},
          {"protocol", check.protocol},
          {"size", check.size},
          {"deviation", Rounded(check.deviation)}};
}

template <typename Line>
void ForEachFigures(const sim::CostReport& report, const Line& line) {
  for (const CostFigures& figures : report.steady) line("steady", figures);
  for (const CostFigures& figures : report.herd) line("herd", figures);
  for (const CostFigures& figures : report.locks) line("locks", figures);
}

}  // namespace

void PrintCostLines(const sim::CostReport& report, const std::vector<sim::Tradeoff>& tradeoffs,
                    std::ostream& out) {
  const auto print = [&out](const Json& json) { out << sim::DumpJson(json) << '\n'; };
  print(OptionsJson(report));
  ForEachFigures(report, [&](std::string_view table, const CostFigures& figures) {
    print(FiguresJson(table, figures));
  });
  for (const sim::Tradeoff& one : tradeoffs) print(TradeoffJson(one));
  for (const sim::LawCheck& check : report.herd_checks) print(LawJson("followers", check));
  for (const sim::LawCheck& check : report.lock_checks) print(LawJson("locks", check));
  for (const sim::LeftOutCost& one : report.left_out) {
    Json json = CaseJson("left_out", one.what);
    json["why"] = one.why;
    print(json);
  }
}

void PrintCostCsv(const sim::CostReport& report, std::ostream& out) {
  bool has_head = false;
  ForEachFigures(report, [&](std::string_view table, const CostFigures& figures) {
    std::string head;
    std::string line;
    const Json json = FiguresJson(table, figures);
    for (const auto& [name, value] : json.items()) {
      const bool first = line.empty();
      head += (first ? "" : ",") + name;
      line += (first ? "" : ",") + (value.is_string() ? value.get<std::string>() : value.dump());
    }
    if (!has_head) out << head << '\n';
    has_head = true;
    out << line << '\n';
  });
}

}  // namespace whorl::cli
