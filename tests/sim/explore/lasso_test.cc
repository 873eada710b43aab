// Fair cycles of bad states: what is found goes round, and where nothing is found there is none.

#include "sim/explore/engine/lasso.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sim/explore/engine/checkpoint.h"
#include "sim/explore/engine/components.h"
#include "sim/explore/engine/key_numbers.h"
#include "sim/explore/engine/search.h"
#include "tests/sim/explore/follow.h"
#include "tests/sim/explore/lasso_testing.h"
#include "tests/sim/explore/plain_search.h"
#include "tests/sim/explore/random_graph.h"
#include "tests/sim/explore/toy_lease.h"

namespace whorl::explore::lasso_test {
namespace {

using testing::ElementsAre;

Graph GraphOf(const std::vector<std::vector<Edge>>& nodes) {
  Graph graph;
  for (const std::vector<Edge>& edges : nodes) {
    for (const Edge& edge : edges) graph.AddEdge(edge);
    graph.EndNode();
  }
  return graph;
}

// --- graphs ------------------------------------------------------------------------------------

// Reaches[i][j]: some path of at least one edge goes from i to j.
std::vector<std::vector<bool>> Reaches(const Graph& graph) {
  const uint32_t size = graph.nodes();
  std::vector<std::vector<bool>> reaches(size, std::vector<bool>(size));
  for (uint32_t i = 0; i < size; ++i) {
    for (const Edge& edge : graph.EdgesOf(i)) reaches[i][edge.to] = true;
  }
  for (uint32_t k = 0; k < size; ++k) {
    for (uint32_t i = 0; i < size; ++i) {
      for (uint32_t j = 0; j < size; ++j) {
        if (reaches[i][k] && reaches[k][j]) reaches[i][j] = true;
      }
    }
  }
  return reaches;
}

// Whether a loop through the node has an edge of each class, said plainly.
bool HasFairLoop(const Graph& graph, uint32_t node, uint32_t required) {
  const std::vector<std::vector<bool>> reaches = Reaches(graph);
  uint32_t classes = 0;
  for (uint32_t from = 0; from < graph.nodes(); ++from) {
    if (from != node && !reaches[node][from]) continue;
    for (const Edge& edge : graph.EdgesOf(from)) {
      if (edge.to == node || reaches[edge.to][node]) classes |= edge.classes;
    }
  }
  return reaches[node][node] && (classes & required) == required;
}

Graph DrawGraph(std::minstd_rand& random, uint32_t size) {
  Graph graph;
  for (uint32_t node = 0; node < size; ++node) {
    for (uint32_t left = static_cast<uint32_t>(random()) % 4; left > 0; --left) {
      const auto to = static_cast<uint32_t>(random()) % size;
      graph.AddEdge({.to = to, .classes = 1U << random() % 3});
    }
    graph.EndNode();
  }
  return graph;
}

void ExpectGoesRound(const std::vector<Edge>& loop, uint32_t node, uint32_t required) {
  uint32_t classes = 0;
  for (const Edge& edge : loop) classes |= edge.classes;
  EXPECT_EQ(classes & required, required);
  ASSERT_FALSE(loop.empty());
  EXPECT_EQ(loop.back().to, node);
}

TEST(ComponentsTest, TheFirstFairEntryIsTheOneOfAPlainSearch) {
  std::minstd_rand random(1);
  for (int round = 0; round < 1000; ++round) {
    const Graph graph = DrawGraph(random, 1 + static_cast<uint32_t>(round) % 12);
    for (const uint32_t required : {0U, 1U, 3U, 7U}) {
      std::optional<uint32_t> first;
      for (uint32_t node = 0; node < graph.nodes() && !first; ++node) {
        if (HasFairLoop(graph, node, required)) first = node;
      }
      ASSERT_EQ(FairEntry(graph, required), first);
      if (first) ExpectGoesRound(ShortestFairLoop(graph, *first, required), *first, required);
    }
  }
}

TEST(ComponentsTest, TheLoopShownIsTheShortestFairOne) {
  // 0 -> 1 -> 0 is of class 1 only; 0 -> 2 -> 3 -> 0 has class 2, and so has 1 -> 4 -> 0 -> 1.
  const Graph graph = GraphOf({{{.to = 1, .classes = 1}, {.to = 2}},
                               {{.to = 0, .classes = 1}, {.to = 4, .classes = 2}},
                               {{.to = 3, .classes = 2}},
                               {{.to = 0}},
                               {{.to = 0}}});
  EXPECT_EQ(ShortestFairLoop(graph, 0, 1).size(), 2U);
  EXPECT_EQ(ShortestFairLoop(graph, 0, 3).size(), 3U);
  EXPECT_EQ(ShortestFairLoop(graph, 0, 2).size(), 3U);
}

// Recursion would end the program on a long path.
TEST(ComponentsTest, TakesAPathOfAMillionNodes) {
  Graph graph;
  constexpr uint32_t kNodes = 1'000'000;
  for (uint32_t node = 0; node < kNodes; ++node) {
    graph.AddEdge({.to = (node + 1) % kNodes, .classes = node == 77 ? 1U : 0U});
    graph.EndNode();
  }
  EXPECT_EQ(FairEntry(graph, 1), 0U);
  EXPECT_EQ(FairEntry(graph, 2), std::nullopt);
}

// --- models ------------------------------------------------------------------------------------

constexpr uint32_t kEven = 1;
constexpr uint32_t kOdd = 2;

uint32_t ClassOf(const RandomGraph::Choice& choice) { return choice.edge % 2 == 0 ? kEven : kOdd; }
bool IsBad(const RandomGraph::State& state) { return state.node % 3 != 0; }

// The graph of the bad states that are reached, in the order of their costs.
struct BadGraph {
  std::vector<std::pair<Cost, RandomGraph::State>> states;
  Graph graph;
};

BadGraph BadGraphOf(const RandomGraph& model) {
  BadGraph bad;
  for (const auto& [state, cost] : SearchPlainly(model, 2).states) {
    if (IsBad(state)) bad.states.emplace_back(cost, state);
  }
  std::ranges::sort(bad.states);
  std::map<RandomGraph::State, uint32_t> numbers;
  for (uint32_t i = 0; i < bad.states.size(); ++i) numbers.emplace(bad.states[i].second, i);
  for (const auto& [cost, state] : bad.states) {
    model.ForEachChoice(state, [&](const RandomGraph::Choice& choice, int faults) {
      RandomGraph::State to;
      if (faults > 0 || !model.Take(state, choice, to) || !IsBad(to)) return;
      bad.graph.AddEdge({.to = numbers.at(to), .classes = ClassOf(choice)});
    });
    bad.graph.EndNode();
  }
  return bad;
}

// Takes the choices of the loop, all through bad states, and comes back.
void ExpectReplays(const RandomGraph& model, const Lasso<RandomGraph::Choice>& lasso) {
  const auto entry = Follow(model, lasso.stem);
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->faults, lasso.faults);
  RandomGraph::State state = entry->state;
  uint32_t classes = 0;
  for (const RandomGraph::Choice& choice : lasso.loop) {
    EXPECT_TRUE(IsBad(state));
    classes |= ClassOf(choice);
    RandomGraph::State to;
    ASSERT_TRUE(model.Take(state, choice, to));
    state = to;
  }
  EXPECT_EQ(state, entry->state);
  EXPECT_EQ(classes, kEven | kOdd);
}

TEST(LassoTest, FindsTheNearestFairLoopOfDrawnGraphs) {
  int found = 0;
  constexpr uint32_t kGraphs = 200;
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const RandomGraph model(seed, 2 + seed % 60, 1 + seed % 2);
    const auto result =
        FindLasso(model, IsBad, ClassOf, kEven | kOdd, {.max_faults = 2, .round = 3});
    const BadGraph bad = BadGraphOf(model);
    const std::optional<uint32_t> entry = FairEntry(bad.graph, kEven | kOdd);
    EXPECT_EQ(result.search.ending, Ending::kComplete);
    EXPECT_EQ(result.bad_states, bad.states.size());
    EXPECT_EQ(result.bad_transitions, bad.graph.edges());
    ASSERT_EQ(result.lasso.has_value(), entry.has_value());
    if (!entry) continue;
    ++found;
    const Cost cost(result.lasso->faults, static_cast<int>(result.lasso->stem.choices.size()));
    EXPECT_EQ(cost, bad.states[*entry].first);
    ExpectReplays(model, *result.lasso);
  }
  EXPECT_GT(found, 20);
  EXPECT_LT(found, static_cast<int>(kGraphs) - 20);
}

