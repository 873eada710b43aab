#include "cli/hunt/report.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <variant>

#include "cli/inputs.h"
#include "cli/shell_text.h"
#include "cli/version.h"
#include "sim/report/json_print.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/error_text.h"
#include "sim/scenario/loader.h"
#include "sim/scenario/units.h"
#include "sim/scenario/writer.h"

namespace whorl::cli {
namespace {

using sim::Cat;
using sim::Json;

constexpr std::string_view kFormatName = "whorl-hunt";

// --- writing -----------------------------------------------------------------------------------

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
    Json pair = Json::array();
    pair.push_back(value);
    pair.push_back(count);
    json.push_back(std::move(pair));
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
  json["beyond_assumptions"] = hunt.world.beyond_assumptions;
  json["invariant"] = nullptr;
  if (hunt.invariant) json["invariant"] = std::string(WordOf(*hunt.invariant));
  json["promised"] = hunt.promised_only;
  json["shards"] = report.shards;
  Json& covered = json["covered"] = Json::array();
  for (const uint64_t shard : report.covered) covered.push_back(shard + 1);
  return json;
}

Json Line(const HuntReport& report, std::string_view line) {
  Json json = Json::object();
  json["format"] = kFormatName;
  json["version"] = kHuntFormat;
  json["whorl"] = kVersion;
  json["line"] = line;
  json["hunt"] = HuntJson(report);
  return json;
}

Json NeverJson(const sim::HuntTally& tally) {
  Json never = Json::array();
  for (const auto goal : AllOf<sim::Sometimes>()) {
    if (tally.met[static_cast<size_t>(goal)] != 0) continue;
    never.push_back(std::string(WordOf(goal)));
  }
  return never;
}

Json ProtocolLine(const HuntReport& report, const std::string& protocol,
                  const sim::HuntTally& tally) {
  Json json = Line(report, "protocol");
  json["protocol"] = protocol;
  json["runs"] = tally.runs;
  json["hash"] = sim::HashText(tally.hash);
  json["checked"] = tally.checked;
  Json& differing = json["differing"] = Json::array();
  for (const uint64_t run : tally.differing) differing.push_back(std::to_string(run));
  json["sometimes"] = CountsJson(tally.met, WordOf<sim::Sometimes>);
  json["never"] = NeverJson(tally);
  json["struck"] = CountsJson(tally.struck, sim::FaultKindText);
  json["violated"] = CountsJson(tally.violated, WordOf<Invariant>);
  json["held"] = CountsJson(tally.held, WordOf<Invariant>);
  json["unknown"] = CountsJson(tally.unknown, WordOf<Invariant>);
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
  json["at"] = FormatDuration(finding.at - sim::Instant{});
  json["drawn"] = SizeJson(finding.size);
  json["shrunk"] = nullptr;
  if (finding.shrunk) json["shrunk"] = SizeJson(sim::SizeOf(*finding.shrunk));
  json["shrink_runs"] = finding.shrink_runs;
  json["scenario"] = Json::parse(sim::ScenarioLine(scenario));
  json["replay"] = ReplayLine(report, named, command, save_folder);
  return json;
}

// --- reading -----------------------------------------------------------------------------------

[[noreturn]] void Refuse(const std::string& what) { throw std::invalid_argument(what); }

uint64_t Unsigned(const Json& json, int base = 10) {
  const auto text = json.get<std::string>();
  const char* end = text.data() + text.size();
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || rest != end) Refuse("no number: " + sim::Quoted(text));
  return number;
}

Duration Time(const Json& json) {
  const auto parsed = sim::ParseDuration(json.get<std::string>());
  if (const auto* wrong = std::get_if<std::string>(&parsed)) Refuse(*wrong);
  return std::get<Duration>(parsed);
}

const ProtocolInfo& Protocol(const Json& json) {
  const auto name = json.get<std::string>();
  const ProtocolInfo* protocol = FindProtocol(name);
  if (protocol == nullptr) Refuse("unknown protocol " + sim::Quoted(name));
  return *protocol;
}

