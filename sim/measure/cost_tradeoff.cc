#include "sim/measure/cost_tradeoff.h"

#include "sim/measure/takeover_bench.h"
#include "sim/measure/takeover_case.h"

namespace whorl::sim {
namespace {

std::optional<Duration> TimeOf(const QuantileEstimate& quantile) {
  return quantile.value ? std::optional<Duration>(Duration{*quantile.value}) : std::nullopt;
}

}  // namespace

std::vector<Tradeoff> TradeoffsOf(const CostReport& report) {
  std::vector<Tradeoff> tradeoffs;
  for (const CostFigures& figures : report.steady) {
    if (figures.what.followers != report.options.UsualFollowers()) continue;
    tradeoffs.push_back({.protocol = figures.what.protocol,
                         .lease = figures.what.lease,
                         .followers = figures.what.followers,
                         .transactions = figures.rates.transactions,
                         .rpcs = figures.rates.rpcs});
  }
  return tradeoffs;
}

absl::Status MeasureTakeovers(const CostOptions& options, uint64_t runs, int threads,
                              const std::function<BatchStep()>& go_on,
                              std::vector<Tradeoff>& tradeoffs) {
  for (Tradeoff& one : tradeoffs) {
    const TakeoverCase crash = {.protocol = one.protocol,
                                .fault = TakeoverFault::kCrash,
                                .lease = one.lease,
                                .followers = one.followers,
                                .preset = options.preset};
    if (!WhyNot(crash).empty()) continue;
    TakeoverResult result;
    const absl::Status status = MeasureCase(
        {.seed = options.seed, .runs = runs}, crash, threads,
        [&go_on](uint64_t) { return go_on(); }, result);
    if (!status.ok()) return status;
    if (result.interrupted) break;
    one.takeover_p50 = TimeOf(result.first_write.p50);
    one.takeover_p99 = TimeOf(result.first_write.p99);
    one.least_p50 = TimeOf(result.least.p50);
    one.least_p99 = TimeOf(result.least.p99);
  }
  return absl::OkStatus();
}

}  // namespace whorl::sim