// --- threads, pieces and respects ------------------------------------------------------------------

using GraphResult = LassoResult<RandomGraph::Choice>;

GraphResult FairLoopOf(const RandomGraph& model, const SearchOptions& options) {
  return FindLasso(model, IsBad, ClassOf, kEven | kOdd, options);
}

// Or what is found would depend on the machine. Rounds of one state are shared out, too.
TEST(LassoTest, SeveralThreadsFindWhatOneFinds) {
  int found = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const RandomGraph model(seed, 40 + seed * 3, 1 + seed % 3);
    const GraphResult one = FairLoopOf(model, {.round = 20});
    found += one.lasso ? 1 : 0;
    for (const int jobs : {2, 3}) ExpectSame(FairLoopOf(model, {.jobs = jobs, .round = 5}), one);
  }
  EXPECT_GT(found, 20);
}

GraphResult FairLoopInPieces(const RandomGraph& model, int rounds, int& times) {
  const auto search = [&model](const SearchOptions& options, const SaveLasso& save,
                               std::optional<Checkpoint> from) {
    return FindLasso(model, IsBad, ClassOf, kEven | kOdd, options, save, std::move(from));
  };
  return InPieces(search, rounds, 3, 3, times);
}

// The graph is saved with the search.
TEST(LassoTest, ASearchInPiecesFindsWhatOneFindsThatWasNeverInterrupted) {
  int times = 0;
  int found = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const RandomGraph model(seed, 20 + seed * 3, 1 + seed % 3);
    const GraphResult whole = FairLoopOf(model, {});
    ExpectSame(FairLoopInPieces(model, static_cast<int>(seed % 3), times), whole);
    found += whole.lasso ? 1 : 0;
  }
  EXPECT_GT(times, 500);
  EXPECT_GT(found, 10);
}

