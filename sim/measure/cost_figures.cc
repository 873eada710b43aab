#include "sim/measure/cost_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace whorl::sim {
namespace {

using Numbers = std::array<double, 13>;

Numbers NumbersOf(const CostRates& rates) {
  Numbers numbers{};
  size_t i = 0;
  VisitFields(rates, [&](std::string_view, double rate) { numbers.at(i++) = rate; });
  return numbers;
}

CostRates RatesOf(const Numbers& n) {
  return {n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11], n[12]};
}

}  // namespace

CostFigures FiguresOf(const CostResult& result) {
  const CallCounts& steady = result.steady;
  CostFigures figures = {.what = result.what,
                         .measured = true,
                         .runs = result.runs,
                         .takeovers = result.takeovers,
                         .early_grants = result.early_grants};
  figures.rates = {.rpcs = result.PerHour(steady.rpcs),
                   .reads = result.PerHour(steady.reads),
                   .transactions = result.PerHour(steady.transactions),
                   .aborted = result.PerHour(steady.aborted),
                   .rows = result.PerHour(steady.rows),
                   .statements = result.PerHour(steady.statements),
                   .commits = result.PerHour(steady.commits),
                   .peak = static_cast<double>(result.steady_peak)};
  if (result.takeovers == 0) return figures;
  CostRates& rates = figures.rates;
  rates.extra_rpcs = result.ExtraPerTakeover(&CallCounts::rpcs);
  rates.extra_transactions = result.ExtraPerTakeover(&CallCounts::transactions);
  rates.takeover_aborted =
      static_cast<double>(result.takeover.aborted) / static_cast<double>(result.takeovers);
  rates.takeover_peak = static_cast<double>(result.takeover_peak);
  rates.first_second = static_cast<double>(result.first_second);
  return figures;
}

CostFigures WithFollowers(const CostFigures& few, const CostFigures& many, int64_t followers) {
  const double share = static_cast<double>(followers - few.what.followers) /
                       static_cast<double>(many.what.followers - few.what.followers);
  const Numbers from = NumbersOf(few.rates);
  const Numbers to = NumbersOf(many.rates);
  Numbers numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = from[i] + (to[i] - from[i]) * share;
  CostFigures figures = {.what = many.what, .measured = false};
  figures.what.followers = followers;
  figures.rates = RatesOf(numbers);
  // Figures of rare events are uncertain, so the line may go below zero.
  for (double* rate : {&figures.rates.aborted, &figures.rates.takeover_aborted}) {
    *rate = std::max(*rate, 0.0);
  }
  return figures;
}

CostFigures WithLocks(const CostFigures& one, int64_t locks) {
  Numbers numbers = NumbersOf(one.rates);
  for (double& number : numbers) number *= static_cast<double>(locks);
  CostFigures figures = {.what = one.what, .measured = false};
  figures.what.locks = locks;
  figures.rates = RatesOf(numbers);
  figures.rates.extra_rpcs = one.rates.extra_rpcs;
  figures.rates.extra_transactions = one.rates.extra_transactions;
  figures.rates.takeover_aborted = one.rates.takeover_aborted;
  return figures;
}

double DeviationOf(const CostFigures& measured, const CostFigures& by_law) {
  return std::abs(by_law.rates.rpcs - measured.rates.rpcs) / measured.rates.rpcs;
}

double UnitsOf(const CostRates& rates, Preset preset) {
  constexpr double kSecondsOfHour = 3600;
  constexpr double kUnitsOfNode = 1000;
  const Throughput throughput = ThroughputOf(preset);
  const double nodes = rates.statements / kSecondsOfHour / throughput.reads_per_second +
                       rates.commits / kSecondsOfHour / throughput.writes_per_second;
  return nodes * kUnitsOfNode / throughput.cpu_share;
}

int64_t InstanceFor(double units) {
  constexpr int64_t kSmallest = 100;
  constexpr int64_t kNode = 1000;
  const int64_t step = units <= static_cast<double>(kNode) ? kSmallest : kNode;
  const auto steps = static_cast<int64_t>(std::ceil(units / static_cast<double>(step)));
  return std::max<int64_t>(1, steps) * step;
}

}  // namespace whorl::sim
