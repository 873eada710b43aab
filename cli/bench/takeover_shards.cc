#include "cli/bench/takeover_shards.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "cli/shards/load.h"
#include "cli/shards/report_file.h"
#include "sim/measure/takeover.h"
#include "sim/report/json_print.h"

namespace whorl::cli {
namespace {

using sim::Json;

constexpr ShardFormat kTakeoverShard = {
    .name = "whorl-takeover-shard", .version = 1, .command = "whorl bench takeover --shard"};

std::vector<size_t> DealtOrder(const sim::TakeoverCases& cases, uint64_t seed) {
  std::vector<size_t> order(cases.cases.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t place) {
    return std::pair(sim::SeedOfTakeover(seed, cases.cases[place], 0), place);
  });
  return order;
}

TakeoverShard ReadTakeoverShard(const Json& json) {
  TakeoverShard shard;
  ReadFields(At(json, "grid"), shard.grid);
  ReadFields(At(json, "options"), shard.options);
  for (const std::string& protocol : shard.grid.protocols) {
    if (FindProtocol(protocol) == nullptr) Refuse("unknown protocol " + Quoted(protocol));
  }
  const sim::TakeoverCases cases = sim::CasesOf(shard.grid);
  shard.coverage = ReadCoverage(At(json, "shards"), At(json, "covered"), cases.cases.size());
  for (const Json& result : At(json, "results")) {
    const auto place = At(result, "case").get<size_t>();
    if (place >= cases.cases.size()) Refuse("there is no such case");
    ReadFields(At(result, "result"), shard.results[place]);
    if (shard.results[place].measured != cases.cases[place]) Refuse("a result is of another case");
  }
  if (shard.results.size() != shard.coverage.RunCount()) Refuse("results are missing");
  return shard;
}

constexpr ReportKind<TakeoverShard> kTakeovers = {
    .format = kTakeoverShard,
    .read = &ReadTakeoverShard,
    .are_of_one_work =
        [](const TakeoverShard& one, const TakeoverShard& other) {
          return one.grid == other.grid && one.options == other.options;
        },
    .are_equal = [](const TakeoverShard& one,
                    const TakeoverShard& other) { return one.results == other.results; },
    .other_work = "of another bench (other cases, --runs or --seed)",
    .runs = "cases"};

}  // namespace

std::vector<size_t> CasesOfShard(const sim::TakeoverCases& cases, uint64_t seed, uint64_t shard,
                                 uint64_t shards) {
  const std::vector<size_t> order = DealtOrder(cases, seed);
  std::vector<size_t> mine;
  for (size_t i = shard; i < order.size(); i += shards) mine.push_back(order[i]);
  return mine;
}

TakeoverReport ReportOf(const TakeoverShard& shard) {
  TakeoverReport report;
  report.options = shard.options;
  for (const auto& [place, result] : shard.results) report.results.push_back(result);
  report.left_out = sim::CasesOf(shard.grid).left_out;
  return report;
}

std::string TakeoverShardText(const TakeoverShard& shard) {
  const sim::JsonPrinter printer(sim::Names{});
  Json json = HeadOfShardReport(kTakeoverShard, shard.coverage);
  json["options"] = printer.Print("options", shard.options);
  json["grid"] = printer.Print("grid", shard.grid);
  Json& results = json["results"] = Json::array();
  for (const auto& [place, result] : shard.results) {
    results.push_back({{"case", place}, {"result", printer.Print("result", result)}});
  }
  return sim::DumpJson(json) + "\n";
}

absl::StatusOr<TakeoverShard> LoadTakeovers(const std::vector<std::string>& paths) {
  auto loaded = LoadReports(paths, kTakeovers);
  if (!loaded.ok()) return loaded.status();
  TakeoverShard sum = std::move(loaded->reports.front());
  for (size_t i = 1; i < loaded->reports.size(); ++i) sum.results.merge(loaded->reports[i].results);
  sum.coverage = loaded->coverage;
  return sum;
}

}  // namespace whorl::cli
