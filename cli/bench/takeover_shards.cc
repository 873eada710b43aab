#include "cli/bench/takeover_shards.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "cli/shards/json_read.h"
#include "cli/shards/pick.h"
#include "cli/shards/report_file.h"
#include "sim/measure/takeover.h"
#include "sim/report/json_print.h"
#include "sim/scenario/error_text.h"

namespace whorl::cli {
namespace {

using sim::Cat;
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
    if (FindProtocol(protocol) == nullptr) Refuse("unknown protocol " + sim::Quoted(protocol));
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

ReportOfPart PartOfTakeovers(const std::string& path, const TakeoverShard& shard) {
  return {.path = path, .coverage = shard.coverage};
}

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
  std::vector<TakeoverShard> shards;
  std::vector<ReportOfPart> parts;
  for (const std::string& path : paths) {
    TakeoverShard& shard = shards.emplace_back();
    const absl::Status read = ReadShardReport(
        path, kTakeoverShard, [&](const Json& json) { shard = ReadTakeoverShard(json); });
    if (!read.ok()) return read;
    const TakeoverShard& first = shards.front();
    if (shard.grid != first.grid || shard.options != first.options) {
      return absl::InvalidArgumentError(Cat(
          sim::Printable(path, 1000), ": of another bench (other cases, --runs or --seed) than ",
          sim::Printable(paths.front(), 1000)));
    }
    parts.push_back(PartOfTakeovers(path, shard));
  }
  const auto picked = PickReports(parts, [&](size_t from, size_t into) -> absl::Status {
    if (shards[from].results == shards[into].results) return absl::OkStatus();
    return absl::DataLossError(
        Cat(SharedText(parts[from], parts[into]),
            ", and the same cases came out otherwise: a mistake of whorl's, or one of the two was "
            "written by another build"));
  });
  if (!picked.ok()) return picked.status();
  TakeoverShard sum = std::move(shards[picked->places.front()]);
  for (size_t i = 1; i < picked->places.size(); ++i) {
    sum.results.merge(shards[picked->places[i]].results);
  }
  sum.coverage = picked->coverage;
  return sum;
}

}  // namespace whorl::cli
