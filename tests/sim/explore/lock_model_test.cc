// The lock protocols that ship, explored within small bounds.
#include "sim/explore/lock_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/fenced_lease/fenced_lease.h"
#include "protocol/hosted.h"
#include "protocol/protocols.h"
#include "sim/explore/components/symmetry.h"
#include "sim/explore/counterexample.h"
#include "sim/explore/engine/search.h"
#include "sim/explore/memoized_model.h"
#include "sim/judge/checkers/setup.h"
#include "tests/sim/explore/fault_budgets.h"
#include "tests/support/fewer.h"

namespace whorl::sim::explore_lock_model_test {
namespace {

using Result = explore::SearchResult<Move>;

struct Space {
  ExploreWorld world;
  ExploreBounds bounds;
};

constexpr int kNoHorizon = 0;

// Two processes with a lease of 5 s, which every protocol allows. `leases`: of the horizon.
Space SpaceOf(const std::string& protocol, FaultBudget faults, int leases) {
  Space space;
  space.world.protocol = protocol;
  space.world.grid_constants = FindProtocol(protocol)->make_grid_config != nullptr;
  space.world.lease = Seconds(5);
  space.bounds.faults = faults;
  space.bounds.grid = space.world.lease / 4;
  space.bounds.longest_pause = space.world.lease * 3;
  if (leases != kNoHorizon) space.bounds.horizon = space.world.lease * leases;
  return space;
}

Result Explored(const Space& space, int jobs = 1) {
  const LockModel model(space.world, space.bounds);
  return explore::Explore(model, {.jobs = jobs});
}

std::set<std::string> ViolatedIn(const Result& result) {
  std::set<std::string> names;
  for (const auto& violation : result.violations) {
    names.emplace(WordOf(static_cast<Invariant>(violation.property)));
  }
  return names;
}

// The numbers themselves stand in docs/EXPLORING.md, which bench/explored.sh holds to.
TEST(ExploreLocks, TwoThreadsVisitWhatOneDoes) {
  constexpr Duration kSmall = Microseconds(100);
  std::vector<Space> spaces = {SpaceOf("fenced_lease", {.losses = 1}, kNoHorizon),
                               SpaceOf("spindle_v2", {}, 1),
                               SpaceOf("spindle_v3", {}, kNoHorizon),
                               SpaceOf("semaphore", {}, 1),
                               SpaceOf("lease_lock", {}, kNoHorizon),
                               SpaceOf("fenced_lease", {}, 2),
                               SpaceOf("fenced_lease", {}, 2)};
  spaces[5].bounds.clocks = {.truetime = kSmall, .current_timestamp = kSmall};
  spaces[6].bounds.clocks = {.rate_ppm = 250'000};
  if (kTestsAreSlow) spaces.erase(spaces.begin());  // the largest
  for (const Space& space : spaces) {
    const Result result = Explored(space);
    EXPECT_EQ(result.ending, explore::Ending::kComplete) << space.world.protocol;
    EXPECT_GT(result.states, 300U) << space.world.protocol;
    const Result by_two = Explored(space, 2);
    EXPECT_EQ(by_two.states, result.states) << space.world.protocol;
    EXPECT_EQ(by_two.transitions, result.transitions) << space.world.protocol;
  }
}

// What clocks may be off by multiplies states, and is nothing where no clock is read.
TEST(ExploreLocks, ClocksThatAreOffMultiplyStatesWhereTheyAreRead) {
  const auto states = [](const char* protocol, ClockBounds clocks) {
    Space space = SpaceOf(protocol, {}, 1);
    space.bounds.clocks = clocks;
    return Explored(space).states;
  };
  constexpr Duration kSmall = Microseconds(100);
  const uint64_t exact = states("fenced_lease", {});
  const uint64_t by_database = states("fenced_lease", {.current_timestamp = kSmall});
  EXPECT_GT(by_database, exact);
  EXPECT_GT(states("fenced_lease", {.truetime = kSmall}), exact);
  EXPECT_GT(states("fenced_lease", {.truetime = kSmall, .current_timestamp = kSmall}), by_database);
  EXPECT_GT(states("fenced_lease", {.rate_ppm = 250'000}), exact);
  EXPECT_GT(states("spindle_v3", {.current_timestamp = Seconds(5) / 4}), states("spindle_v3", {}));
  EXPECT_EQ(states("lease_lock", {.current_timestamp = kSmall}), states("lease_lock", {}));
}

using Successors = std::vector<std::pair<std::pair<uint64_t, uint64_t>, int>>;

std::pair<uint64_t, uint64_t> KeyOf(const LockModel& model, const LockModel::State& state) {
  const explore::Key128 key = model.Fingerprint(state);
  return {key.high, key.low};
}

Successors SuccessorsOf(const LockModel& model, const LockModel::State& state,
                        std::vector<LockModel::State>& states) {
  Successors successors;
  model.ForEachChoice(state, [&](const Move& move, int faults) {
    LockModel::State to;
    if (!model.Take(state, move, to)) return;
    successors.emplace_back(KeyOf(model, to), faults);
    states.push_back(std::move(to));
  });
  std::ranges::sort(successors);
  const auto rest = std::ranges::unique(successors);
  successors.erase(rest.begin(), rest.end());
  return successors;
}

enum class Order : uint8_t { kBreadthFirst, kDepthFirst };

// How many states were met again, on another way, while the first `limit` states were visited. Each
// must offer what it offered the first time, or the search would have left something out.
int MetAgain(const Space& space, Order order, size_t limit) {
  const LockModel model(space.world, space.bounds);
  std::map<std::pair<uint64_t, uint64_t>, Successors> known;
  std::deque<LockModel::State> waiting;
  std::ranges::move(model.Initial(), std::back_inserter(waiting));
  int met = 0;
  while (!waiting.empty() && known.size() < limit) {
    if (order == Order::kDepthFirst) std::swap(waiting.front(), waiting.back());
    const LockModel::State state = std::move(waiting.front());
    waiting.pop_front();
    std::vector<LockModel::State> next;
    const Successors successors = SuccessorsOf(model, state, next);
    const auto [first, is_new] = known.try_emplace(KeyOf(model, state), successors);
    if (is_new) {
      std::ranges::move(next, std::back_inserter(waiting));
    } else {
      ++met;
      EXPECT_EQ(first->second, successors);
      if (testing::Test::HasFailure()) break;
    }
  }
  return met;
}

// The canonical form leaves out what nobody can ask for any more. Whatever is left out wrongly shows
// as two worlds of one form from which different things can happen.
TEST(ExploreLocks, WorldsOfOneFormHaveTheSameFuture) {
  const FaultBudget all = kOneOfEachFault;
  for (const char* protocol :
       {"fenced_lease", "spindle_v2", "spindle_v3", "semaphore", "lease_lock"}) {
    for (const int64_t delay : {0, 1}) {
      Space space = SpaceOf(protocol, all, 3);
      space.bounds.delay = delay;
      // With late messages, clocks that are off as well.
      const Duration error = Microseconds(200) * delay;
      space.bounds.clocks = {.truetime = error, .current_timestamp = error};
      EXPECT_GE(MetAgain(space, Order::kDepthFirst, Fewer(3'000)), kTestsAreSlow ? 0 : 20)
          << protocol << " late by " << delay;
      space.bounds.horizon.reset();
      EXPECT_GE(MetAgain(space, Order::kBreadthFirst, Fewer(2'000)), kTestsAreSlow ? 0 : 40)
          << protocol;
      // Far ahead in time, where much is long ago; such a run seldom comes back.
      MetAgain(space, Order::kDepthFirst, Fewer(2'000));
      if (HasFailure()) return;
    }
  }
}

TEST(ExploreLocks, WorldsOfOneFormHaveTheSameFutureWhereClocksRunAtDifferentRates) {
  for (const char* protocol : {"fenced_lease", "spindle_v2", "spindle_v3", "semaphore"}) {
    Space space = SpaceOf(protocol, {.crashes = 1, .pauses = 1, .losses = 1}, kNoHorizon);
    space.bounds.clocks.rate_ppm = 250'000;
    EXPECT_GT(MetAgain(space, Order::kBreadthFirst, Fewer(3'000)), 40) << protocol;
    MetAgain(space, Order::kDepthFirst, Fewer(2'000));
    if (HasFailure()) return;
  }
}

// The same of worlds that are of one form because equal processes have each other's parts in them.
TEST(ExploreLocks, WorldsOfEqualProcessesHaveTheSameFuture) {
  const FaultBudget all = kOneOfEachFault;
  for (const char* protocol :
       {"fenced_lease", "spindle_v2", "spindle_v3", "semaphore", "lease_lock"}) {
    for (const int processes : {2, 3}) {
      if (kTestsAreSlow && processes > 2) continue;
      Space space = SpaceOf(protocol, all, kNoHorizon);
      space.bounds.symmetry = true;
      space.world.processes = processes;
      ASSERT_NE(LockModel(space.world, space.bounds).symmetry(), nullptr);
      EXPECT_GE(MetAgain(space, Order::kBreadthFirst, Fewer(1'000)), kTestsAreSlow ? 0 : 300)
          << protocol << ", " << processes << " processes";
      MetAgain(space, Order::kDepthFirst, Fewer(1'000));
      // Transactions that meet.
      space.bounds.faults = {.losses = 1};
      MetAgain(space, Order::kBreadthFirst, Fewer(1'500));
      if (HasFailure()) return;
    }
  }
}

struct EqualProcesses {
  const char* protocol;
  FaultBudget faults;
  int processes;
  int leases;
  size_t orders;
};

// A search of equal processes visits a state of each form, and no more.
void ExpectOneOrder(const EqualProcesses& known) {
  Space space = SpaceOf(known.protocol, known.faults, known.leases);
  space.world.processes = known.processes;
  const LockModel each(space.world, space.bounds);
  space.bounds.symmetry = true;
  const LockModel equal(space.world, space.bounds);
  std::set<std::pair<uint64_t, uint64_t>> states;
  std::set<std::pair<uint64_t, uint64_t>> forms;
  std::vector<LockModel::State> waiting = each.Initial();
  while (!waiting.empty()) {
    const LockModel::State state = std::move(waiting.back());
    waiting.pop_back();
    if (!states.insert(KeyOf(each, state)).second) continue;
    forms.insert(KeyOf(equal, state));
    SuccessorsOf(each, state, waiting);
  }
  const Result result = explore::Explore(equal);
  EXPECT_EQ(result.states, forms.size()) << known.protocol;
  // Nearly all states come in as many orders as there are of processes.
  EXPECT_LT(result.states, states.size() * 5 / 4 / known.orders + 50) << known.protocol;
  EXPECT_GE(result.states, states.size() / known.orders) << known.protocol;
  if (kTestsAreSlow) return;
  const Result by_two = explore::Explore(equal, {.jobs = 2});
  EXPECT_EQ(by_two.states, result.states) << known.protocol;
  EXPECT_EQ(by_two.transitions, result.transitions) << known.protocol;
}

TEST(ExploreLocks, OfEqualProcessesOneOrderIsVisited) {
  ExpectOneOrder({"lease_lock", {.deletes = 1}, 2, 2, 2});
  if (kTestsAreSlow) return;
  ExpectOneOrder({"fenced_lease", {.losses = 1}, 2, 2, 2});
  ExpectOneOrder({"spindle_v3", {.aborts = 1}, 2, kNoHorizon, 2});
  ExpectOneOrder({"fenced_lease", {.aborts = 1}, 3, 1, 6});
}

TEST(ExploreLocks, OfFourEqualProcessesOneOrderIsVisitedLong) {
  ExpectOneOrder({"fenced_lease", {}, 4, kNoHorizon, 24});
  ExpectOneOrder({"fenced_lease", {.aborts = 1}, 3, kNoHorizon, 6});
}

TEST(ExploreLocks, ProcessesThatDifferAreNotExchanged) {
  Space space = SpaceOf("fenced_lease", {}, kNoHorizon);
  space.bounds.symmetry = true;
  Scenario scenario = ScenarioToExplore(space.world, space.bounds);
  EXPECT_NE(LockModel(scenario, space.bounds).symmetry(), nullptr);
  scenario.nodes[1].lease = Seconds(10);
  EXPECT_EQ(LockModel(scenario, space.bounds).symmetry(), nullptr);
  scenario.nodes[1] = scenario.nodes[0];
  scenario.nodes[1].name = "lock";  // as the lock's
  EXPECT_EQ(LockModel(scenario, space.bounds).symmetry(), nullptr);
  scenario.nodes[1].name = "b";
  // The lesser id would win.
  ProtocolInfo protocol = *FindProtocol("fenced_lease");
  EXPECT_TRUE(Symmetry::Of(scenario, space.bounds, protocol));
  protocol.state_traits.compares_ids = true;
  EXPECT_FALSE(Symmetry::Of(scenario, space.bounds, protocol));
  space.bounds.menu.crashes = std::vector<int16_t>{0};  // a alone may crash
  EXPECT_EQ(LockModel(scenario, space.bounds).symmetry(), nullptr);
}

// Nothing that a state keeps grows with time: a run of ten days reaches the forms that its first hour
// reached.
TEST(ExploreLocks, TenDaysHaveTheFormsOfAnHour) {
  for (const char* protocol :
       {"fenced_lease", "spindle_v2", "spindle_v3", "semaphore", "lease_lock"}) {
    Space space = SpaceOf(protocol, {}, kNoHorizon);
    space.world.lease = Seconds(500);
    space.bounds.grid = space.world.lease / 4;
    const LockModel model(space.world, space.bounds);
    LockModel::State state = model.Initial().front();
    std::set<std::pair<uint64_t, uint64_t>> of_first_hour;
    int new_later = 0;
    while (state->world.now() < Instant{} + Seconds(int64_t{10} * 86'400)) {
      std::optional<Move> first;
      model.ForEachChoice(state, [&](const Move& move, int) {
        if (!first) first = move;
      });
      ASSERT_TRUE(first.has_value());
      LockModel::State to;
      model.Take(state, *first, to);
      state = std::move(to);
      const bool is_new = of_first_hour.insert(KeyOf(model, state)).second;
      if (state->world.now() >= Instant{} + Seconds(3'600) && is_new) ++new_later;
    }
    EXPECT_GT(of_first_hour.size(), 20U) << protocol;
    EXPECT_EQ(new_later, 0) << protocol;
  }
}

// What leaves the grid multiplies states, and mostly comes of a constant that the grid's constants
// forgot.
TEST(ExploreLocks, GridConstantsKeepInstantsOnTheGrid) {
  const FaultBudget all = kOneOfEachFault;
  for (const ProtocolInfo& protocol : Protocols()) {
    if (protocol.make_grid_config == nullptr) continue;
    const Space space = SpaceOf(std::string(protocol.name), all, kNoHorizon);
    const LockModel model(space.world, space.bounds);
    std::set<std::pair<uint64_t, uint64_t>> known;
    std::vector<LockModel::State> waiting = model.Initial();
    Instant latest;
    while (!waiting.empty() && known.size() < 4'000) {
      const LockModel::State state = std::move(waiting.back());
      waiting.pop_back();
      if (!known.insert(KeyOf(model, state)).second) continue;
      latest = std::max(latest, state->world.now());
      ASSERT_EQ(latest.ns % space.bounds.grid.ns, 0)
          << protocol.name << " at " << latest.ns << " ns";
      SuccessorsOf(model, state, waiting);
    }
    EXPECT_GE(latest, Instant{} + space.world.lease * 3) << protocol.name;
  }
}

// Where a promise ends because a machine was suspended, a search shows it; a pause alone violates nothing.
TEST(ExploreLocks, OnlyWhereAClockStandsStillTwoLeadFencedLease) {
  const auto belief = static_cast<size_t>(Invariant::kSingleLeaderBelief);
  for (const bool stands : {false, true}) {
    const FaultBudget faults =
        stands ? FaultBudget{.standing_clocks = 1} : FaultBudget{.pauses = 1};
    Space space = SpaceOf("fenced_lease", faults, 3);
    space.bounds.symmetry = true;
    const LockModel model(space.world, space.bounds);
    EXPECT_EQ(PromisesThroughout(model.scenario())[belief],
              stands ? Promise::kNotPromised : Promise::kPromised);
    const Result result = ExploreLocks(model);
    EXPECT_EQ(result.ending, explore::Ending::kComplete);
    EXPECT_EQ(result.violating[belief] > 0, stands);
    for (const Invariant always : {Invariant::kOneLiveToken, Invariant::kTokenMonotonic,
                                   Invariant::kLeaseRespected, Invariant::kFencedWritesOrdered}) {
      EXPECT_EQ(result.violating[static_cast<size_t>(always)], 0U) << WordOf(always);
    }
  }
}

// The recommended protocol: not evidence, but every run within the bounds.
TEST(ExploreLocks, FencedLeaseHoldsWhatItPromises) {
  const std::vector<std::pair<FaultBudget, int>> all = {
      {{}, 4}, {{.crashes = 1}, 2}, {{.stops = 1}, 2}, {{.losses = 1}, 3}, {{.aborts = 1}, 3}};
  for (const auto& [faults, leases] : all) {
    const Result result = Explored(SpaceOf("fenced_lease", faults, leases));
    EXPECT_EQ(result.ending, explore::Ending::kComplete);
    EXPECT_GT(result.states, 100U);
    EXPECT_EQ(ViolatedIn(result), std::set<std::string>());
  }
}

// V2 of protocol/spindle_v3/README.md, and what comes of it, without being told where to look.
TEST(ExploreLocks, FindThatAPauseMakesTwoLeadersOfSpindleV3) {
  Space space = SpaceOf("spindle_v3", {.pauses = 1}, 2);
  // On the grid more events coincide than in exact time, and these runs would not be confirmed.
  space.world.grid_constants = false;
  const LockModel model(space.world, space.bounds);
  const Result result = explore::Explore(model);
  EXPECT_TRUE(ViolatedIn(result).contains("single_leader_belief"));
  for (const auto& violation : result.violations) {
    EXPECT_EQ(violation.faults, 1);
    EXPECT_TRUE(CounterexampleOf(model, violation).is_confirmed);
  }
}

// What the judges of other invariants need to know tells no states apart, and does not matter to this one's.
TEST(ExploreLocks, JudgingOneInvariantFindsOfItWhatJudgingAllFinds) {
  const auto explored = [](const LockModel& model) {
    return ExploreLocks(model, {}, std::nullopt, Steps::kRemembered);
  };
  for (const Space& space :
       {SpaceOf("lease_lock", {.deletes = 1}, 2), SpaceOf("spindle_v3", {.pauses = 1}, 2)}) {
    const Result all = explored(LockModel(space.world, space.bounds));
    std::set<std::string> found;
    for (const Invariant invariant : AllOf<Invariant>()) {
      LockModel model(space.world, space.bounds);
      model.SelectInvariants(1U << static_cast<uint32_t>(invariant));
      const Result one = explored(model);
      EXPECT_LE(one.states, all.states);
      for (const auto& violation : one.violations) {
        EXPECT_EQ(violation.property, static_cast<int>(invariant));
        found.emplace(WordOf(invariant));
        const auto same = std::ranges::find(all.violations, violation.property,
                                            &explore::Violation<Move>::property);
        ASSERT_NE(same, all.violations.end()) << WordOf(invariant);
        EXPECT_EQ(violation.faults, same->faults);
        EXPECT_EQ(violation.path.choices.size(), same->path.choices.size());
      }
    }
    EXPECT_EQ(found, ViolatedIn(all));
    EXPECT_FALSE(found.empty());
    if (kTestsAreSlow) break;
  }
}

// S1 of protocol/spindle_v2/README.md needs no fault at all.
TEST(ExploreLocks, FindThatSpindleV2TakesALiveLeaseWithoutAFault) {
  const Space space = SpaceOf("spindle_v2", {}, 2);
  const LockModel model(space.world, space.bounds);
  const Result result =
      explore::Explore(model, {.watched = 1U << static_cast<uint32_t>(Invariant::kLeaseRespected),
                               .stop_at_violation = true});
  ASSERT_EQ(ViolatedIn(result), std::set<std::string>({"lease_respected"}));
  EXPECT_EQ(result.violations.front().faults, 0);
  EXPECT_TRUE(CounterexampleOf(model, result.violations.front()).is_confirmed);
}

ProtocolConfig HastyConfig(const std::string& table, std::string lock_name, std::string id,
                           Duration lease) {
  fenced_lease::Config config =
      fenced_lease::MakeConfig(table, std::move(lock_name), std::move(id), lease);
  config.constants = fenced_lease::GridConstants(lease);
  config.constants.rho_ppm = -250'000;  // holds on for longer than others wait
  return Hosted<fenced_lease::State>(std::move(config));
}

// A lease of spindle_v3 ends by CURRENT_TIMESTAMP: a process that reads it while it is ahead takes a
// live lease. Not every run with a wrong clock shows that.
TEST(ExploreLocks, FindThatAnUnluckyClockEndsALeaseOfSpindleV3) {
  Space space = SpaceOf("spindle_v3", {}, 3);
  space.world.grid_constants = false;
  EXPECT_EQ(ViolatedIn(Explored(space)), std::set<std::string>());
  space.bounds.clocks.current_timestamp = Seconds(4);
  const LockModel model(space.world, space.bounds);
  const Result result = explore::Explore(model);
  EXPECT_TRUE(ViolatedIn(result).contains("lease_respected"));
  for (const auto& violation : result.violations) {
    EXPECT_EQ(violation.faults, 0);
    EXPECT_TRUE(CounterexampleOf(model, violation).is_confirmed);
  }
}

// A search that finds nothing must be one that could have found something.
TEST(ExploreLocks, FindAWrongConstantOfFencedLease) {
  const Space space = SpaceOf("fenced_lease", {.pauses = 1}, 3);
  const LockModel model(ScenarioToExplore(space.world, space.bounds), space.bounds, HastyConfig);
  const Result result = explore::Explore(
      model, {.watched = 1U << static_cast<uint32_t>(Invariant::kSingleLeaderBelief),
              .stop_at_violation = true});
  EXPECT_EQ(ViolatedIn(result), std::set<std::string>({"single_leader_belief"}));
}

ProtocolConfig ConfigOfEqualClocks(const std::string& table, std::string lock_name, std::string id,
                                   Duration lease) {
  fenced_lease::Config config =
      fenced_lease::MakeConfig(table, std::move(lock_name), std::move(id), lease);
  config.constants = fenced_lease::GridConstants(lease);
  config.constants.rho_ppm = 0;
  return Hosted<fenced_lease::State>(std::move(config));
}

// The constant that allows for clocks that drift is needed just where they do.
TEST(ExploreLocks, FindThatFencedLeaseNeedsItsBoundOnClocks) {
  Space space = SpaceOf("fenced_lease", {.pauses = 1}, 2);
  space.bounds.horizon = space.world.lease * 3 / 2;
  const auto violated = [&] {
    const LockModel model(ScenarioToExplore(space.world, space.bounds), space.bounds,
                          ConfigOfEqualClocks);
    const Result result =
        ExploreLocks(model, {.watched = 1U << static_cast<uint32_t>(Invariant::kSingleLeaderBelief),
                             .stop_at_violation = true});
    for (const auto& violation : result.violations) {
      EXPECT_TRUE(CounterexampleOf(model, violation).is_confirmed);
    }
    return !result.violations.empty();
  };
  EXPECT_FALSE(violated());
  space.bounds.clocks.rate_ppm = 250'000;
  EXPECT_TRUE(violated());
}

}  // namespace
}  // namespace whorl::sim::explore_lock_model_test
