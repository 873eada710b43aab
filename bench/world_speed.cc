// Measures what the speed of whole runs consists of: worlds of other sizes, runs of a hunt, copying,
// stepping, comparing and fingerprinting a world, SQL, and the lines of a trace.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <streambuf>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "protocol/spanner/sql.h"
#include "sim/explore/components/canonical_world.h"
#include "sim/hunt/hunt.h"
#include "sim/judge/run.h"
#include "sim/report/trace.h"
#include "sim/scenario/scenario.h"
#include "sim/world/driver.h"
#include "spanner_model/catalogue.h"
#include "spanner_model/sql/compile.h"

namespace whorl::sim {
namespace {

// A quiet time of spindle_v2, lease 10 s: the leader asks HasLock and writes once a second, and the
// others follow by callback.
Scenario QuietWorld(int64_t nodes, Duration duration) {
  Scenario scenario;
  scenario.name = "quiet";
  scenario.about = "The speed of a quiet time, without faults.";
  scenario.protocol = "spindle_v2";
  scenario.locks = {"lock"};
  scenario.duration = duration;
  scenario.seed = 1;
  for (int64_t i = 0; i < nodes; ++i) {
    NodeSpec node;
    node.name = i == 0 ? "leader" : Cat("follower", std::to_string(i));
    node.locks = {0};
    node.lease = Seconds(10);
    node.use = i == 0 ? Use::kHasLock : Use::kCallback;
    if (i > 0) node.start_at = Instant{} + Seconds(1);
    scenario.nodes.push_back(std::move(node));
  }
  return scenario;
}

// The duration of a QuietWorld whose run takes a fraction of a second and is mostly steady state.
Duration QuietDuration(int64_t nodes) {
  constexpr int64_t kNodeSeconds = 300'000;
  return Seconds(std::max<int64_t>(600, kNodeSeconds / nodes));
}

// World number `run` of a hunt of fenced_lease, of 120 simulated seconds, as `whorl hunt` draws it.
Scenario HuntedWorld(uint64_t run) {
  HuntOptions options;
  options.protocols = {"fenced_lease"};
  options.world.duration = Seconds(120);
  return WorldOfRun(options, run);
}

// Counters as in replay_speed.cc. Any number of nodes, without a file for each.
void QuietNodes(benchmark::State& state) {
  const Scenario scenario = QuietWorld(state.range(0), QuietDuration(state.range(0)));
  RunResult result;
  for (auto _ : state) result = RunScenario(scenario, scenario.seed, nullptr);
  const auto runs = static_cast<double>(state.iterations());
  const double simulated = static_cast<double>(result.simulated.ns) / 1e9;
  state.counters["ratio"] = benchmark::Counter(simulated * runs, benchmark::Counter::kIsRate);
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(result.events) * runs, benchmark::Counter::kIsRate);
}
BENCHMARK(QuietNodes)->Arg(3)->Arg(10)->Arg(100)->Arg(500)->Unit(benchmark::kMillisecond);

// Worlds of fenced_lease as `whorl hunt` draws them, drawing included, of 120 simulated seconds.
void HuntedRuns(benchmark::State& state) {
  uint64_t run = 0;
  for (auto _ : state) {
    const Scenario scenario = HuntedWorld(run++ % 500);
    benchmark::DoNotOptimize(RunScenario(scenario, scenario.seed, nullptr));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(HuntedRuns)->Iterations(500)->Unit(benchmark::kMicrosecond);

// --- a world as a value --------------------------------------------------------------------------

size_t HeapBytes() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

World MidWorld(int64_t nodes) {
  const Scenario scenario = QuietWorld(nodes, Seconds(600));
  return RunUntil(scenario, scenario.seed, Instant{} + Seconds(300), nullptr);
}

void WorldCopied(benchmark::State& state) {
  const World world = MidWorld(state.range(0));
  const size_t before = HeapBytes();
  const World kept = world;
  state.counters["bytes_per_node"] =
      static_cast<double>(HeapBytes() - before) / static_cast<double>(state.range(0));
  for (auto _ : state) {
    World copy = world;
    benchmark::DoNotOptimize(copy);
  }
}
// Measures what a search does for each choice: a copy of a world, and one event of the copy. The worlds
// are those after each of many events in a row, so that each kind of event has its share.
void WorldSuccessor(benchmark::State& state) {
  constexpr size_t kWorlds = 32;
  const Scenario scenario = QuietWorld(state.range(0), Seconds(600));
  std::vector<World> worlds = {MidWorld(state.range(0))};
  SeededChance chance(scenario.seed, scenario);
  Outbox out;
  while (worlds.size() < kWorlds) {
    World next = worlds.back();
    next.TakeNext(chance, out);
    worlds.push_back(std::move(next));
  }
  size_t place = 0;
  for (auto _ : state) {
    World successor = worlds[place++ % kWorlds];
    successor.TakeNext(chance, out);
    benchmark::DoNotOptimize(successor);
  }
}
void WorldCompared(benchmark::State& state) {
  const World world = MidWorld(state.range(0));
  const World copy = world;
  for (auto _ : state) benchmark::DoNotOptimize(world == copy);
}
void WorldFingerprinted(benchmark::State& state) {
  const World world = MidWorld(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(CanonicalDigest(world, Seconds(60)));
}
BENCHMARK(WorldCopied)->Arg(3)->Arg(100)->Arg(500);
BENCHMARK(WorldSuccessor)->Arg(3)->Arg(100);
BENCHMARK(WorldCompared)->Arg(3)->Arg(100);
BENCHMARK(WorldFingerprinted)->Arg(3)->Arg(100);

// --- SQL -----------------------------------------------------------------------------------------

constexpr const char* kTable =
    "CREATE TABLE locktable (name STRING(MAX) NOT NULL, heartbeat TIMESTAMP OPTIONS "
    "(allow_commit_timestamp = true), token TIMESTAMP OPTIONS (allow_commit_timestamp = true), "
    "writer STRING(MAX)) PRIMARY KEY (name)";
constexpr const char* kCheck =
    "SELECT TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), heartbeat, MILLISECOND) AS diff, token FROM "
    "locktable WHERE name = @name";

model::Schema OneTable() {
  return {.tables = {std::get<model::Table>(model::ParseCreateTable(kTable))}};
}
std::vector<Parameter> Name() { return {{.name = "name", .type = Type::kString}}; }

void SqlParsed(benchmark::State& state) {
  const model::Schema schema = OneTable();
  const std::vector<Parameter> parameters = Name();
  for (auto _ : state) benchmark::DoNotOptimize(model::Compile(schema, kCheck, parameters));
  state.SetItemsProcessed(state.iterations());
}
void SqlCached(benchmark::State& state) {
  const Sql sql = Sql::Intern(kCheck, Name());
  const std::vector<Sql> statements = {sql};
  const model::Catalogue catalogue(OneTable(), statements, {});
  for (auto _ : state) benchmark::DoNotOptimize(catalogue.FindPlan(sql));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(SqlParsed);
BENCHMARK(SqlCached);

// --- traces --------------------------------------------------------------------------------------

class Nowhere : public std::streambuf {
 protected:
  int_type overflow(int_type character) override { return traits_type::not_eof(character); }
  std::streamsize xsputn(const char* /*text*/, std::streamsize count) override { return count; }
};

void TraceLines(benchmark::State& state) {
  const Scenario scenario = QuietWorld(3, Seconds(600));
  Nowhere nowhere;
  std::ostream out(&nowhere);
  uint64_t lines = 0;
  for (auto _ : state) {
    TraceWriter writer(out, scenario, scenario.seed, "bench");
    lines += RunScenario(scenario, scenario.seed, &writer).observations;
  }
  state.SetItemsProcessed(static_cast<int64_t>(lines));
}
BENCHMARK(TraceLines)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace whorl::sim