// The enumerator of a word; `text` gives the words, of which there are `count`.
template <typename Enum>
Enum Word(const std::string& word, size_t count, std::string_view (*text)(Enum)) {
  for (size_t i = 0; i < count; ++i) {
    if (text(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  }
  Refuse("unknown word " + sim::Quoted(word));
}

template <typename Enum, size_t N>
void ReadCounts(const Json& json, std::string_view (*text)(Enum), std::array<int64_t, N>& counts) {
  for (const auto& [word, count] : json.items()) {
    counts[static_cast<size_t>(Word(word, N, text))] = count.template get<int64_t>();
  }
}

sim::Histogram ReadHistogram(const Json& json) {
  sim::Histogram histogram;
  for (const Json& pair : json) {
    histogram.counts[pair.at(0).get<int64_t>()] = pair.at(1).get<int64_t>();
  }
  return histogram;
}

HuntReport ReadHunt(const Json& json) {
  HuntReport report;
  sim::HuntOptions& hunt = report.hunt;
  for (const Json& name : json.at("protocols")) hunt.protocols.emplace_back(Protocol(name).name);
  hunt.seed = Unsigned(json.at("seed"));
  hunt.world.duration = Time(json.at("duration"));
  for (const Json& kind : json.at("faults")) {
    hunt.world.kinds.push_back(
        Word(kind.get<std::string>(), sim::kFaultKindCount, sim::FaultKindText));
  }
  hunt.world.beyond_assumptions = json.at("beyond_assumptions").get<bool>();
  if (!json.at("invariant").is_null()) {
    hunt.invariant =
        Word(json.at("invariant").get<std::string>(), kCountOf<Invariant>, WordOf<Invariant>);
  }
  hunt.promised_only = json.at("promised").get<bool>();
  report.shards = json.at("shards").get<uint64_t>();
  for (const Json& shard : json.at("covered")) report.covered.insert(shard.get<uint64_t>() - 1);
  return report;
}

sim::HuntTally ReadTally(const Json& json) {
  sim::HuntTally tally;
  tally.runs = json.at("runs").get<int64_t>();
  tally.hash = Unsigned(json.at("hash"), 16);
  tally.checked = json.at("checked").get<int64_t>();
  for (const Json& run : json.at("differing")) tally.differing.push_back(Unsigned(run));
  ReadCounts(json.at("sometimes"), WordOf<sim::Sometimes>, tally.met);
  ReadCounts(json.at("struck"), sim::FaultKindText, tally.struck);
  ReadCounts(json.at("violated"), WordOf<Invariant>, tally.violated);
  ReadCounts(json.at("held"), WordOf<Invariant>, tally.held);
  ReadCounts(json.at("unknown"), WordOf<Invariant>, tally.unknown);
  const Json& distributions = json.at("distributions");
  tally.faults = ReadHistogram(distributions.at("faults"));
  tally.nodes = ReadHistogram(distributions.at("nodes"));
  tally.takeovers = ReadHistogram(distributions.at("takeovers"));
  tally.unknown_outcomes = ReadHistogram(distributions.at("unknown_outcomes"));
  return tally;
}

sim::Size ReadSize(const Json& json) {
  return {.faults = json.at("faults").get<int64_t>(),
          .nodes = json.at("nodes").get<int64_t>(),
          .locks = json.at("locks").get<int64_t>(),
          .duration = Time(json.at("duration"))};
}

std::string NameOf(const ProtocolInfo& protocol, const sim::ViolationKind& kind) {
  return Cat(protocol.name, ".", WordOf(kind.invariant), ".", kind.where);
}

// Into the tally of its protocol, whose line stands before it.
void ReadFinding(const Json& json, HuntReport& report) {
  const ProtocolInfo& protocol = Protocol(json.at("protocol"));
  sim::ViolationKind kind{.invariant = Word(json.at("invariant").get<std::string>(),
                                            kCountOf<Invariant>, WordOf<Invariant>),
                          .where = json.at("where").get<std::string>()};
  sim::Finding finding;
  finding.runs = json.at("runs").get<int64_t>();
  finding.run = Unsigned(json.at("run"));
  finding.promised = json.at("promised").get<bool>();
  finding.size = ReadSize(json.at("drawn"));
  finding.at = sim::Instant{} + Time(json.at("at"));
  finding.shrink_runs = json.at("shrink_runs").get<int64_t>();
  if (!json.at("shrunk").is_null()) {
    auto scenario =
        sim::ParseScenario(sim::DumpJson(json.at("scenario")), NameOf(protocol, kind) + ".json");
    if (!scenario.ok()) Refuse(std::string(scenario.status().message()));
    finding.shrunk = *std::move(scenario);
  }
  report.tallies[std::string(protocol.name)].findings.emplace(std::move(kind), std::move(finding));
}

void ReadLine(const Json& json, HuntReport& report, bool is_first) {
  if (json.at("format").get<std::string>() != kFormatName) Refuse("of another format");
  if (json.at("version").get<int>() != kHuntFormat) Refuse("of another version");
  const HuntReport hunt = ReadHunt(json.at("hunt"));
  if (is_first) report = hunt;
  if (hunt.hunt != report.hunt || hunt.shards != report.shards || hunt.covered != report.covered) {
    Refuse("of another hunt, or another shard, than the lines before");
  }
  const auto line = json.at("line").get<std::string>();
  if (line == "finding") return ReadFinding(json, report);
  if (line != "protocol") Refuse("unknown line " + sim::Quoted(line));
  const std::string protocol(Protocol(json.at("protocol")).name);
  if (!report.tallies.emplace(protocol, ReadTally(json)).second) {
    Refuse("a second line of " + protocol);
  }
}

}  // namespace

HuntReport MakeReport(const sim::HuntOptions& hunt, sim::HuntTallies tallies) {
  HuntReport report{
      .hunt = hunt, .shards = hunt.shards, .covered = {hunt.shard}, .tallies = std::move(tallies)};
  report.hunt.shard = 0;
  report.hunt.shards = 1;
  return report;
}

std::vector<NamedFinding> FindingsOf(const sim::HuntTallies& tallies) {
  std::vector<NamedFinding> findings;
  for (const bool promised : {true, false}) {
    for (const auto& [protocol, tally] : tallies) {
      for (const auto& [kind, finding] : tally.findings) {
        const NamedFinding named{
            .protocol = FindProtocol(protocol), .kind = &kind, .finding = &finding};
        if (named.IsPromised() == promised) findings.push_back(named);
      }
    }
  }
  return findings;
}

std::string ReportLines(const HuntReport& report, const std::string& command,
                        const std::string& save_folder) {
  std::string lines;
  for (const auto& [protocol, tally] : report.tallies) {
    lines += sim::DumpJson(ProtocolLine(report, protocol, tally)) + "\n";
  }
  for (const NamedFinding& finding : FindingsOf(report.tallies)) {
    lines += sim::DumpJson(FindingLine(report, finding, command, save_folder)) + "\n";
  }
  return lines;
}

absl::StatusOr<HuntReport> ReadReport(std::string_view text, const std::string& path) {
  HuntReport report;
  const std::string name = sim::Printable(path, 1000);
  int number = 0;
  for (const std::string& line : LinesOf(text)) {
    ++number;
    try {
      ReadLine(Json::parse(line), report, number == 1);
    } catch (const std::exception& error) {
      // nlohmann's own messages begin with a number in brackets, which helps nobody.
      return absl::InvalidArgumentError(
          Cat(name, ":", std::to_string(number),
              ": expected a line that whorl hunt --json has written: ",
              sim::Printable(error.what(), 300)));
    }
  }
  if (report.tallies.empty()) {
    return absl::InvalidArgumentError(Cat(name, ": empty, where whorl hunt --json writes lines"));
  }
  return report;
}

absl::Status AddReport(const HuntReport& other, const std::string& path, HuntReport& sum) {
  const std::string name = sim::Printable(path, 1000);
  if (other.hunt != sum.hunt || other.shards != sum.shards) {
    return absl::InvalidArgumentError(
        Cat(name, ": of another hunt (another seed, other options or another number of shards)"));
  }
  for (const uint64_t shard : other.covered) {
    if (sum.covered.insert(shard).second) continue;
    return absl::InvalidArgumentError(Cat(name, ": shard ", std::to_string(shard + 1), "/",
                                          std::to_string(sum.shards), " is there twice"));
  }
  for (const auto& [protocol, tally] : other.tallies) sum.tallies[protocol].Add(tally);
  if (!sum.IsWhole()) return absl::OkStatus();
  sum.shards = 1;
  sum.covered = {0};
  return absl::OkStatus();
}

std::string SavedPath(const NamedFinding& finding, const std::string& save_folder) {
  return (std::filesystem::path(save_folder) / (NameOf(*finding.protocol, *finding.kind) + ".json"))
      .string();
}

std::string ReplayLine(const HuntReport& report, const NamedFinding& finding,
                       const std::string& command, const std::string& save_folder) {
  const std::string replay = Cat(ShellQuoted(command), " replay ");
  // Others may be violated before it.
  const std::string explain = Cat(" --explain=", WordOf(finding.kind->invariant));
  if (!save_folder.empty()) {
    return Cat(replay, ShellQuoted(SavedPath(finding, save_folder)), explain);
  }
  const sim::Scenario scenario = sim::ScenarioOf(report.hunt, *finding.kind, *finding.finding);
  return Cat("echo ", ShellQuoted(sim::ScenarioLine(scenario)), " | ", replay, "-", explain);
}

}  // namespace whorl::cli
