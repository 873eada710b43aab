// What a search forgets must not matter: how long ago something was (MemoryOf, StateTraits::memory_leases), and when
// a token was committed (StateTraits::orders_tokens_only).
#include <gtest/gtest.h>

#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/protocols.h"
#include "sim/explore/bounds.h"
#include "sim/explore/lock_model.h"
#include "tests/support/fewer.h"

namespace whorl::sim::explore_memory_test {
namespace {

LockModel ModelOf(std::string_view protocol, const FaultBudget& faults) {
  ExploreWorld world;
  world.protocol = protocol;
  world.grid_constants = true;
  world.lease = Seconds(5);
  ExploreBounds bounds;
  bounds.faults = faults;
  bounds.grid = world.lease / 4;
  bounds.longest_pause = world.lease;
  return {world, bounds};
}

using Key = std::pair<uint64_t, uint64_t>;
using Forms = std::set<Key>;

// A way to tell states apart.
struct View {
  Duration memory;
  TokensAre tokens = TokensAre::kAsTheProtocolSays;
};

Key FormOf(const LockModel& model, const LockModel::State& state, const View& view) {
  const explore::Key128 key = model.FormOf(*state, view.memory, view.tokens);
  return {key.high, key.low};
}

struct Comparison {
  size_t states = 0;  // distinct in the finer view
  size_t forms = 0;   // distinct in the coarser one
  // States from which other forms are reached than from the first state of their form.
  size_t different = 0;
};

// Visits the first `limit` states that the finer view tells apart. If the coarser one is fine enough, all
// states of one form lead to the same forms, at every step, so for ever.
Comparison Compare(const LockModel& model, const View& coarser, const View& finer, size_t limit) {
  Comparison found;
  std::map<Key, Forms> known;
  Forms seen;
  std::deque<LockModel::State> waiting;
  const auto add = [&](LockModel::State state) {
    if (seen.insert(FormOf(model, state, finer)).second) waiting.push_back(std::move(state));
  };
  for (LockModel::State& state : model.Initial()) add(std::move(state));
  for (; !waiting.empty() && found.states < limit; ++found.states) {
    const LockModel::State state = std::move(waiting.front());
    waiting.pop_front();
    Forms next;
    model.ForEachChoice(state, [&](const Move& move, int) {
      LockModel::State to;
      if (!model.Take(state, move, to)) return;
      next.insert(FormOf(model, to, coarser));
      add(std::move(to));
    });
    const auto [first, is_new] = known.try_emplace(FormOf(model, state, coarser), next);
    if (!is_new && first->second != next) ++found.different;
  }
  found.forms = known.size();
  return found;
}

constexpr size_t kLimit = Fewer(2'000);

TEST(ExploreMemory, WhatIsLongerAgoDoesNotMatter) {
  const std::vector<FaultBudget> budgets = {{},
                                            {.aborts = 1},
                                            {.deletes = 1},
                                            {.losses = 1},
                                            {.losses = 2},
                                            {.pauses = 1},
                                            {.crashes = 1}};
  for (const ProtocolInfo& protocol : Protocols()) {
    if (protocol.make_grid_config == nullptr) continue;
    for (const FaultBudget& faults : budgets) {
      const LockModel model = ModelOf(protocol.name, faults);
      const View coarser = {.memory = model.memory()};
      const View finer = {.memory = model.memory() * 2};
      EXPECT_EQ(Compare(model, coarser, finer, kLimit).different, 0U) << protocol.name;
    }
  }
}

// A memory that is too short is noticed; not sooner under the sanitizers.
TEST(ExploreMemory, WhatIsLessLongAgoMatters) {
  const LockModel model = ModelOf("spindle_v3", {.losses = 1});
  const Comparison found =
      Compare(model, {.memory = model.bounds().grid}, {.memory = model.memory()}, 10'000);
  EXPECT_LT(found.forms, found.states);
  EXPECT_GT(found.different, 0U);
}

TEST(ExploreMemory, WhenATokenWasCommittedDoesNotMatter) {
  constexpr size_t kMany = kTestsAreSlow ? 2'000 : 40'000;
  bool are_there_any = false;
  for (const ProtocolInfo& protocol : Protocols()) {
    if (!protocol.state_traits.orders_tokens_only) continue;
    are_there_any = true;
    for (const FaultBudget& faults : std::vector<FaultBudget>{{}, {.deletes = 1}}) {
      const LockModel model = ModelOf(protocol.name, faults);
      const View ordered = {.memory = model.memory(), .tokens = TokensAre::kOrdered};
      const View instants = {.memory = model.memory(), .tokens = TokensAre::kInstants};
      const Comparison found = Compare(model, ordered, instants, kMany);
      EXPECT_EQ(found.different, 0U) << protocol.name;
      if (!kTestsAreSlow) {  // the first states have too few tokens
        EXPECT_LT(found.forms, found.states) << protocol.name;
      }
    }
  }
  EXPECT_TRUE(are_there_any);
}

// A protocol whose tokens are leases, too, would be noticed if it said that it only orders them.
TEST(ExploreMemory, WhenALeaseWasCommittedMatters) {
  const LockModel model = ModelOf("spindle_v3", {.losses = 1});
  const View ordered = {.memory = model.memory(), .tokens = TokensAre::kOrdered};
  const View instants = {.memory = model.memory(), .tokens = TokensAre::kInstants};
  EXPECT_GT(Compare(model, ordered, instants, 10'000).different, 0U);
}

}  // namespace
}  // namespace whorl::sim::explore_memory_test
