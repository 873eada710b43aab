// The search visits every state that can be reached, and finds the nearest violations, with one
// thread and with two. The thread sanitizer runs these tests too.

#include "sim/explore/engine/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <ostream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/sim/explore/follow.h"
#include "tests/sim/explore/plain_search.h"
#include "tests/sim/explore/random_graph.h"
#include "tests/sim/explore/toy_lease.h"

namespace whorl::explore::search_test {
namespace {

using testing::IsEmpty;

constexpr int kAnyFaults = std::numeric_limits<int>::max();

// Rounds of a few states, so that small models are shared out, too.
SearchOptions WithShortRounds(int jobs) { return {.jobs = jobs, .round = 3}; }

// --- L1 ----------------------------------------------------------------------------------------

struct Counts {
  uint64_t states = 0;
  uint64_t transitions = 0;

  friend bool operator==(const Counts&, const Counts&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Counts& counts) {
    return out << counts.states << " states, " << counts.transitions << " transitions";
  }
};

Counts CountsOfToyLease(uint8_t end, uint8_t tokens, const SearchOptions& options) {
  const auto result = Explore(ToyLease(end, tokens), options);
  EXPECT_EQ(result.ending, Ending::kComplete);
  EXPECT_THAT(result.violations, IsEmpty());
  return {.states = result.states, .transitions = result.transitions};
}

// SPIN has the same counts for the same system; it counts the start as one more transition.
TEST(SearchTest, CountsOfTheToyLeaseAreThoseOfSpin) {
  const Counts spin = {.states = 78'552, .transitions = 466'992};
  EXPECT_EQ(CountsOfToyLease(6, 4, {}), spin);
  EXPECT_EQ(CountsOfToyLease(6, 4, {.jobs = 2}), spin);
  EXPECT_EQ(CountsOfToyLease(6, 4, {.jobs = 3, .round = 100}), spin);
}

TEST(SearchTest, TheToyLeaseIsVisitedAsAPlainSearchVisitsIt) {
  const ToyLease model(3, 2);
  const auto plain = SearchPlainly(model, kAnyFaults);
  const auto result = Explore(model);
  EXPECT_EQ(result.states, plain.states.size());
  EXPECT_EQ(result.transitions, plain.transitions);
}

// --- drawn graphs ------------------------------------------------------------------------------

using GraphResult = SearchResult<RandomGraph::Choice>;
using GraphViolation = Violation<RandomGraph::Choice>;

Cost CostOf(const GraphViolation& violation) {
  return {violation.faults, static_cast<int>(violation.path.choices.size())};
}

std::vector<FaultLevel> LevelsOf(const RandomGraph& graph, int max_faults) {
  const auto plain = SearchPlainly(graph, max_faults);
  std::vector<FaultLevel> levels(1);
  for (const auto& [state, cost] : plain.states) {
    const auto [faults, steps] = cost;
    levels.resize(std::max(levels.size(), static_cast<size_t>(faults) + 1));
    FaultLevel& level = levels[static_cast<size_t>(faults)];
    ++level.states;
    level.steps = std::max(level.steps, steps);
    graph.ForEachChoice(state, [&](const RandomGraph::Choice& choice, int fault) {
      RandomGraph::State to;
      if (faults + fault > max_faults || !graph.Take(state, choice, to)) return;
      ++level.transitions;
    });
  }
  return levels;
}

// The engine may add a level in which everything turns out to be known.
std::vector<FaultLevel> WithoutEmptyLast(std::vector<FaultLevel> levels) {
  if (levels.size() > 1 && levels.back().states == 0) levels.pop_back();
  return levels;
}

// Follows the path of a violation, and judges where it ends.
void ExpectReplays(const RandomGraph& graph, const GraphViolation& violation) {
  const auto walk = Follow(graph, violation.path);
  ASSERT_TRUE(walk.has_value());
  EXPECT_EQ(walk->faults, violation.faults);
  EXPECT_NE(graph.Judge(walk->state) & (1U << violation.property), 0U);
}

void ExpectFoundPlainly(const RandomGraph& graph, const GraphResult& result, int max_faults) {
  const auto plain = SearchPlainly(graph, max_faults);
  EXPECT_EQ(result.ending, Ending::kComplete);
  EXPECT_EQ(result.states, plain.states.size());
  EXPECT_EQ(result.transitions, plain.transitions);
  EXPECT_EQ(result.violating, plain.violating);
  EXPECT_EQ(result.frontier, 0U);
  EXPECT_EQ(WithoutEmptyLast(result.levels), LevelsOf(graph, max_faults));
  std::map<int, Cost> costs;
  for (const GraphViolation& violation : result.violations) {
    costs.emplace(violation.property, CostOf(violation));
    ExpectReplays(graph, violation);
  }
  EXPECT_EQ(costs, plain.violations);
}

void ExpectSame(const GraphResult& one, const GraphResult& other) {
  EXPECT_EQ(one.states, other.states);
  EXPECT_EQ(one.transitions, other.transitions);
  EXPECT_EQ(one.levels, other.levels);
  EXPECT_EQ(one.violating, other.violating);
  EXPECT_TRUE(one.violations == other.violations) << "other paths, or another order";
}

// The engine against the plain search: what is reached, at what cost, and that every path leads to
// the violation that it is shown for.
TEST(SearchTest, DrawnGraphsAreVisitedAsAPlainSearchVisitsThem) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const RandomGraph graph(seed, 2 + seed, 1 + seed % 3);
    for (const int max_faults : {0, 1, 2, kAnyFaults}) {
      SearchOptions options = WithShortRounds(1);
      options.max_faults = max_faults;
      const GraphResult result = Explore(graph, options);
      ExpectFoundPlainly(graph, result, max_faults);
      if (seed % 4 != 0) continue;
      options.jobs = 2;
      ExpectSame(result, Explore(graph, options));
    }
  }
}

