#include "sim/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/keep_ties.h"
#include "sim/world/mix.h"

namespace whorl::sim {
namespace {

// The weights of 0, 1, ... n successes of n with probability p, relative to the greatest weight.
// They are computed from the ratios of neighbours, without a library's logarithm.
std::vector<double> BinomialWeights(int64_t n, double p) {
  std::vector<double> weights(static_cast<size_t>(n) + 1, 0);
  const auto mode = static_cast<int64_t>(static_cast<double>(n + 1) * p);
  const double odds = p / (1 - p);
  weights[static_cast<size_t>(mode)] = 1;
  for (int64_t k = mode; k < n; ++k) {
    const double ratio = static_cast<double>(n - k) / static_cast<double>(k + 1) * odds;
    weights[static_cast<size_t>(k) + 1] = weights[static_cast<size_t>(k)] * ratio;
  }
  for (int64_t k = mode; k > 0; --k) {
    const double ratio = static_cast<double>(k) / static_cast<double>(n - k + 1) / odds;
    weights[static_cast<size_t>(k) - 1] = weights[static_cast<size_t>(k)] * ratio;
  }
  return weights;
}

// The rank, from 1 on, of the least of `count` values that a share of `permille` does not exceed.
int64_t RankOf(int64_t count, int64_t permille) { return (count * permille + 999) / 1000; }

class Sorted {
 public:
  Sorted(const std::vector<int64_t>& values, int64_t missing)
      : values_(values), all_(static_cast<int64_t>(values.size()) + missing) {}

  QuantileEstimate At(int64_t permille) const {
    if (all_ == 0) return {};
    const Ranks ranks = RanksOfInterval(all_, permille);
    return {.value = Ranked(RankOf(all_, permille)),
            .low = ranks.low ? Ranked(*ranks.low) : std::nullopt,
            .high = ranks.high ? Ranked(*ranks.high) : std::nullopt};
  }

 private:
  std::optional<int64_t> Ranked(int64_t rank) const {
    if (rank > static_cast<int64_t>(values_.size())) return std::nullopt;
    return values_[static_cast<size_t>(rank) - 1];
  }

