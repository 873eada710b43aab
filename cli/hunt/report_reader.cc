// Reads reports back.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "base/parse_duration.h"
#include "base/text.h"
#include "cli/hunt/report.h"
#include "cli/inputs.h"
#include "cli/shards/report_file.h"
#include "sim/report/json_print.h"
#include "sim/scenario/loader.h"
#include "sim/scenario/waypoints.h"

namespace whorl::cli {
namespace {

using sim::Json;

Duration Time(const Json& json) {
  const auto parsed = ParseDuration(json.get<std::string>());
  if (const auto* wrong = std::get_if<std::string>(&parsed)) Refuse(*wrong);
  return std::get<Duration>(parsed);
}

const ProtocolInfo& Protocol(const Json& json) {
  const auto name = json.get<std::string>();
  const ProtocolInfo* protocol = FindProtocol(name);
  if (protocol == nullptr) Refuse("unknown protocol " + Quoted(name));
  return *protocol;
}

// The enumerator of a word; `text` gives the words by number, below `count`.
template <typename Enum>
Enum Word(const std::string& word, size_t count, std::string_view (*text)(Enum)) {
  for (size_t i = 0; i < count; ++i) {
    if (text(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  }
  Refuse("unknown word " + Quoted(word));
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
  if (json.contains("from")) Refuse("a hunt around a scenario (--from) is no part of another");
  for (const Json& name : At(json, "protocols")) hunt.protocols.emplace_back(Protocol(name).name);
  hunt.seed = Unsigned(At(json, "seed"));
  hunt.world.duration = Time(At(json, "duration"));
  for (const Json& kind : At(json, "faults")) {
    hunt.world.kinds.push_back(
        Word(kind.get<std::string>(), sim::kFaultKindCount, sim::FaultKindText));
  }
  hunt.world.beyond_assumptions = At(json, "beyond_assumptions").get<bool>();
  if (!At(json, "invariant").is_null()) {
    hunt.invariant =
        Word(At(json, "invariant").get<std::string>(), kCountOf<Invariant>, WordOf<Invariant>);
  }
  hunt.promised_only = At(json, "promised").get<bool>();
  hunt.guided = At(json, "guided").get<bool>();
  for (const Json& text : At(json, "reach")) {
    auto waypoint = sim::ParseWaypoint(text.get<std::string>(), {}, nullptr);
    if (const auto* wrong = std::get_if<std::string>(&waypoint)) Refuse(*wrong);
    hunt.reach.push_back(std::get<sim::Waypoint>(waypoint));
  }
  if (!At(json, "corpus").is_null()) report.corpus = At(json, "corpus").get<std::string>();
  if (!At(json, "runs").is_null()) report.asked = At(json, "runs").get<uint64_t>();
  report.coverage = ReadCoverage(At(json, "shards"), At(json, "covered"), report.asked);
  return report;
}

// `entries` are those that the report has.
sim::RunName ReadName(const Json& json, const sim::Entries& entries) {
  const auto text = json.get<std::string>();
  auto name = sim::ParseRunName(text);
  if (!name) Refuse("no name of a run: " + Quoted(text));
  if (!name->entry.empty() && !entries.contains(name->entry)) {
    Refuse("no world of the entry " + Quoted(name->entry));
  }
  return *std::move(name);
}

sim::KnownKinds ReadKinds(const Json& json) {
  sim::KnownKinds kinds;
  const Json& all = At(json, "all");
  if (all.size() % 3 != 0) Refuse("a kind of step lacks a number");
  for (size_t i = 0; i < all.size(); i += 3) {
    kinds.Add(all[i].get<uint64_t>(),
              {.first = all[i + 1].get<uint64_t>(), .runs = all[i + 2].get<int64_t>()});
  }
  return kinds;
}

std::vector<sim::BranchPoint> ReadPoints(const Json& json, const sim::Entries& entries) {
  std::vector<sim::BranchPoint> points;
  for (const Json& point : json) {
    points.push_back({.name = ReadName(point.at(0), entries),
                      .world = nullptr,
                      .at = {point.at(1).get<int64_t>()},
                      .distance = point.at(2).get<int64_t>(),
                      .picked = point.at(3).get<int64_t>()});
  }
  return points;
}

sim::Guides ReadGuides(const Json& json, const sim::Entries& entries) {
  sim::Guides guides;
  for (const auto& [protocol, of] : json.items()) {
    sim::Guide& guide = guides[protocol];
    for (const Json& cell : At(of, "cells")) {
      sim::Cell& read = guide.cells[cell.at(0).get<uint64_t>()];
      read.runs = cell.at(1).get<int64_t>();
      read.picked = cell.at(2).get<int64_t>();
      read.points = ReadPoints(cell.at(3), entries);
      if (read.points.empty()) Refuse("a cell without a branch point");
    }
    const Json& nearest = At(of, "nearest");
    if (nearest.size() != guide.nearest.size()) Refuse("runs that came close to other things");
    for (size_t i = 0; i < nearest.size(); ++i) guide.nearest[i] = ReadPoints(nearest[i], entries);
  }
  return guides;
}

sim::RunsThat ReadRunsThat(const Json& json, const sim::Entries& entries) {
  sim::RunsThat that{.runs = At(json, "runs").get<int64_t>(), .first = {}};
  if (that.runs > 0) that.first = ReadName(At(json, "first"), entries);
  return that;
}

// The worlds of a corpus, each of the name that it stands by.
sim::Entries ReadEntries(const Json& json) {
  sim::Entries entries;
  for (const auto& [name, scenario] : json.items()) {
    auto world = sim::ParseScenario(sim::DumpJson(scenario), name + ".json");
    if (!world.ok()) Refuse(std::string(world.status().message()));
    if (sim::Corpus::NameOf(*world) != name) Refuse("an entry of a corpus with another name");
    entries.emplace(name, std::make_shared<const sim::Scenario>(*std::move(world)));
  }
  return entries;
}

// Reports of an earlier whorl do not say it.
void ReadNotPromised(const Json& json, sim::HuntTally& tally) {
  if (!json.contains("not_promised")) return;
  ReadValue(At(json, "simulated"), tally.simulated);
  for (const auto& [promise, circumstances] : At(json, "not_promised").items()) {
    const auto invariant = Word(promise, kCountOf<Invariant>, WordOf<Invariant>);
    for (const auto& [word, time] : circumstances.items()) {
      const auto circumstance = Word(word, kCountOf<Circumstance>, WordOf<Circumstance>);
      ReadValue(
          time,
          tally.not_promised[static_cast<size_t>(invariant)][static_cast<size_t>(circumstance)]);
    }
  }
}

sim::HuntTally ReadTally(const Json& json, const sim::Entries& entries) {
  sim::HuntTally tally;
  tally.runs = At(json, "runs").get<int64_t>();
  tally.hash = Unsigned(At(json, "hash"), 16);
  tally.checked = At(json, "checked").get<int64_t>();
  for (const Json& run : At(json, "differing")) tally.differing.push_back(Unsigned(run));
  for (const auto& [word, met] : At(json, "sometimes").items()) {
    const auto goal = Word(word, kCountOf<sim::Sometimes>, WordOf<sim::Sometimes>);
    tally.met[static_cast<size_t>(goal)] = ReadRunsThat(met, entries);
  }
  for (const Json& reached : At(json, "reached"))
    tally.reached.push_back(ReadRunsThat(reached, entries));
  ReadCounts(At(json, "struck"), sim::FaultKindText, tally.struck);
  ReadCounts(At(json, "violated"), WordOf<Invariant>, tally.violated);
  ReadCounts(At(json, "held"), WordOf<Invariant>, tally.held);
  ReadCounts(At(json, "unknown"), WordOf<Invariant>, tally.unknown);
  ReadNotPromised(json, tally);
  tally.kinds = ReadKinds(At(json, "kinds"));
  const Json& distributions = At(json, "distributions");
  tally.faults = ReadHistogram(At(distributions, "faults"));
  tally.nodes = ReadHistogram(At(distributions, "nodes"));
  tally.takeovers = ReadHistogram(At(distributions, "takeovers"));
  tally.unknown_outcomes = ReadHistogram(At(distributions, "unknown_outcomes"));
  return tally;
}

sim::Size ReadSize(const Json& json) {
  return {.faults = At(json, "faults").get<int64_t>(),
          .nodes = At(json, "nodes").get<int64_t>(),
          .locks = At(json, "locks").get<int64_t>(),
          .duration = Time(At(json, "duration"))};
}

// Into the tally of its protocol, whose line stands before it.
void ReadFinding(const Json& json, HuntReport& report) {
  const ProtocolInfo& protocol = Protocol(At(json, "protocol"));
  sim::ViolationKind kind{.invariant = Word(At(json, "invariant").get<std::string>(),
                                            kCountOf<Invariant>, WordOf<Invariant>),
                          .where = At(json, "where").get<std::string>()};
  sim::Finding finding;
  finding.runs = At(json, "runs").get<int64_t>();
  finding.run = Unsigned(At(json, "run"));
  finding.name = ReadName(At(json, "name"), report.hunt.entries.worlds);
  finding.promised = At(json, "promised").get<bool>();
  finding.size = ReadSize(At(json, "drawn"));
  finding.at = sim::Instant{} + Time(At(json, "at"));
  finding.shrink_runs = At(json, "shrink_runs").get<int64_t>();
  if (!At(json, "shrunk").is_null()) {
    auto scenario = sim::ParseScenario(sim::DumpJson(At(json, "scenario")),
                                       NameOfFinding(protocol, kind) + ".json");
    if (!scenario.ok()) Refuse(std::string(scenario.status().message()));
    finding.shrunk = *std::move(scenario);
  }
  const auto tally = report.tallies.find(std::string(protocol.name));
  if (tally == report.tallies.end()) Refuse(Cat("no line of ", protocol.name, " before it"));
  if (!tally->second.findings.emplace(std::move(kind), std::move(finding)).second) {
    Refuse("a second line of this finding");
  }
}

// The line that ends a report.
struct EndOfReport {
  size_t protocols = 0;
  size_t findings = 0;
  bool is_partial = false;
};

class ReportReader {
 public:
  // Throws if this is no line of the report.
  void Read(const std::string& line) {
    const Json json = Json::parse(line);
    CheckHunt(json);
    if (end_) Refuse("a line after the end; give --merge each report as a file of its own");
    const auto kind = At(json, "line").get<std::string>();
    if (kind == "entries") {
      report_.hunt.entries.worlds = ReadEntries(At(json, "entries"));
      return;
    }
    if (kind == "protocol") return ReadProtocol(json);
    if (kind == "finding") return ReadFinding(json, report_);
    if (kind != "end") Refuse("unknown line " + Quoted(kind));
    end_ = {.protocols = At(json, "protocols").get<size_t>(),
            .findings = At(json, "findings").get<size_t>(),
            .is_partial = At(json, "partial").get<bool>()};
    if (!json.contains("last")) return;
    const Json& last = At(json, "last");
    report_.last = {.name = ReadName(At(last, "run"), Worlds()),
                    .hash = Unsigned(At(last, "hash"))};
    if (report_.hunt.guided) report_.guides = ReadGuides(At(json, "guides"), Worlds());
  }

  // Why the report is not whole; empty if it is.
  std::string Missing() const {
    if (!end_) return "cut off: the last line, which counts the others, is missing";
    if (end_->is_partial)
      return "merged with --partial, so that it has a part of the findings only";
    const size_t findings = FindingsOf(report_.tallies).size();
    if (end_->protocols == report_.tallies.size() && end_->findings == findings) {
      return MissingRuns();
    }
    return Cat("lines are missing: of ", std::to_string(end_->protocols), " protocols it has ",
               std::to_string(report_.tallies.size()), ", and of ", std::to_string(end_->findings),
               " findings ", std::to_string(findings));
  }

  const HuntReport& report() const { return report_; }
  bool HasRead() const { return has_read_; }

 private:
  const sim::Entries& Worlds() const { return report_.hunt.entries.worlds; }

  std::string MissingRuns() const {
    const auto told = static_cast<uint64_t>(sim::RunCount(report_.tallies));
    const uint64_t covered = report_.coverage.RunCount();
    if (told == covered) return {};
    return Cat("runs are missing: it covers ", std::to_string(covered), ", and its lines count ",
               std::to_string(told));
  }

  void CheckHunt(const Json& json) {
    CheckFormatName(json, kHuntFormatName);
    if (At(json, "version").get<int>() != kHuntFormat) {
      Refuse("of another version of whorl; merge it with the whorl that wrote it");
    }
    const HuntReport hunt = ReadHunt(At(json, "hunt"));
    if (!std::exchange(has_read_, true)) report_ = hunt;
    if (hunt.hunt == report_.hunt && hunt.asked == report_.asked &&
        hunt.coverage == report_.coverage && hunt.corpus == report_.corpus) {
      return;
    }
    Refuse("of another hunt, or another shard, than the lines before");
  }

  void ReadProtocol(const Json& json) {
    const std::string protocol(Protocol(At(json, "protocol")).name);
    if (!report_.tallies.emplace(protocol, ReadTally(json, Worlds())).second) {
      Refuse("a second line of " + protocol);
    }
  }

  HuntReport report_;
  bool has_read_ = false;
  std::optional<EndOfReport> end_;
};

}  // namespace

absl::StatusOr<HuntReport> ReadReport(std::string_view text, const std::string& path,
                                      bool accepts_partial) {
  const std::string name = Printable(path, 1000);
  const std::vector<std::string> lines = LinesOf(text);
  ReportReader reader;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string refusal = RefusalOf("this is no JSON", [&] { reader.Read(lines[i]); });
    if (refusal.empty()) continue;
    // A file that was cut off within a line: what is before it can be read.
    if (i > 0 && i + 1 == lines.size() && !text.ends_with('\n') && !Json::accept(lines[i])) break;
    return absl::InvalidArgumentError(
        Cat(name, ":", std::to_string(i + 1),
            ": expected a line that whorl hunt --json has written: ", refusal));
  }
  if (!reader.HasRead()) {
    return absl::InvalidArgumentError(Cat(name, ": empty, where whorl hunt --json writes lines"));
  }
  HuntReport report = reader.report();
  const std::string missing = reader.Missing();
  if (missing.empty()) return report;
  if (!accepts_partial) {
    return absl::InvalidArgumentError(Cat(name, ": ", missing, "; hunt ",
                                          ShardsText(report.coverage),
                                          " again, or merge what is there by --partial"));
  }
  report.is_partial = true;
  return report;
}

}  // namespace whorl::cli
