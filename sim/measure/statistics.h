// Quantiles of measured values, with confidence intervals that assume nothing of the distribution.
//
// A quantile is an order statistic, and so are the ends of its interval: how many of n values lie
// below the true quantile is binomial, whatever they are distributed like. Values are integers
// (nanoseconds, or millionths of a ratio), and all arithmetic is exact or IEEE's own, so every
// compiler finds the same ones.
// REQUIRES of the intervals: values are independent of each other. (Those of one deployment are
// nearly so.)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/spanner/fields.h"

namespace whorl::sim {

// Of all intervals: in so many of a thousand repetitions at least, the truth lies within.
inline constexpr int64_t kConfidencePermille = 950;

// `value` is the least value that a share p of all values does not exceed. Nothing where that is
// one of the missing ones (which are greater than all others), and for an end of the interval where
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
  int64_t count = 0;    // of values
  int64_t missing = 0;  // of values that are greater than all others, by nobody knows how much
  QuantileEstimate p50;
  QuantileEstimate p90;
  QuantileEstimate p99;
  std::optional<int64_t> max;  // nothing when some are missing, or there are none
  std::optional<int64_t> mean;
  // The values that 0, 1, ... 100 percent do not exceed, for curves; missing ones are left out.
  std::vector<int64_t> percentiles;
  WHORL_FIELDS(Distribution, count, missing, p50, p90, p99, max, mean, percentiles);
};

// Of `values`, in any order, and `missing` ones beside them.
Distribution DistributionOf(std::vector<int64_t> values, int64_t missing);

// The ranks, from 1 on, between which the quantile lies with the confidence above; nothing for an
// end that is beyond the first or the last of them.
struct Ranks {
  std::optional<int64_t> low;
  std::optional<int64_t> high;
  WHORL_FIELDS(Ranks, low, high);
};
// REQUIRES: count >= 0, 0 < permille < 1000.
Ranks RanksOfInterval(int64_t count, int64_t permille);

}  // namespace whorl::sim
