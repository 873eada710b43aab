#include "sim/world/latency.h"

#include "sim/world/mix.h"

namespace whorl::sim {
namespace {

// The quantiles of LatencyTable, in units of 2^-32.
constexpr std::array<uint64_t, 7> kQuantiles = {0,          2147483648, 3865470566, 4252017623,
                                                4290672328, 4294537799, 4294967296};
constexpr size_t kP999 = 4;

constexpr Latencies kRegional = {
    .one_way = {Microseconds(150), Microseconds(300), Microseconds(600), Microseconds(2'000),
                Microseconds(10'000), Microseconds(60'000), Microseconds(120'000)},
    .service = {Microseconds(200), Microseconds(700), Microseconds(1'500), Microseconds(5'000),
                Microseconds(20'000), Microseconds(60'000), Microseconds(120'000)},
    .replication = {Microseconds(2'000), Microseconds(4'500), Microseconds(8'000),
                    Microseconds(15'000), Microseconds(40'000), Microseconds(120'000),
                    Microseconds(250'000)},
    .resource = {Microseconds(200), Microseconds(500), Microseconds(1'000), Microseconds(5'000),
                 Microseconds(20'000), Microseconds(60'000), Microseconds(120'000)},
};

constexpr Latencies kMultiRegion = {
    .one_way = {Microseconds(500), Microseconds(1'200), Microseconds(3'000), Microseconds(10'000),
                Microseconds(30'000), Microseconds(80'000), Microseconds(150'000)},
    .service = {Microseconds(500), Microseconds(3'000), Microseconds(8'000), Microseconds(20'000),
                Microseconds(50'000), Microseconds(100'000), Microseconds(200'000)},
    .replication = {Microseconds(45'000), Microseconds(62'000), Microseconds(80'000),
                    Microseconds(120'000), Microseconds(200'000), Microseconds(300'000),
                    Microseconds(400'000)},
    .resource = {Microseconds(200), Microseconds(500), Microseconds(1'000), Microseconds(5'000),
                 Microseconds(20'000), Microseconds(60'000), Microseconds(120'000)},
};

constexpr Latencies kNone = {};

}  // namespace

const Latencies& LatenciesOf(Preset preset) {
  switch (preset) {
    case Preset::kRegional:
      return kRegional;
    case Preset::kMultiRegion:
      return kMultiRegion;
    case Preset::kNone:
      break;
  }
  return kNone;
}

Duration Pick(const LatencyTable& table, uint64_t bits) {
  const uint64_t u = bits >> 32;
  size_t above = 1;
  while (u >= kQuantiles[above]) ++above;
  const uint64_t from = kQuantiles[above - 1];
  const uint64_t width = kQuantiles[above] - from;
  const auto rise = static_cast<uint64_t>((table[above] - table[above - 1]).ns);
  // rise < 2^30 ns and u - from < 2^32, so the product fits.
  return table[above - 1] + Duration{static_cast<int64_t>(rise * (u - from) / width)};
}

Duration Pick(const DelaySpec& delay, uint64_t bits) {
  struct Quantile {
    uint64_t at;  // in units of 2^-32
    Duration value;
  };
  const std::array<Quantile, 4> quantiles = {{{0, delay.min},
                                              {kQuantiles[1], delay.p50},
                                              {kQuantiles[3], delay.p99},
                                              {kQuantiles[6], delay.max}}};
  const uint64_t u = bits >> 32;
  size_t above = 1;
  while (u >= quantiles[above].at) ++above;
  const Quantile& low = quantiles[above - 1];
  const Quantile& high = quantiles[above];
  const auto rise = static_cast<Uint128>((high.value - low.value).ns);
  return low.value + Duration{static_cast<int64_t>(rise * (u - low.at) / (high.at - low.at))};
}

Duration RoundTripP999(Preset preset) {
  const Latencies& latencies = LatenciesOf(preset);
  return latencies.one_way[kP999] * 2 + latencies.service[kP999] + latencies.replication[kP999];
}

}  // namespace whorl::sim