  const std::vector<int64_t>& values_;
  int64_t all_;
};

std::vector<int64_t> PercentilesOf(const std::vector<int64_t>& sorted) {
  std::vector<int64_t> percentiles;
  const auto count = static_cast<int64_t>(sorted.size());
  for (int64_t percent = 0; percent <= 100 && count > 0; ++percent) {
    const int64_t rank = std::max<int64_t>(RankOf(count, percent * 10), 1);
    percentiles.push_back(sorted[static_cast<size_t>(rank) - 1]);
  }
  return percentiles;
}

}  // namespace

bool QuantileEstimate::IsWithin(int64_t percent) const {
  if (!value || !low || !high) return false;
  const auto least = static_cast<Int128>(*value) * (100 - percent);
  const auto most = static_cast<Int128>(*value) * (100 + percent);
  return static_cast<Int128>(*low) * 100 >= least && static_cast<Int128>(*high) * 100 <= most;
}

Ranks RanksOfInterval(int64_t count, int64_t permille) {
  if (count == 0) return {};
  const std::vector<double> weights = BinomialWeights(count, static_cast<double>(permille) / 1000);
  double sum = 0;
  for (const double weight : weights) sum += weight;
  const double tail = sum * static_cast<double>(1000 - kConfidencePermille) / 2000;
  Ranks ranks;
  // The value of rank r is above the quantile if fewer than r values are at or below the quantile.
  double below = 0;
  for (int64_t rank = 1; rank <= count; ++rank) {
    below += weights[static_cast<size_t>(rank) - 1];
    if (below <= tail) ranks.low = rank;
    if (below < sum - tail) continue;
    ranks.high = rank;
    break;
  }
  return ranks;
}

Distribution DistributionOf(std::vector<int64_t> values, int64_t missing) {
  std::ranges::sort(values);
  const Sorted sorted(values, missing);
  Distribution distribution{.count = static_cast<int64_t>(values.size()),
                            .missing = missing,
                            .p50 = sorted.At(500),
                            .p90 = sorted.At(900),
                            .p99 = sorted.At(990),
                            .max = {},
                            .mean = {},
                            .percentiles = PercentilesOf(values)};
  if (values.empty() || missing > 0) return distribution;
  distribution.max = values.back();
  Int128 sum = 0;
  for (const int64_t value : values) sum += value;
  distribution.mean = static_cast<int64_t>(sum / distribution.count);
  return distribution;
}

ShareEstimate ShareOf(int64_t count, int64_t all) {
  if (all == 0) return {};
  constexpr double kDeviations = 1.959963984540054;  // of kConfidencePermille
  static_assert(kConfidencePermille == 950);
  const auto trials = static_cast<double>(all);
  const double share = static_cast<double>(count) / trials;
  const double square = kDeviations * kDeviations / trials;
  const double middle = (share + square / 2) / (1 + square);
  const double spread = share * (1 - share) / trials + square / trials / 4;
  // IEEE rounds square roots exactly, so they are the same everywhere.
  const double half = kDeviations * std::sqrt(spread) / (1 + square);
  const auto millionths = [](double of_one) {
    return static_cast<int64_t>(std::clamp(of_one, 0.0, 1.0) * 1e6 + 0.5);
  };
  return {.value = millionths(share),
          .low = count == 0 ? 0 : millionths(middle - half),
          .high = count == all ? 1'000'000 : millionths(middle + half)};
}

namespace {

// Twice the smaller of the tails that begin at `observed`, of a distribution with these weights.
double TwoSided(const std::vector<double>& weights, size_t observed) {
  double below = 0;
  double above = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (i <= observed) below += weights[i];
    if (i >= observed) above += weights[i];
  }
  const double sum = below + above - weights[observed];
  return std::min(1.0, 2 * std::min(below, above) / sum);
}

// The weights of `least`, `least` + 1, ... `most` marked values among `all`, of `marked` ones among all and
// `others`, relative to the greatest weight.
std::vector<double> HypergeometricWeights(int64_t all, int64_t others, int64_t marked,
                                          int64_t least, int64_t most) {
  const auto ratio = [&](int64_t k) {  // of the weight of k + 1 to that of k
    return static_cast<double>(all - k) / static_cast<double>(k + 1) *
           (static_cast<double>(marked - k) / static_cast<double>(others - marked + k + 1));
  };
  const auto place = [least](int64_t k) { return static_cast<size_t>(k - least); };
  std::vector<double> weights(place(most) + 1, 0);
  const auto middle = static_cast<double>(all + 1) * static_cast<double>(marked + 1) /
                      static_cast<double>(all + others + 2);
  const int64_t mode = std::clamp(static_cast<int64_t>(middle), least, most);
  weights[place(mode)] = 1;
  for (int64_t k = mode; k < most; ++k) weights[place(k + 1)] = weights[place(k)] * ratio(k);
  for (int64_t k = mode; k > least; --k) weights[place(k - 1)] = weights[place(k)] / ratio(k - 1);
  return weights;
}

}  // namespace

double SignTest(int64_t more, int64_t less) {
  return TwoSided(BinomialWeights(more + less, 0.5), static_cast<size_t>(more));
}

double FisherTest(int64_t some, int64_t all, int64_t other_some, int64_t other_all) {
  const int64_t marked = some + other_some;
  const int64_t least = std::max<int64_t>(0, marked - other_all);
  const int64_t most = std::min(all, marked);
  return TwoSided(HypergeometricWeights(all, other_all, marked, least, most),
                  static_cast<size_t>(some - least));
}

std::vector<bool> BeyondChance(const std::vector<double>& probabilities, double alpha) {
  std::vector<size_t> order(probabilities.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  SortKeepingTies(order, [&](size_t i) { return probabilities[i]; });
  std::vector<bool> beyond(probabilities.size(), false);
  for (size_t i = 0; i < order.size(); ++i) {
    // The least of all is held to alpha / n, the next to alpha / (n - 1), until one is not below its bound.
    if (probabilities[order[i]] * static_cast<double>(order.size() - i) >= alpha) break;
    beyond[order[i]] = true;
  }
  return beyond;
}

}  // namespace whorl::sim
