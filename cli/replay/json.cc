#include "cli/replay/json.h"

#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "cli/version.h"
#include "sim/judge/expectations.h"
#include "sim/judge/known.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/loader.h"
#include "sim/scenario/names.h"

namespace whorl::cli {
namespace {

using sim::Json;

std::string_view ConclusionText(Conclusion conclusion) {
  switch (conclusion) {
    case Conclusion::kAsExpected:
      return "ok";
    case Conclusion::kFailed:
      return "failed";
    case Conclusion::kNotJudged:
      break;
  }
  return "not_judged";
}

Json ExpectedJson(const Tally& tally, Invariant invariant) {
  if (!tally.is_judged()) return nullptr;
  switch (sim::ExpectedOf(tally.scenario(), invariant)) {
    case sim::Expected::kHolds:
      return "holds";
    case sim::Expected::kViolated:
      return "violated";
    case sim::Expected::kNothing:
      break;
  }
  return nullptr;
}

Json InvariantJson(const Tally& tally, const sim::InvariantResult& result,
                   const sim::JsonPrinter& printer) {
  Json json = Json::object();
  printer.AddFields(result, json);
  json["expected"] = ExpectedJson(tally, result.invariant);
  if (result.verdict == sim::Verdict::kViolated) {
    const sim::KnownOfViolation known =
        sim::KnownOf(tally.scenario(), result.invariant, result.promise);
    json["known"] = {{"limits", known.limits}, {"findings", known.findings}, {"page", known.page}};
  }
  return json;
}

Json FaultsJson(const sim::Scenario& scenario, const sim::RunResult& result) {
  Json faults = Json::array();
  for (const uint32_t fault : result.unfired_faults) {
    faults.push_back({{"fault", fault}, {"line", scenario.faults[fault].line}});
  }
  return faults;
}

Json StoryJson(const sim::Story& story) {
  if (story.invariant.empty()) return nullptr;
  const auto listed = [](const std::vector<sim::StoryLine>& lines) {
    Json json = Json::array();
    for (const sim::StoryLine& line : lines) {
      json.push_back(
          {{"at", FormatSeconds({line.at.ns})}, {"node", line.who}, {"text", line.text}});
    }
    return json;
  };
  return {{"invariant", story.invariant}, {"at", FormatSeconds({story.at.ns})},
          {"head", story.head},           {"lines", listed(story.lines)},
          {"left_out", story.left_out},   {"end", story.end},
          {"after", listed(story.after)}};
}

// The shown run, in full.
void AddRun(const Tally& tally, const RunOutcome& outcome, Json& json) {
  const sim::JsonPrinter printer(sim::NamesOf(tally.scenario()));
  const sim::RunResult& result = outcome.result;
  json["seed"] = std::to_string(result.seed);
  json["hash"] = HashText(result.hash);
  json["events"] = result.events;
  json["observations"] = result.observations;
  json["simulated"] = FormatSeconds(result.simulated);
  json["wall_seconds"] = outcome.wall_seconds;
  Json& invariants = json["invariants"] = Json::array();
  for (const sim::InvariantResult& invariant : result.checks.invariants) {
    invariants.push_back(InvariantJson(tally, invariant, printer));
  }
  json["metrics"] = sim::MetricsJson(result.checks.metrics);
  json["sometimes"] = sim::MetJson(result.checks.metrics);
  json["beyond_assumptions"] = sim::BrokenAssumptions(tally.scenario());
  json["unfired_faults"] = FaultsJson(tally.scenario(), result);
  if (outcome.story.has_value()) json["story"] = StoryJson(*outcome.story);
  if (!outcome.needed_faults.empty()) json["made_possible_by"] = outcome.needed_faults;
}

Json RepeatJson(const Tally& tally) {
  Json violated = Json::object();
  for (const Invariant invariant : AllOf<Invariant>()) {
    const InvariantTally& counted = tally.invariant(invariant);
    if (counted.runs == 0) continue;
    violated[std::string(WordOf(invariant))] = {{"runs", counted.runs},
                                                {"first_seed", std::to_string(counted.first_seed)}};
  }
  Json runs = Json::array();
  for (const SeedCounts::KeptRun& run : tally.kept_runs()) {
    Json names = Json::array();
    for (const Invariant name : run.violated) names.push_back(std::string(WordOf(name)));
    runs.push_back({{"seed", std::to_string(run.seed)},
                    {"hash", HashText(run.hash)},
                    {"violated", std::move(names)}});
  }
  Json json = Json::object();
  json["first_seed"] = std::to_string(tally.first_seed());
  json["count"] = tally.run_count();
  json["wall_seconds"] = tally.wall_seconds();
  json["violated"] = std::move(violated);
  json["runs"] = std::move(runs);
  return json;
}

}  // namespace

Json TallyJson(const Tally& tally) {
  const sim::Scenario& scenario = tally.scenario();
  Json json = Json::object();
  json["name"] = scenario.name;
  json["path"] = scenario.path;
  json["protocol"] = scenario.protocol;
  json["verdict"] = std::string(ConclusionText(tally.conclusion()));
  json["failures"] = tally.failures();
  json["warnings"] = sim::WarningsOf(scenario);
  json["replay"] = ReplayCommand("whorl", scenario, tally.seed_to_replay());
  if (tally.shown() != nullptr) AddRun(tally, *tally.shown(), json["run"] = Json::object());
  if (tally.run_count() > 1) json["repeat"] = RepeatJson(tally);
  return json;
}

Json ReplayJson(std::vector<Json> scenarios, const std::vector<BadInput>& bad_inputs,
                const Summary& summary) {
  Json json = Json::object();
  json["format"] = "whorl-replay";
  json["version"] = kReplayFormat;
  json["whorl"] = kVersion;
  json["scenarios"] = std::move(scenarios);
  Json& bad = json["bad_inputs"] = Json::array();
  for (const BadInput& input : bad_inputs) {
    bad.push_back({{"path", input.path}, {"errors", input.errors}});
  }
  json["summary"] = {{"scenarios", summary.scenarios()},
                     {"as_expected", summary.as_expected},
                     {"failed", summary.failed},
                     {"not_judged", summary.not_judged},
                     {"bad_inputs", summary.bad_inputs}};
  return json;
}

}  // namespace whorl::cli