// A report that depends on the number of threads, or on who was faster, cannot be compared.
TEST(SearchTest, ThreadsAndRoundsDoNotChangeTheResult) {
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    const RandomGraph graph(seed, 3000, 3);
    const GraphResult one = Explore(graph);
    ExpectSame(one, Explore(graph, WithShortRounds(1)));
    ExpectSame(one, Explore(graph, {.jobs = 2, .round = 40}));
    ExpectSame(one, Explore(graph, {.jobs = 4, .round = 7}));
    ExpectSame(one, Explore(graph, {.jobs = 4, .round = 7}));
  }
}

// `--all` shows each way of going wrong once.
TEST(SearchTest, EachKindOfAViolationIsFoundOnce) {
  const RandomGraph graph(8, 2000, 3);
  SearchOptions options = WithShortRounds(1);
  options.each_kind = true;
  const GraphResult result = Explore(graph, options);
  std::map<std::pair<int, uint64_t>, Cost> nearest;
  for (const auto& [state, cost] : SearchPlainly(graph, kAnyFaults).states) {
    for (uint32_t bits = graph.Judge(state); bits != 0; bits &= bits - 1) {
      const int property = std::countr_zero(bits);
      const auto known = nearest.emplace(std::pair(property, graph.Kind(state, property)), cost);
      known.first->second = std::min(known.first->second, cost);
    }
  }
  ASSERT_EQ(result.violations.size(), nearest.size());
  EXPECT_GT(nearest.size(), 4U) << "no property has two kinds";
  for (const GraphViolation& violation : result.violations) {
    EXPECT_EQ(CostOf(violation), nearest.at({violation.property, violation.kind}));
    ExpectReplays(graph, violation);
  }
  options.jobs = 2;
  ExpectSame(result, Explore(graph, options));
}

TEST(SearchTest, PropertiesThatAreNotWatchedAreNotJudged) {
  const RandomGraph graph(8, 2000, 3);
  const GraphResult result = Explore(graph, {.watched = 4});
  ASSERT_EQ(result.violations.size(), 1U);
  EXPECT_EQ(result.violations[0].property, 2);
  EXPECT_EQ(result.violating[0], 0U);
}

// --- limits ------------------------------------------------------------------------------------

