// The presets of latency give the means that their sources publish.
#include "sim/world/latency.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace whorl::sim::latency_test {
namespace {

// Over evenly spread draws, in milliseconds.
double MeanMs(const LatencyTable& table) {
  constexpr uint64_t kDraws = 100'000;
  double sum = 0;
  for (uint64_t i = 0; i < kDraws; ++i) {
    sum += static_cast<double>(Pick(table, (2 * i + 1) * (UINT64_MAX / (2 * kDraws))).ns) / 1e6;
  }
  return sum / static_cast<double>(kDraws);
}

// F1, OSDI 2012, table 6: reads 8.7 ms, single-site commits 72.3 ms.
TEST(Latency, MultiRegionHasTheMeansOfF1) {
  const Latencies& latencies = LatenciesOf(Preset::kMultiRegion);
  const double ways = 2 * MeanMs(latencies.one_way);
  EXPECT_NEAR(ways + MeanMs(latencies.service), 8.7, 0.87);
  EXPECT_NEAR(ways + MeanMs(latencies.replication), 72.3, 7.23);
}

// OSDI 2012, table 3: about 1.4 ms for a read at the leader; the documentation: a handful of
// milliseconds for a write.
TEST(Latency, RegionalIsOfAFewMilliseconds) {
  const Latencies& latencies = LatenciesOf(Preset::kRegional);
  const double ways = 2 * MeanMs(latencies.one_way);
  EXPECT_NEAR(ways + MeanMs(latencies.service), 1.8, 0.6);
  EXPECT_NEAR(ways + MeanMs(latencies.replication), 6, 2);
}

TEST(Latency, TablesRise) {
  for (const Preset preset : {Preset::kRegional, Preset::kMultiRegion}) {
    const Latencies& latencies = LatenciesOf(preset);
    for (const LatencyTable* table :
         {&latencies.one_way, &latencies.service, &latencies.replication, &latencies.resource}) {
      for (size_t i = 1; i < table->size(); ++i) EXPECT_LT((*table)[i - 1], (*table)[i]);
    }
  }
}

}  // namespace
}  // namespace whorl::sim::latency_test
