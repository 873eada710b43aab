// Computes quantiles of measured values, with confidence intervals that assume nothing of the
// distribution.
//
// A quantile is an order statistic, and so are the ends of its interval: the number of values below
// the true quantile is binomially distributed, whatever the distribution of the values. Values are
// integers (nanoseconds, or millionths of a ratio), and the arithmetic is exact or plain IEEE, so
// results are the same with every compiler.
// REQUIRES of the intervals: values are independent of each other. (Those of one deployment are
// nearly so.)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/spanner/fields.h"

namespace whorl::sim {

// The confidence of all intervals: at least this many of a thousand contain the true value.
inline constexpr int64_t kConfidencePermille = 950;

// `value` is the least value that a share p of all values does not exceed. It is nothing if that
// value is missing; missing values are greater than all others. An end of the interval is nothing if
// there are too few values to tell.
struct QuantileEstimate {
  std::optional<int64_t> value;
  std::optional<int64_t> low;
  std::optional<int64_t> high;
  WHORL_FIELDS(QuantileEstimate, value, low, high);

  // Whether the whole interval is within `percent` of a hundred of the value.
  bool IsWithin(int64_t percent) const;
};

struct Distribution {
  int64_t count = 0;    // how many values there are
  int64_t missing = 0;  // how many values are greater than all others by an unknown amount
  QuantileEstimate p50;
  QuantileEstimate p90;
  QuantileEstimate p99;
  std::optional<int64_t> max;  // nothing if values are missing or there are none
  std::optional<int64_t> mean;
  // The values that 0, 1, ... 100 percent do not exceed, for curves, without the missing values.
  std::vector<int64_t> percentiles;
  WHORL_FIELDS(Distribution, count, missing, p50, p90, p99, max, mean, percentiles);
};

// The distribution of `values`, in any order, and of `missing` further values.
Distribution DistributionOf(std::vector<int64_t> values, int64_t missing);

// The ranks, from 1 on, between which the quantile lies with the confidence above. An end that
// would be below the first or above the last rank is nothing.
struct Ranks {
  std::optional<int64_t> low;
  std::optional<int64_t> high;
  WHORL_FIELDS(Ranks, low, high);
};
// REQUIRES: count >= 0, 0 < permille < 1000.
Ranks RanksOfInterval(int64_t count, int64_t permille);

// How many of a million, with Wilson's interval for a share of independent trials: it says something of
// none and of all, too. Nothing if there were no trials.
struct ShareEstimate {
  std::optional<int64_t> value;
  std::optional<int64_t> low;
  std::optional<int64_t> high;
  WHORL_FIELDS(ShareEstimate, value, low, high);
};
// REQUIRES: 0 <= count <= all.
ShareEstimate ShareOf(int64_t count, int64_t all);

// How probable it is that chance alone moves as many values one way as this, or more, in either direction. Both
// tests are exact and two-sided: twice the probability of the smaller tail, and at most 1. They are 0 where that
// is too small for a double.

// Of values in pairs, `more` rose and `less` fell; those that stayed say nothing. Each would rise or fall with the
// same probability. (Of values that are yes or no, this is McNemar's test.)
// REQUIRES: both are at least 0.
double SignTest(int64_t more, int64_t less);

// `some` of `all` values, and `other_some` of `other_all` others, have a property. Each choice of as many values
// of both together would be as probable (Fisher's test).
// REQUIRES: 0 <= some <= all, and the same of the others.
double FisherTest(int64_t some, int64_t all, int64_t other_some, int64_t other_all);

// Which of several tests are beyond chance, by their probabilities: all together are wrong with a probability of
// at most `alpha` (Holm's method, which assumes nothing of how they depend on each other).
std::vector<bool> BeyondChance(const std::vector<double>& probabilities, double alpha);

}  // namespace whorl::sim
