// Measures how fast worlds run: simulated seconds for one second of wall time, on one core, with all
// checkers and the rolling hash on, as in `whorl replay`.
//
//   ./dev bench                                  all
//   ./dev bench --benchmark_filter=Nodes/3       one
//
// Counters: `ratio` is simulated : wall time; `events_per_sim_s` and `rpcs_per_sim_s` say how much
// happens in a simulated second, without which a ratio means nothing. The label is the rolling
// hash, equal to the one that `whorl replay --json bench/three_nodes_one_day.json` prints.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>

#include "sim/judge/run.h"
#include "sim/scenario/loader.h"

namespace whorl::sim {
namespace {

Scenario LoadBench(int64_t nodes) {
  const std::string name = nodes == 3 ? "three_nodes_one_day" : "hundred_nodes_one_day";
  auto scenario = LoadScenario(std::string(WHORL_SOURCE_DIR) + "/bench/" + name + ".json");
  return *scenario;
}

void Nodes(benchmark::State& state) {
  const Scenario scenario = LoadBench(state.range(0));
  RunResult result;
  for (auto _ : state) result = RunScenario(scenario, scenario.seed, nullptr);
  const double simulated = static_cast<double>(result.simulated.ns) / 1e9;
  const auto runs = static_cast<double>(state.iterations());
  state.counters["ratio"] = benchmark::Counter(simulated * runs, benchmark::Counter::kIsRate);
  state.counters["events_per_sim_s"] = static_cast<double>(result.events) / simulated;
  state.counters["rpcs_per_sim_s"] =
      static_cast<double>(result.checks.metrics[Metric::kRpcs]) / simulated;
  state.counters["time_per_event"] =
      benchmark::Counter(static_cast<double>(result.events) * runs,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  std::array<char, 24> label{};
  std::snprintf(label.data(), label.size(), "hash %016" PRIx64, result.hash);
  state.SetLabel(label.data());
}
BENCHMARK(Nodes)->Arg(3)->Arg(100)->Unit(benchmark::kMillisecond)->UseRealTime();

// Peak memory of the process, in MiB, after a run of N simulated days: it must not grow with N.
void MemoryAfterDays(benchmark::State& state) {
  Scenario scenario = LoadBench(3);
  scenario.duration = scenario.duration * state.range(0);
  for (auto _ : state) benchmark::DoNotOptimize(RunScenario(scenario, scenario.seed, nullptr));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_mib"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(MemoryAfterDays)->Arg(1)->Arg(10)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace whorl::sim
