#include "sim/bench/cost_tradeoff.h"

namespace whorl::sim {

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

}  // namespace whorl::sim