// How many states of the toy lease are at most `steps` steps away.
uint64_t StatesWithin(const ToyLease& model, int steps) {
  uint64_t within = 0;
  for (const auto& [state, cost] : SearchPlainly(model, 0).states) {
    within += cost.second <= steps ? 1 : 0;
  }
  return within;
}

// What a search says that it explored is explored.
void ExpectBoundIsTrue(const ToyLease& model, const SearchResult<ToyLease::Choice>& result) {
  EXPECT_GT(result.explored_steps, 3);
  EXPECT_GE(result.states, StatesWithin(model, result.explored_steps));
  EXPECT_LT(result.states, StatesWithin(model, result.explored_steps + 1));
  EXPECT_GT(result.frontier, 0U);
}

// Running out of memory is an answer with its bound, not a crash.
TEST(SearchTest, EndsAtItsMemoryLimitWithABound) {
  const ToyLease model(4, 3);
  for (const int jobs : {1, 2}) {
    const auto result = Explore(model, {.jobs = jobs, .max_bytes = 150'000, .round = 64});
    EXPECT_EQ(result.ending, Ending::kMemory);
    EXPECT_LT(result.peak_bytes, 165'000U) << "more than a round too much";
    ExpectBoundIsTrue(model, result);
  }
}

TEST(SearchTest, EndsWhenItsCallerSaysSo) {
  const ToyLease model(4, 3);
  std::vector<uint64_t> seen;
  const auto result = Explore(model, {.round = 100, .progress = [&](const Progress& progress) {
                                        seen.push_back(progress.states);
                                        return seen.size() < 30 ? Continue::kYes : Continue::kNo;
                                      }});
  EXPECT_EQ(result.ending, Ending::kStopped);
  EXPECT_EQ(seen.size(), 30U);
  EXPECT_EQ(seen.back(), result.states);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  ExpectBoundIsTrue(model, result);
}

TEST(SearchTest, CanEndAtTheFirstViolation) {
  const RandomGraph graph(8, 2000, 3);
  const GraphResult all = Explore(graph);
  const GraphResult first = Explore(graph, {.stop_at_violation = true});
  EXPECT_EQ(first.ending, Ending::kViolation);
  EXPECT_LT(first.states, all.states);
  ASSERT_FALSE(first.violations.empty());
  EXPECT_EQ(first.violations[0], all.violations[0]);
}

// A model without an initial state has no behaviour; one that throws is heard of.
class OddModel {
 public:
  using State = uint32_t;
  using Choice = uint32_t;

  explicit OddModel(std::vector<State> initial) : initial_(std::move(initial)) {}

  const std::vector<State>& Initial() const { return initial_; }
  template <typename Visit>
  void ForEachChoice(State, Visit visit) const {
    for (Choice i = 0; i < 8; ++i) visit(i, 0);
  }
  static bool Take(State from, Choice choice, State& to) {
    to = from * 8 + choice;
    if (to > 40'000) throw std::runtime_error("forty thousand");
    return true;
  }
  static Key128 Fingerprint(State state) { return KeyOf(state, 1); }
  static uint32_t Judge(State) { return 0; }

 private:
  std::vector<State> initial_;
};

TEST(SearchTest, AModelWithoutInitialStatesIsComplete) {
  const auto result = Explore(OddModel({}));
  EXPECT_EQ(result.ending, Ending::kComplete);
  EXPECT_EQ(result.states, 0U);
}

TEST(SearchTest, ThrowsWhatTheModelThrows) {
  for (const int jobs : {1, 2}) {
    EXPECT_THROW(Explore(OddModel({1}), {.jobs = jobs, .round = 50}), std::runtime_error);
  }
}

// --- how little stays of a state -----------------------------------------------------------------

TEST(SearchTest, AVisitedStateTakesLessThanSixteenBytes) {
  const auto result = Explore(ToyLease(6, 4));
  const auto states = static_cast<double>(result.states);
  EXPECT_LT(static_cast<double>(result.visited_bytes) / states, 16);
  EXPECT_LT(static_cast<double>(result.peak_bytes) / states, 25) << "what is expanded is not freed";
}

}  // namespace
}  // namespace whorl::explore::search_test
