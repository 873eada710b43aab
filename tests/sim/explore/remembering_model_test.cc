// Steps that are remembered against steps that are taken in copies of the world.
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/protocols.h"
#include "sim/explore/engine/search.h"
#include "sim/explore/memoized_model.h"
#include "tests/sim/explore/fault_budgets.h"
#include "tests/support/fewer.h"

namespace whorl::sim::explore_remembering_model_test {
namespace {

constexpr int kNoHorizon = 0;

struct Space {
  std::string protocol;
  FaultBudget faults;
  int leases = kNoHorizon;  // of the horizon
  int processes = 2;
  int64_t delay = 0;
  int locks = 1;
  bool grid_constants = true;
  bool symmetry = false;
  bool announces = false;
  ClockBounds clocks = {};
  bool calls_lock = false;  // applications do, each time with a deadline
  std::optional<Duration> commit_timeout = {};
  std::vector<SideQuestion> ask = {};  // by applications, beside their work
};

LockModel ModelOf(const Space& space) {
  ExploreWorld world;
  world.protocol = space.protocol;
  world.grid_constants = space.grid_constants;
  world.lease = Seconds(5);
  world.processes = space.processes;
  world.locks = space.locks;
  world.announces_releases = space.announces;
  world.commit_timeout = space.commit_timeout;
  if (space.calls_lock) {
    world.use = Use::kLock;
    world.deadline = world.lease;
    world.hold_for = world.lease / 4;
    world.lock_again = world.lease / 4;
  }
  ExploreBounds bounds;
  bounds.faults = space.faults;
  bounds.delay = space.delay;
  bounds.grid = world.lease / 4;
  bounds.longest_pause = world.lease * 3;
  bounds.symmetry = space.symmetry;
  bounds.clocks = space.clocks;
  if (space.leases != kNoHorizon) bounds.horizon = world.lease * space.leases;
  Scenario scenario = ScenarioToExplore(world, bounds);
  scenario.workload.ask = space.ask;
  scenario.workload.ask_every = world.lease / 4;
  return {std::move(scenario), bounds};
}

std::string NameOf(const Space& space) {
  return space.protocol + " crashes " + std::to_string(space.faults.crashes) + " stops " +
         std::to_string(space.faults.stops) + " pauses " + std::to_string(space.faults.pauses) +
         " losses " + std::to_string(space.faults.losses) + " aborts " +
         std::to_string(space.faults.aborts) + " deletes " + std::to_string(space.faults.deletes) +
         " standing clocks " + std::to_string(space.faults.standing_clocks) + " questions " +
         std::to_string(space.ask.size()) + " delay " + std::to_string(space.delay) + " epsilon " +
         std::to_string(space.clocks.truetime.ns) + " ns, CURRENT_TIMESTAMP " +
         std::to_string(space.clocks.current_timestamp.ns) + " ns";
}

using Keys = std::set<std::pair<uint64_t, uint64_t>>;

// The keys of the first states, breadth first, with what judges said.
template <typename M>
Keys KeysOf(M& model, size_t limit) {
  Keys keys;
  std::deque<typename M::State> waiting;
  for (auto& state : model.Initial()) waiting.push_back(std::move(state));
  while (!waiting.empty() && keys.size() < limit) {
    const typename M::State state = std::move(waiting.front());
    waiting.pop_front();
    model.ForEachChoice(state, [&](const typename M::Choice& choice, int) {
      typename M::State to;
      if (!model.Take(state, choice, to)) return;
      const explore::Key128 key = model.Fingerprint(to);
      if (keys.emplace(key.high ^ model.Judge(to), key.low).second)
        waiting.push_back(std::move(to));
    });
  }
  return keys;
}

std::vector<Space> SmallSpaces() {
  std::vector<Space> spaces;
  for (const char* protocol :
       {"fenced_lease", "spindle_v2", "spindle_v3", "semaphore", "lease_lock"}) {
    FaultBudget all = kOneOfEachFault;
    if (!FindProtocol(protocol)->state_traits.ignores_wall_clock) all.standing_clocks = 0;
    for (const bool grid_constants : {true, false}) {
      if (!grid_constants && FindProtocol(protocol)->state_traits.depends_on_absolute_time)
        continue;
      spaces.push_back({.protocol = protocol, .faults = {}, .leases = 3, .delay = 1});
      spaces.push_back({.protocol = protocol, .faults = all});
      spaces.back().grid_constants = grid_constants;
      spaces.back().symmetry = grid_constants;
    }
    // Of a multiple of the grid, Spanner waits out epsilon.
    for (const Duration epsilon : {Microseconds(100), Seconds(5) / 4}) {
      spaces.push_back({.protocol = protocol, .faults = all});
      spaces.back().symmetry = true;
      spaces.back().clocks = {.truetime = epsilon, .current_timestamp = Seconds(5) / 4};
    }
  }
  return spaces;
}

// Every step that is remembered is taken in a world, too, and compared.
TEST(RememberedSteps, AreTheStepsThatAreTaken) {
  for (const Space& space : SmallSpaces()) {
    const LockModel model = ModelOf(space);
    MemoizedModel remembering(model);
    remembering.CheckEveryStep();
    EXPECT_NO_THROW(KeysOf(remembering, kTestsAreSlow ? 600 : 8'000)) << NameOf(space);
    EXPECT_GT(remembering.known_steps(), kTestsAreSlow ? 100U : 1'000U) << NameOf(space);
    if (HasFailure()) return;
  }
}

TEST(RememberedSteps, LeadToTheKeysOfCopiesOfWorlds) {
  for (const Space& space :
       {Space{.protocol = "fenced_lease", .faults = {.aborts = 1}},
        Space{.protocol = "fenced_lease", .faults = {}, .processes = 3},
        Space{.protocol = "fenced_lease",
              .faults = {},
              .clocks = {.truetime = Microseconds(100), .current_timestamp = Microseconds(100)}},
        Space{.protocol = "spindle_v3", .faults = {}, .symmetry = true}}) {
    const LockModel model = ModelOf(space);
    MemoizedModel remembering(model);
    constexpr size_t kAll = 100'000;
    EXPECT_EQ(KeysOf(remembering, kAll), KeysOf(model, kAll)) << NameOf(space);
  }
}

// The plain model is the oracle: the same states, transitions and violations.
void ExpectWhatCopiesFind(const Space& space) {
  const LockModel model = ModelOf(space);
  const auto plain = explore::Explore(model);
  const auto quick = ExploreLocks(model);
  EXPECT_EQ(quick.states, plain.states) << NameOf(space);
  EXPECT_EQ(quick.transitions, plain.transitions) << NameOf(space);
  EXPECT_EQ(quick.levels, plain.levels) << NameOf(space);
  EXPECT_EQ(quick.violating, plain.violating) << NameOf(space);
  const auto by_two = ExploreLocks(model, {.jobs = 2});
  EXPECT_EQ(by_two.states, plain.states) << NameOf(space);
  EXPECT_EQ(by_two.transitions, plain.transitions) << NameOf(space);
  EXPECT_EQ(by_two.violations, quick.violations) << NameOf(space);
}

TEST(RememberedSteps, FindWhatCopiesOfWorldsFind) {
  const std::vector<Space> spaces = {
      {.protocol = "fenced_lease", .faults = {.losses = 1}},
      {.protocol = "fenced_lease", .faults = {.aborts = 1}},
      {.protocol = "fenced_lease", .faults = {.deletes = 1}},
      {.protocol = "fenced_lease", .faults = {.crashes = 1}, .leases = 2},
      {.protocol = "fenced_lease", .faults = {.stops = 1}, .leases = 2},
      {.protocol = "fenced_lease",
       .faults = {.stops = 1, .announcements = 1},
       .leases = 1,
       .symmetry = true,
       .announces = true},
      {.protocol = "spindle_v3", .faults = {.stops = 1}, .leases = 1, .symmetry = true},
      {.protocol = "lease_lock", .faults = {.stops = 1}, .leases = 1, .grid_constants = false},
      {.protocol = "fenced_lease", .faults = {.pauses = 1}, .leases = 2},
      {.protocol = "fenced_lease", .faults = {.standing_clocks = 1}, .leases = 3, .symmetry = true},
      {.protocol = "fenced_lease",
       .faults = {.crashes = 1, .losses = 1, .standing_clocks = 1},
       .leases = 1},
      {.protocol = "spindle_v3",
       .faults = {.standing_clocks = 2},
       .leases = 1,
       .grid_constants = false,
       .symmetry = true},
      {.protocol = "semaphore", .faults = {.standing_clocks = 1}, .leases = 1},
      {.protocol = "fenced_lease", .faults = {}, .processes = 3},
      {.protocol = "fenced_lease", .faults = {}, .processes = 1, .locks = 2},
      {.protocol = "spindle_v2", .faults = {}, .leases = 2, .symmetry = true},
      {.protocol = "spindle_v3", .faults = {}},
      {.protocol = "spindle_v3",
       .faults = {.pauses = 1, .deletes = 1},
       .leases = 1,
       .grid_constants = false},
      {.protocol = "semaphore", .faults = {}, .leases = 2},
      {.protocol = "lease_lock", .faults = {}},
      {.protocol = "fenced_lease", .faults = {.losses = 1}, .symmetry = true},
      {.protocol = "fenced_lease", .faults = {.pauses = 1}, .leases = 2, .symmetry = true},
      {.protocol = "fenced_lease", .faults = {.aborts = 1}, .processes = 3, .symmetry = true},
      {.protocol = "spindle_v3",
       .faults = {.pauses = 1},
       .leases = 1,
       .grid_constants = false,
       .symmetry = true},
      {.protocol = "semaphore", .faults = {}, .leases = 2, .symmetry = true},
      {.protocol = "fenced_lease",
       .faults = {},
       .symmetry = true,
       .clocks = {.truetime = Microseconds(100), .current_timestamp = Microseconds(100)}},
      {.protocol = "fenced_lease",
       .faults = {.deletes = 1},
       .symmetry = true,
       .clocks = {.current_timestamp = Microseconds(100)}},
      {.protocol = "fenced_lease",
       .faults = {.losses = 1},
       .symmetry = true,
       .commit_timeout = Seconds(5) / 4},
      {.protocol = "lease_lock",
       .faults = {},
       .leases = 1,
       .delay = 1,
       .commit_timeout = Seconds(5) / 4},
      {.protocol = "spindle_v2", .faults = {}, .leases = 1, .symmetry = true, .calls_lock = true},
  };
  for (const Space& space : spaces) ExpectWhatCopiesFind(space);
}

// Answers of spindle_v3 take a call, so several questions are under way at once.
TEST(RememberedSteps, FindWhatCopiesOfWorldsFindOfApplicationsThatAskBesideTheirWork) {
  const std::vector<SideQuestion> ask = {SideQuestion::kHasLock2, SideQuestion::kLeader};
  for (const char* protocol : {"fenced_lease", "spindle_v3"}) {
    ExpectWhatCopiesFind({.protocol = protocol, .faults = {}, .leases = 1, .ask = ask});
  }
}

TEST(RememberedSteps, FindWhatCopiesOfWorldsFindOfTwoLocksLong) {
  ExpectWhatCopiesFind({.protocol = "fenced_lease", .faults = {}, .leases = 2, .locks = 2});
}

}  // namespace
}  // namespace whorl::sim::explore_remembering_model_test
