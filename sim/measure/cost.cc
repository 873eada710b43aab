#include "sim/measure/cost.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "sim/judge/batch.h"
#include "sim/judge/checkers/setup.h"
#include "sim/judge/run.h"
#include "sim/world/draws.h"
#include "sim/world/latency.h"

namespace whorl::sim {
namespace {

constexpr Duration kOneHour = Seconds(3600);
// Small cases have an hour of steady state; larger ones have this many hours of all processes
// together, but at least a number of leases.
constexpr int64_t kProcessHours = 20;
constexpr int64_t kLeasesAtLeast = 6;
// A case with up to this many participations (processes times their locks) gets all of its runs.
constexpr int64_t kSmallCase = 101;
constexpr int64_t kRunsOfLargeCase = 4;

int64_t PartsOf(const CostCase& what) { return (what.followers + 1) * what.locks; }

Duration WindowOf(const CostCase& what) {
  const Duration shared = kOneHour * kProcessHours / PartsOf(what);
  return std::max(std::min(kOneHour, shared), what.lease * kLeasesAtLeast);
}

// The seed depends on the case's content, so a case has the same runs whatever else is measured.
uint64_t SeedOf(const CostCase& what, uint64_t seed, uint64_t run) {
  uint64_t name = Mix(seed);
  for (const char c : what.protocol) name = Combine(name, static_cast<unsigned char>(c));
  for (const int64_t part : {what.lease.ns, what.followers, what.locks,
                             static_cast<int64_t>(what.preset), static_cast<int64_t>(run)}) {
    name = Combine(name, static_cast<uint64_t>(part));
  }
  return name;
}

NodeSpec MakeNode(const CostCase& what, uint16_t lock, std::string_view role, Instant start_at) {
  NodeSpec node;
  node.name = Cat(role, "_of_", std::to_string(lock));
  node.locks = {lock};
  node.lease = what.lease;
  node.start_at = start_at;
  node.use = Use::kCallback;
  return node;
}

}  // namespace

std::string WhyNoCost(const CostCase& what) {
  const ProtocolInfo& protocol = *FindProtocol(what.protocol);
  if (what.lease < protocol.lease_min) {
    return Cat("has no lease below ", FormatDuration(protocol.lease_min));
  }
  if (what.lease > protocol.lease_max) {
    return Cat("has no lease above ", FormatDuration(protocol.lease_max));
  }
  if (what.locks > 1 && protocol.takes_one_lock) return "has one lock to a table";
  if (PartsOf(what) > kCostPartsMax) {
    return Cat("cannot be simulated with more than ", std::to_string(kCostPartsMax), " processes");
  }
  return {};
}

CostWorld MakeCostWorld(const CostCase& what, uint64_t seed, uint64_t run) {
  Draws draws(SeedOf(what, seed, run));
  CostWorld world;
  Scenario& scenario = world.scenario;
  scenario.name = "cost";
  scenario.about = "What a lock costs: a steady state, and the crash of the leader.";
  scenario.protocol = what.protocol;
  scenario.seed = draws.Bits();
  scenario.spanner.preset = what.preset;
  // Questions and writes are not counted, so the application makes only the first ones.
  scenario.workload.write_every = kOneHour * 24;

  // A lock's followers start once its leader knows that it leads, at a random time of its rounds.
  // The locks start at random times relative to each other.
  const Duration round = std::max(what.lease, Seconds(1));
  const Duration led = what.lease * 2 + Seconds(1);
  for (int64_t i = 0; i < what.locks; ++i) {
    const auto lock = static_cast<uint16_t>(i);
    scenario.locks.push_back(Cat("lock", std::to_string(i)));
    const Instant start = Instant{} + (i == 0 ? Duration{} : draws.Between(Duration{}, round));
    scenario.nodes.push_back(MakeNode(what, lock, "leader", start));
    for (int64_t j = 0; j < what.followers; ++j) {
      const Duration phase = draws.Between(Duration{}, round);
      scenario.nodes.push_back(
          MakeNode(what, lock, Cat("follower", std::to_string(j)), start + led + phase));
    }
  }
  world.from = Instant{} + led + round * 3;
  world.until = world.from + WindowOf(what);
  world.crash = world.until + draws.Between(Duration{}, what.lease);
  // By then a process has the lock again (no_wedge), and one more lease has passed.
  const CheckerSetup setup = MakeCheckerSetup(scenario, RoundTripP999(what.preset));
  const Duration rest = setup.locks.front().wedge_bound + what.lease;
  scenario.duration = world.crash + rest - Instant{};
  FaultSpec crash;
  crash.trigger = world.crash;
  crash.what = CrashFault{};
  crash.node = 0;
  scenario.faults.push_back(crash);
  return world;
}

CostRun RunCostCase(const CostCase& what, uint64_t seed, uint64_t run) {
  const CostWorld world = MakeCostWorld(what, seed, run);
  CallCounter counter(world.scenario, world.from, world.until, world.crash);
  RunScenario(world.scenario, world.scenario.seed, &counter);
  const TakeoverCalls& takeover = counter.takeover();
  CostRun result = {.window = world.until - world.from,
                    .steady = counter.steady(),
                    .steady_peak = counter.steady_peak(),
                    .early_grants = counter.early_grants()};
  if (!takeover.granted || counter.early_grants() > 0) return result;
  const Instant end = Instant{} + world.scenario.duration;
  result.was_taken_over = true;
  result.takeover_time = std::min(*takeover.granted + what.lease, end) - world.crash;
  result.takeover = takeover.counts;
  result.takeover_peak = takeover.busiest.most();
  result.first_second = takeover.first_second;
  return result;
}

void CostResult::Add(const CostRun& run) {
  ++runs;
  window = window + run.window;
  steady.Add(run.steady);
  steady_peak = std::max(steady_peak, run.steady_peak);
  early_grants += run.early_grants;
  if (!run.was_taken_over) return;
  ++takeovers;
  takeover_time = takeover_time + run.takeover_time;
  takeover.Add(run.takeover);
  takeover_peak = std::max(takeover_peak, run.takeover_peak);
  first_second = std::max(first_second, run.first_second);
}

double CostResult::PerHour(int64_t count) const {
  return static_cast<double>(count) * static_cast<double>(kOneHour.ns) /
         static_cast<double>(window.ns);
}

double CostResult::ExtraPerTakeover(int64_t CallCounts::* count) const {
  const double usual = PerHour(steady.*count) * static_cast<double>(takeover_time.ns) /
                       static_cast<double>(kOneHour.ns);
  return (static_cast<double>(takeover.*count) - usual) / static_cast<double>(takeovers);
}

int64_t RunsOfCase(const CostCase& what, int64_t runs) {
  return PartsOf(what) <= kSmallCase ? runs : std::min(runs, kRunsOfLargeCase);
}

absl::Status MeasureCosts(std::span<const CostCase> cases, int64_t runs, uint64_t seed, int threads,
                          const std::function<BatchStep(size_t done, size_t all)>& go_on,
                          std::vector<CostResult>& results) {
  std::vector<std::pair<size_t, uint64_t>> jobs;  // case, number of the run
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto count = static_cast<uint64_t>(RunsOfCase(cases[i], runs));
    for (uint64_t run = 0; run < count; ++run) jobs.emplace_back(i, run);
  }
  std::vector<CostResult> sums(cases.size());
  std::array<CostRun, kBatchWindow> places;
  absl::Status status;
  RunBatch(
      jobs.size(), threads,
      [&](size_t i) {
        places[i % kBatchWindow] = RunCostCase(cases[jobs[i].first], seed, jobs[i].second);
      },
      [&](size_t i, const std::optional<std::string>& error) {
        if (error) {
          const CostCase& what = cases[jobs[i].first];
          status = absl::InternalError(Cat("run ", std::to_string(jobs[i].second), " of ",
                                           what.protocol, " with ", std::to_string(what.followers),
                                           " followers: ", *error));
          return BatchStep::kStop;
        }
        sums[jobs[i].first].Add(places[i % kBatchWindow]);
        return go_on(i + 1, jobs.size());
      });
  for (size_t i = 0; i < cases.size(); ++i) {
    if (sums[i].runs == 0) continue;
    sums[i].what = cases[i];
    results.push_back(std::move(sums[i]));
  }
  return status;
}

}  // namespace whorl::sim