// Two locks are two respects, and a loop in which first one and then the other lacks a holder is none.
TEST(LassoTest, AllStatesOfALoopAreBadInTheSameRespect) {
  const auto is_odd = [](const RandomGraph::State& state) { return state.node % 2 != 0; };
  const auto in_two = [&](const RandomGraph::State& state) -> uint32_t {
    return (IsBad(state) ? 1U : 0U) | (is_odd(state) ? 2U : 0U);
  };
  std::array<int, 3> found = {};
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const RandomGraph model(seed, 2 + seed % 60, 1 + seed % 2);
    const auto one = FindLasso(model, IsBad, ClassOf, kEven | kOdd);
    const auto other = FindLasso(model, is_odd, ClassOf, kEven | kOdd);
    const auto both = FindLasso(model, in_two, ClassOf, kEven | kOdd);
    const auto& expected = one.lasso ? one.lasso : other.lasso;
    ++found[one.lasso ? 0 : other.lasso ? 1 : 2];
    ASSERT_EQ(both.lasso.has_value(), expected.has_value());
    if (!expected) continue;
    EXPECT_EQ(both.lasso->respect, one.lasso ? 0 : 1);
    EXPECT_TRUE(both.lasso->stem == expected->stem);
    EXPECT_TRUE(both.lasso->loop == expected->loop);
  }
  for (const int times : found) EXPECT_GT(times, 5);
}

