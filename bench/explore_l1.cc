// Measures the speed of the search itself, on the toy lease L1, whose states are cheap to make and to hash.
// Arguments: the last tick, the number of tokens, threads.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "sim/explore/engine/search.h"
#include "tests/sim/explore/toy_lease.h"

namespace whorl::explore {
namespace {

void ExploreToyLease(benchmark::State& state) {
  const ToyLease model(static_cast<uint8_t>(state.range(0)), static_cast<uint8_t>(state.range(1)));
  uint64_t states = 0;
  double bytes = 0;
  for (auto _ : state) {
    const auto result = Explore(model, {.jobs = static_cast<int>(state.range(2))});
    states += result.states;
    bytes = static_cast<double>(result.peak_bytes) / static_cast<double>(result.states);
  }
  state.counters["states/s"] =
      benchmark::Counter(static_cast<double>(states), benchmark::Counter::kIsRate);
  state.counters["bytes/state"] = bytes;
}
BENCHMARK(ExploreToyLease)
    ->Args({6, 4, 1})
    ->Args({10, 7, 1})
    ->Args({10, 7, 2})
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();

}  // namespace
}  // namespace whorl::explore
