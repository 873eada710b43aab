// Writes reports.
#include <utility>

#include "base/text.h"
#include "cli/hunt/report.h"
#include "cli/version.h"
#include "sim/report/json_print.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/writer.h"

namespace whorl::cli {
namespace {

using sim::Json;

// {"pause": 12}: the counts that are not 0, by their words.
template <typename Enum, size_t N>
Json CountsJson(const std::array<int64_t, N>& counts, std::string_view (*text)(Enum)) {
  Json json = Json::object();
  for (size_t i = 0; i < N; ++i) {
    if (counts[i] != 0) json[std::string(text(static_cast<Enum>(i)))] = counts[i];
  }
  return json;
}

// [[value, count], ...].
Json HistogramJson(const sim::Histogram& histogram) {
  Json json = Json::array();
  for (const auto& [value, count] : histogram.counts) {
    json.push_back(Json::array({value, count}));
  }
  return json;
}

Json HuntJson(const HuntReport& report) {
  const sim::HuntOptions& hunt = report.hunt;
  Json json = Json::object();
  json["protocols"] = hunt.protocols;
  json["seed"] = std::to_string(hunt.seed);
  json["duration"] = FormatDuration(hunt.world.duration);
  Json& kinds = json["faults"] = Json::array();
  for (const sim::FaultKind kind : hunt.world.kinds) {
    kinds.push_back(std::string(FaultKindText(kind)));
  }
  if (hunt.from) json["from"] = Json::parse(sim::ScenarioLine(*hunt.from));
  json["beyond_assumptions"] = hunt.world.beyond_assumptions;
  json["invariant"] = nullptr;
  if (hunt.invariant) json["invariant"] = std::string(WordOf(*hunt.invariant));
  json["promised"] = hunt.promised_only;
  json["guided"] = hunt.guided;
  Json& reach = json["reach"] = Json::array();
  for (const sim::Waypoint& waypoint : hunt.reach) reach.push_back(TextOf(hunt, waypoint));
  json["corpus"] = nullptr;
  if (!report.corpus.empty()) json["corpus"] = report.corpus;
  json["runs"] = nullptr;
  if (report.asked) json["runs"] = *report.asked;
  json["shards"] = report.coverage.shards;
  json["covered"] = CoveredJson(report.coverage);
  return json;
}

Json Line(const HuntReport& report, std::string_view line) {
  Json json = Json::object();
  json["format"] = kHuntFormatName;
  json["version"] = kHuntFormat;
  json["whorl"] = kVersion;
  json["line"] = line;
  json["hunt"] = HuntJson(report);
  return json;
}

// The goals that were met, by their words: in how many runs, and the first of these.
Json MetJson(const sim::HuntTally& tally) {
  Json json = Json::object();
  for (const auto goal : AllOf<sim::Sometimes>()) {
    const sim::RunsThat& met = tally.met[static_cast<size_t>(goal)];
    if (met.runs == 0) continue;
    json[std::string(WordOf(goal))] = {{"runs", met.runs}, {"first", sim::NameText(met.first)}};
  }
  return json;
}

Json NeverJson(const sim::HuntTally& tally) {
  Json never = Json::array();
  for (const auto goal : AllOf<sim::Sometimes>()) {
    if (tally.met[static_cast<size_t>(goal)].runs != 0) continue;
    never.push_back(std::string(WordOf(goal)));
  }
  return never;
}

// The same of each waypoint.
Json ReachedJson(const sim::HuntTally& tally) {
  Json json = Json::array();
  for (const sim::RunsThat& reached : tally.reached) {
    json.push_back({{"runs", reached.runs}, {"first", nullptr}});
    if (reached.runs > 0) json.back()["first"] = sim::NameText(reached.first);
  }
  return json;
}

// What is known and how much of it is new, then [kind, first run, runs, ...] for each kind.
Json KindsJson(const HuntReport& report, const sim::HuntTally& tally) {
  Json all = Json::array();
  for (const auto& [kind, count] : tally.kinds.counts()) {
    all.push_back(kind);
    all.push_back(count.first);
    all.push_back(count.runs);
  }
  return {{"known", tally.kinds.size()},
          {"new", tally.kinds.NewSince(report.coverage.FirstOfLast(kRecentRuns))},
          {"runs_alone", tally.kinds.RunsAlone()},
          {"all", std::move(all)}};
}

// By promise and circumstance: for how much of the simulated time it voided the promise, in seconds.
Json NotPromisedJson(const sim::HuntTally& tally) {
  Json json = Json::object();
  for (const Invariant invariant : AllOf<Invariant>()) {
    for (const Circumstance circumstance : AllOf<Circumstance>()) {
      const Duration time =
          tally.not_promised[static_cast<size_t>(invariant)][static_cast<size_t>(circumstance)];
      if (time == Duration{}) continue;
      json[std::string(WordOf(invariant))][std::string(WordOf(circumstance))] = FormatSeconds(time);
    }
  }
  return json;
}

Json ProtocolLine(const HuntReport& report, const std::string& protocol,
                  const sim::HuntTally& tally) {
  Json json = Line(report, "protocol");
  json["protocol"] = protocol;
  json["runs"] = tally.runs;
  json["hash"] = HashText(tally.hash);
  json["checked"] = tally.checked;
  Json& differing = json["differing"] = Json::array();
  for (const uint64_t run : tally.differing) differing.push_back(std::to_string(run));
  json["sometimes"] = MetJson(tally);
  json["never"] = NeverJson(tally);
  json["reached"] = ReachedJson(tally);
  json["struck"] = CountsJson(tally.struck, sim::FaultKindText);
  json["violated"] = CountsJson(tally.violated, WordOf<Invariant>);
  json["held"] = CountsJson(tally.held, WordOf<Invariant>);
  json["unknown"] = CountsJson(tally.unknown, WordOf<Invariant>);
  json["simulated"] = FormatSeconds(tally.simulated);
  json["not_promised"] = NotPromisedJson(tally);
  json["kinds"] = KindsJson(report, tally);
  json["distributions"] = {{"faults", HistogramJson(tally.faults)},
                           {"nodes", HistogramJson(tally.nodes)},
                           {"takeovers", HistogramJson(tally.takeovers)},
                           {"unknown_outcomes", HistogramJson(tally.unknown_outcomes)}};
  return json;
}

Json SizeJson(const sim::Size& size) {
  return {{"faults", size.faults},
          {"nodes", size.nodes},
          {"locks", size.locks},
          {"duration", FormatDuration(size.duration)}};
}

Json FindingLine(const HuntReport& report, const NamedFinding& named, const std::string& command,
                 const std::string& save_folder) {
  const sim::Finding& finding = *named.finding;
  const sim::Scenario scenario = sim::ScenarioOf(report.hunt, *named.kind, finding);
  Json json = Line(report, "finding");
  json["protocol"] = std::string(named.protocol->name);
  json["invariant"] = std::string(WordOf(named.kind->invariant));
  json["where"] = named.kind->where;
  json["promised"] = named.IsPromised();
  json["beyond"] = sim::BrokenAssumptions(scenario);
  json["runs"] = finding.runs;
  json["run"] = std::to_string(finding.run);
  json["name"] = sim::NameText(finding.name);
  json["at"] = FormatDuration(finding.at - sim::Instant{});
  json["drawn"] = SizeJson(finding.size);
  json["shrunk"] = nullptr;
  if (finding.shrunk) json["shrunk"] = SizeJson(sim::SizeOf(*finding.shrunk));
  json["shrink_runs"] = finding.shrink_runs;
  json["scenario"] = Json::parse(sim::ScenarioLine(scenario));
  json["replay"] = ReplayLine(report, named, command, save_folder);
  return json;
}

Json PointJson(const sim::BranchPoint& point) {
  return Json::array({sim::NameText(point.name), point.at.ns, point.distance, point.picked});
}

// By protocol: each cell's number, count of runs, count of picks and branch points; then the nearest runs, by
// NearMissKind.
Json GuidesJson(const sim::Guides& guides) {
  Json json = Json::object();
  for (const auto& [protocol, guide] : guides) {
    Json& of = json[protocol] = {{"cells", Json::array()}, {"nearest", Json::array()}};
    for (const auto& [number, cell] : guide.cells) {
      Json points = Json::array();
      for (const sim::BranchPoint& point : cell.points) points.push_back(PointJson(point));
      of["cells"].push_back(Json::array({number, cell.runs, cell.picked, std::move(points)}));
    }
    for (const std::vector<sim::BranchPoint>& near : guide.nearest) {
      Json points = Json::array();
      for (const sim::BranchPoint& point : near) points.push_back(PointJson(point));
      of["nearest"].push_back(std::move(points));
    }
  }
  return json;
}

// The worlds of a corpus that findings and places to branch from are named by.
Json EntriesJson(const HuntReport& report) {
  Json json = Json::object();
  const auto add = [&](const sim::RunName& name) {
    if (name.entry.empty() || json.contains(name.entry)) return;
    json[name.entry] = Json::parse(sim::ScenarioLine(*report.hunt.entries.worlds.at(name.entry)));
  };
  for (const auto& [protocol, tally] : report.tallies) {
    for (const auto& [kind, finding] : tally.findings) add(finding.name);
    for (const sim::RunsThat& met : tally.met) add(met.first);
    for (const sim::RunsThat& reached : tally.reached) add(reached.first);
  }
  for (const auto& [protocol, guide] : report.guides) {
    for (const auto& [number, cell] : guide.cells) {
      for (const sim::BranchPoint& point : cell.points) add(point.name);
    }
    for (const std::vector<sim::BranchPoint>& near : guide.nearest) {
      for (const sim::BranchPoint& point : near) add(point.name);
    }
  }
  if (report.last) add(report.last->name);
  return json;
}

Json EndLine(const HuntReport& report, size_t findings) {
  Json json = Line(report, "end");
  json["protocols"] = report.tallies.size();
  json["findings"] = findings;
  json["partial"] = report.is_partial;
  if (report.last) {
    json["last"] = {{"run", sim::NameText(report.last->name)},
                    {"hash", std::to_string(report.last->hash)}};
  }
  if (report.hunt.guided && report.last) json["guides"] = GuidesJson(report.guides);
  return json;
}

}  // namespace

std::string ReportLines(const HuntReport& report, const std::string& command,
                        const std::string& save_folder) {
  std::string lines;
  Json entries = Line(report, "entries");
  entries["entries"] = EntriesJson(report);
  if (!entries["entries"].empty()) lines += sim::DumpJson(entries) + "\n";
  for (const auto& [protocol, tally] : report.tallies) {
    lines += sim::DumpJson(ProtocolLine(report, protocol, tally)) + "\n";
  }
  const std::vector<NamedFinding> findings = FindingsOf(report.tallies);
  for (const NamedFinding& finding : findings) {
    lines += sim::DumpJson(FindingLine(report, finding, command, save_folder)) + "\n";
  }
  lines += sim::DumpJson(EndLine(report, findings.size())) + "\n";
  return lines;
}

}  // namespace whorl::cli