// In the toy lease all clients can crash and restart for ever while nobody holds the lease, but time
// ends; so with time among the fairness classes there is no loop.
TEST(LassoTest, ALoopInNoTimeIsNotFair) {
  const ToyLease model(2, 1);
  const auto is_free = [](const ToyLease::State& state) {
    return state.holder == ToyLease::kNobody;
  };
  const auto time = [](const ToyLease::Choice& choice) {
    return choice.action == ToyLease::Action::kTick ? 1U : 0U;
  };
  EXPECT_FALSE(FindLasso(model, is_free, time, 1).lasso.has_value());
  const auto unfair = FindLasso(model, is_free, time, 0);
  ASSERT_TRUE(unfair.lasso.has_value());
  EXPECT_TRUE(unfair.lasso->stem.choices.empty());
  EXPECT_THAT(unfair.lasso->loop,
              ElementsAre(ToyLease::Choice{.action = ToyLease::Action::kCrash},
                          ToyLease::Choice{.action = ToyLease::Action::kRestart}));
}

// Each state of it claims a million bytes.
class HeavyLease : public ToyLease {
 public:
  using ToyLease::ToyLease;
  size_t BytesOf(const State&) const { return 1'000'000; }
};

// What is bad for long is most of all states, and a world of a lock takes thousands of bytes.
TEST(LassoTest, HoldsNoStateLongerThanAPlainSearch) {
  const HeavyLease model(5, 3);
  const auto any = [](const ToyLease::State&) { return true; };
  const auto none = [](const ToyLease::Choice&) { return 0U; };
  const SearchOptions options = {.round = 100};
  const auto plain = Explore(model, options);
  const auto result = FindLasso(model, any, none, 1, options);
  EXPECT_EQ(result.bad_states, plain.states);
  EXPECT_EQ(result.bad_transitions, plain.transitions);
  const size_t each = (result.search.peak_bytes - plain.peak_bytes) / plain.states;
  EXPECT_GE(each, sizeof(Key128));
  EXPECT_LT(each, 200U);
}

TEST(KeyNumbersTest, NumbersKeysInTheOrderInWhichTheyCome) {
  KeyNumbers numbers;
  std::minstd_rand random(1);
  std::map<uint64_t, uint32_t> plain;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t word = random() % 5'000;
    // Few low words, so that places are taken.
    const Key128 key = {.high = word, .low = word % 1'000};
    const auto known = plain.find(word);
    const auto expected =
        known == plain.end() ? std::nullopt : std::optional<uint32_t>(known->second);
    ASSERT_EQ(numbers.Find(key), expected);
    const uint32_t number = numbers.NumberOf(key);
    EXPECT_EQ(number, plain.emplace(word, static_cast<uint32_t>(plain.size())).first->second);
    EXPECT_EQ(numbers[number], key);
  }
  EXPECT_EQ(numbers.size(), plain.size());
}

// Without the whole graph, no loop is no answer.
TEST(LassoTest, SaysWhenItCouldNotFinish) {
  const ToyLease model(6, 4);
  const auto any = [](const ToyLease::State&) { return true; };
  const auto none = [](const ToyLease::Choice&) { return 0U; };
  const auto stopped = FindLasso(model, any, none, 1, {.max_bytes = 200'000, .round = 100});
  EXPECT_EQ(stopped.search.ending, Ending::kMemory);
  EXPECT_FALSE(stopped.lasso.has_value());
  EXPECT_TRUE(FindLasso(model, any, none, 0, {.max_bytes = 200'000, .round = 100}).lasso)
      << "a loop in the part that was seen is a loop";
}

}  // namespace
}  // namespace whorl::explore::lasso_test
