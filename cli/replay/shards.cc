#include "cli/replay/shards.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/text.h"
#include "cli/shards/load.h"
#include "cli/shards/report_file.h"
#include "sim/report/json_print.h"

namespace whorl::cli {
namespace {

using sim::Json;

constexpr ShardFormat kReplayShard = {
    .name = "whorl-replay-shard", .version = 2, .command = "whorl replay --shard"};

// [seed, hash, violated, ...]: there may be very many.
Json KeptRunJson(const SeedCounts::KeptRun& run) {
  Json json = Json::array({std::to_string(run.seed), HashText(run.hash)});
  for (const Invariant invariant : run.violated) json.push_back(std::string(WordOf(invariant)));
  return json;
}

SeedCounts::KeptRun ReadKeptRun(const Json& json) {
  SeedCounts::KeptRun run{.seed = Unsigned(json.at(0)), .hash = Unsigned(json.at(1), 16)};
  for (size_t i = 2; i < json.size(); ++i) ReadValue(json[i], run.violated.emplace_back());
  return run;
}

Json SeedCountsJson(const SeedCounts& counts) {
  const sim::JsonPrinter printer(sim::Names{});
  Json json = Json::object();
  json["count"] = counts.runs;
  Json& metrics = json["metrics"] = Json::object();
  for (const auto metric : AllOf<sim::Metric>()) {
    metrics[std::string(WordOf(metric))] =
        printer.Print("range", counts.metrics[static_cast<size_t>(metric)]);
  }
  json["simulated"] = printer.Print("simulated", counts.simulated);
  json["wall_seconds"] = counts.wall_seconds;
  json["differing"] = printer.Print("differing", counts.differing);
  Json& broken = json["broken_promises"] = Json::array();
  for (const Invariant invariant : AllOf<Invariant>()) {
    const InvariantTally& tally = counts.invariants[static_cast<size_t>(invariant)];
    if (tally.breaks_promise) broken.push_back(std::string(WordOf(invariant)));
  }
  Json& runs = json["runs"] = Json::array();
  for (const SeedCounts::KeptRun& run : counts.kept) runs.push_back(KeptRunJson(run));
  return json;
}

SeedCounts ReadSeedCounts(const Json& json) {
  SeedCounts counts;
  counts.runs = At(json, "count").get<uint64_t>();
  for (const auto metric : AllOf<sim::Metric>()) {
    ReadFields(At(At(json, "metrics"), WordOf(metric)),
               counts.metrics[static_cast<size_t>(metric)]);
  }
  ReadValue(At(json, "simulated"), counts.simulated);
  counts.wall_seconds = At(json, "wall_seconds").get<double>();
  ReadValue(At(json, "differing"), counts.differing);
  for (const Json& run : At(json, "runs")) {
    counts.kept.push_back(ReadKeptRun(run));
    for (const Invariant invariant : counts.kept.back().violated) {
      InvariantTally& tally = counts.invariants[static_cast<size_t>(invariant)];
      if (tally.runs++ == 0) tally.first_seed = counts.kept.back().seed;
    }
  }
  std::vector<Invariant> broken;
  ReadValue(At(json, "broken_promises"), broken);
  for (const Invariant invariant : broken) {
    counts.invariants[static_cast<size_t>(invariant)].breaks_promise = true;
  }
  if (counts.kept.size() != counts.runs) Refuse("runs are missing");
  return counts;
}

ReplayShard ReadReplayShard(const Json& json) {
  ReplayShard shard;
  ReadValue(At(json, "seed"), shard.seed);
  shard.repeat = At(json, "repeat").get<uint64_t>();
  shard.check_determinism = At(json, "check_determinism").get<bool>();
  uint64_t runs = 0;
  for (const Json& scenario : At(json, "scenarios")) {
    shard.scenarios.push_back({.path = At(scenario, "path").get<std::string>(),
                               .text = At(scenario, "text").get<std::string>(),
                               .counts = ReadSeedCounts(At(scenario, "counts"))});
    runs += shard.scenarios.back().counts.runs;
  }
  shard.coverage = ReadCoverage(At(json, "shards"), At(json, "covered"), shard.JobCount());
  if (runs != shard.coverage.RunCount()) Refuse("runs are missing");
  return shard;
}

bool IsOfTheSameReplay(const ReplayShard& one, const ReplayShard& other) {
  return one.seed == other.seed && one.repeat == other.repeat &&
         one.check_determinism == other.check_determinism &&
         std::ranges::equal(one.scenarios, other.scenarios, [](const auto& a, const auto& b) {
           return a.path == b.path && a.text == b.text;
         });
}

bool AreOfTheSameRuns(const ReplayShard& one, const ReplayShard& other) {
  return std::ranges::equal(one.scenarios, other.scenarios, [](const auto& a, const auto& b) {
    return a.counts.AreOfTheSameRuns(b.counts);
  });
}

constexpr ReportKind<ReplayShard> kReplays = {
    .format = kReplayShard,
    .read = &ReadReplayShard,
    .are_of_one_work = &IsOfTheSameReplay,
    .are_equal = &AreOfTheSameRuns,
    .other_work = "of another replay (other scenarios, --seed, --repeat or --check-determinism)",
    .runs = "runs"};

}  // namespace

std::string ReplayShardText(const ReplayShard& shard) {
  Json json = HeadOfShardReport(kReplayShard, shard.coverage);
  json["seed"] = nullptr;
  if (shard.seed) json["seed"] = std::to_string(*shard.seed);
  json["repeat"] = shard.repeat;
  json["check_determinism"] = shard.check_determinism;
  Json& scenarios = json["scenarios"] = Json::array();
  for (const ReplayShard::OfScenario& of : shard.scenarios) {
    scenarios.push_back(
        {{"path", of.path}, {"text", of.text}, {"counts", SeedCountsJson(of.counts)}});
  }
  return sim::DumpJson(json) + "\n";
}

absl::StatusOr<ReplayShard> LoadReplays(const std::vector<std::string>& paths) {
  auto loaded = LoadReports(paths, kReplays);
  if (!loaded.ok()) return loaded.status();
  ReplayShard sum = std::move(loaded->reports.front());
  for (size_t i = 1; i < loaded->reports.size(); ++i) {
    const ReplayShard& shard = loaded->reports[i];
    for (size_t s = 0; s < sum.scenarios.size(); ++s) {
      sum.scenarios[s].counts.Add(shard.scenarios[s].counts);
    }
  }
  sum.coverage = loaded->coverage;
  return sum;
}

}  // namespace whorl::cli
