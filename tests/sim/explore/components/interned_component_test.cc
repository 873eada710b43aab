// Normal numbers: parts that lose and gain others become what a world with those parts would have given.
#include "sim/explore/components/interned_component.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/fewer.h"

namespace whorl::sim::explore_interned_component_test {
namespace {

constexpr uint64_t kScope = 7;
constexpr uint64_t kOtherScope = 8;
constexpr uint64_t kTrueTime = 0;
constexpr Duration kMemory = Seconds(20);
constexpr size_t kQuestions = 2;

// Shapes of parts that no world has, and states of them.
class NormalTableTest : public testing::Test {
 protected:
  ComponentTemplate ShapeWith(PartKind kind, const std::vector<NumericSlot>& slots) {
    ComponentTemplate shape;
    shape.digest = {.high = ++shapes_, .low = 1};
    shape.name = {.kind = static_cast<uint16_t>(kind)};
    shape.slots = NormalForm::Slots(slots);
    return shape;
  }
  void AddTo(TemplateTable::Parts& world, const ComponentTemplate& shape,
             const std::vector<int64_t>& numbers) {
    world.all.push_back(
        {.shape = &shape, .first_slot = static_cast<uint32_t>(world.numbers.size())});
    world.numbers.insert(world.numbers.end(), numbers.begin(), numbers.end());
  }
  InternedComponents NormalOf(TemplateTable::Parts world, Instant now = {}) {
    InternedComponents parts;
    table_.FromWorld(now, world, parts);
    return parts;
  }
  const InternedComponent& Only(const InternedComponents& parts, const ComponentTemplate& shape) {
    return **std::ranges::find(parts, &shape, &InternedComponent::shape);
  }
  int64_t At(Duration from_start) { return ToTimestamp(Instant{from_start.ns}).UnixNanos(); }

  NormalTable table_{kMemory, kQuestions, nullptr};
  uint64_t shapes_ = 0;
  ComponentTemplate ranks_ =
      ShapeWith(PartKind::kCall, {{.kind = SlotKind::kRank, .scope = kScope},
                                  {.kind = SlotKind::kRank, .scope = kOtherScope}});
  ComponentTemplate more_ranks_ = ShapeWith(
      PartKind::kTransaction,
      {{.kind = SlotKind::kRank, .scope = kScope}, {.kind = SlotKind::kRank, .scope = kScope}});
  ComponentTemplate instants_ =
      ShapeWith(PartKind::kDatabase, {{.kind = SlotKind::kInstant, .scope = kTrueTime},
                                      {.kind = SlotKind::kInstant, .scope = kTrueTime}});
  ComponentTemplate tokens_ =
      ShapeWith(PartKind::kDatabase,
                {{.kind = SlotKind::kInstant, .scope = kOtherScope, .param = Seconds(1).ns},
                 {.kind = SlotKind::kInstant, .scope = kOtherScope, .param = Seconds(1).ns}});
  ComponentTemplate ledger_ = ShapeWith(
      PartKind::kLedger,
      {{.kind = SlotKind::kRank, .scope = kScope}, {.kind = SlotKind::kRank, .scope = kScope}});
};

TEST(RankingTest, CountsTheLesserNumbersOfAScopeEachOnce) {
  Ranking ranking;
  for (const int64_t number : {7, 3, 7, -2}) ranking.Add(1, number);
  ranking.Add(4, 5);
  EXPECT_EQ(ranking.RankOf(1, -2), 0);
  EXPECT_EQ(ranking.RankOf(1, 7), 2);
  EXPECT_EQ(ranking.RankOf(1, 5), 2);  // which is no number of the scope
  EXPECT_EQ(ranking.RankOf(4, 5), 0);
  EXPECT_EQ(ranking.RankOf(9, 5), 0);
  ranking.Clear();
  ranking.Add(1, 7);
  EXPECT_EQ(ranking.RankOf(1, 7), 0);
}

TEST_F(NormalTableTest, RanksCloseUpAndNewOnesComeLast) {
  TemplateTable::Parts world;
  AddTo(world, ranks_, {100, 5});
  AddTo(world, more_ranks_, {103, 140});
  InternedComponents parts = NormalOf(world);
  EXPECT_EQ(Only(parts, ranks_).numbers, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(Only(parts, more_ranks_).numbers, (std::vector<int64_t>{kRankStep, 2 * kRankStep}));
  std::erase(parts, &Only(parts, ranks_));
  parts.push_back(&table_.Of(ranks_, std::vector<int64_t>{kNewRank, kNewRank + kRankStep}));
  table_.Restore(parts, false);
  EXPECT_EQ(Only(parts, more_ranks_).numbers, (std::vector<int64_t>{0, kRankStep}));
  EXPECT_EQ(Only(parts, ranks_).numbers, (std::vector<int64_t>{2 * kRankStep, 0}));
}

TEST_F(NormalTableTest, WhatTheLedgerAloneKnowsStandsBetweenRanks) {
  TemplateTable::Parts world;
  AddTo(world, ranks_, {1, 0});
  AddTo(world, more_ranks_, {2, 3});
  AddTo(world, ledger_, {2, 3});
  InternedComponents parts = NormalOf(world);
  EXPECT_FALSE(Only(parts, ledger_).is_ambiguous);
  std::erase(parts, &Only(parts, more_ranks_));
  table_.Restore(parts, false);
  const InternedComponent& ledger = Only(parts, ledger_);
  EXPECT_TRUE(ledger.is_ambiguous);
  EXPECT_GT(ledger.numbers[0], 0);
  EXPECT_LT(ledger.numbers[0], ledger.numbers[1]);
  EXPECT_LT(ledger.numbers[1], kRankStep);
}

TEST_F(NormalTableTest, InstantsBecomeOldInTheirOrder) {
  TemplateTable::Parts world;
  AddTo(world, instants_, {At(-kMemory), At(Seconds(-1))});
  InternedComponents parts = NormalOf(world);
  EXPECT_EQ(Only(parts, instants_).numbers, (std::vector<int64_t>{kOldest, Seconds(-1).ns}));
  table_.Advance(Seconds(2), parts);
  EXPECT_EQ(Only(parts, instants_).numbers, (std::vector<int64_t>{kOldest, Seconds(-3).ns}));
  table_.Advance(kMemory, parts);
  EXPECT_EQ(Only(parts, instants_).numbers, (std::vector<int64_t>{kOldest, kOldest + kRankStep}));
}

// Whatever the memory of the search.
TEST_F(NormalTableTest, InstantsWithAMemoryOfTheirOwnBecomeOldByIt) {
  TemplateTable::Parts world;
  AddTo(world, tokens_, {At(Milliseconds(-999)), At(Seconds(-1))});
  AddTo(world, instants_, {At(Seconds(-1)), At(Seconds(-2))});
  InternedComponents parts = NormalOf(world);
  EXPECT_EQ(Only(parts, tokens_).numbers, (std::vector<int64_t>{Milliseconds(-999).ns, kOldest}));
  EXPECT_EQ(Only(parts, instants_).numbers, (std::vector<int64_t>{Seconds(-1).ns, Seconds(-2).ns}));
  table_.Advance(Milliseconds(1), parts);
  EXPECT_EQ(Only(parts, tokens_).numbers, (std::vector<int64_t>{kOldest + kRankStep, kOldest}));
}

TEST_F(NormalTableTest, WhatWasNeverSetIsBeforeAllOthers) {
  TemplateTable::Parts world;
  AddTo(world, instants_, {0, At(-kMemory)});
  const InternedComponents parts = NormalOf(world);
  EXPECT_EQ(Only(parts, instants_).numbers, (std::vector<int64_t>{kNeverSet, kOldest + kRankStep}));
}

// A gate, and the question that it is about.
class NormalGates : public NormalTableTest {
 protected:
  NormalGates() {
    asking_.questions = {{.question = 0, .slot = 0}};
    asking_.name.index = 0;
    silent_.name.index = 0;
  }
  int64_t GateOf(const InternedComponents& parts) { return Only(parts, gates_).numbers[0]; }
  int64_t GatedBy(const InternedComponents& parts) { return Only(parts, gates_).numbers[1]; }

  ComponentTemplate asking_ =
      ShapeWith(PartKind::kNode, {{.kind = SlotKind::kInstant, .scope = kTrueTime}});
  ComponentTemplate silent_ = ShapeWith(PartKind::kNode, {});
  ComponentTemplate gates_ = ShapeWith(
      PartKind::kJudges, {{.kind = SlotKind::kQuestionTime}, {.kind = SlotKind::kConditional}});
};

TEST_F(NormalGates, AreOpenFromTheQuestionToItsAnswer) {
  TemplateTable::Parts world;
  AddTo(world, asking_, {At(Seconds(1))});
  AddTo(world, gates_, {At(Seconds(2)), 4});
  InternedComponents parts = NormalOf(world, Instant{Seconds(3).ns});
  EXPECT_EQ(GateOf(parts), kOpen);
  EXPECT_EQ(GatedBy(parts), 4);
  table_.Advance(Seconds(1), parts);
  EXPECT_EQ(GateOf(parts), kOpen);
  std::erase(parts, &Only(parts, asking_));
  parts.push_back(&table_.Of(silent_, {}));
  table_.Restore(parts, true);
  EXPECT_EQ(GateOf(parts), kClosed);
  EXPECT_EQ(GatedBy(parts), 0);
}

TEST_F(NormalGates, OfNowCloseWhenTimeGoesOnWithoutAQuestion) {
  TemplateTable::Parts world;
  AddTo(world, silent_, {});
  AddTo(world, gates_, {At(Seconds(2)), 4});
  InternedComponents parts = NormalOf(world, Instant{Seconds(2).ns});
  EXPECT_EQ(GateOf(parts), 0);
  EXPECT_EQ(GatedBy(parts), 4);
  table_.Advance(Seconds(1), parts);
  EXPECT_EQ(GateOf(parts), kClosed);
}

TEST_F(NormalGates, CloseWhenAnotherQuestionIsAsked) {
  TemplateTable::Parts world;
  AddTo(world, asking_, {At(Seconds(1))});
  AddTo(world, gates_, {At(Seconds(2)), 4});
  InternedComponents parts = NormalOf(world, Instant{Seconds(3).ns});
  std::erase(parts, &Only(parts, asking_));
  parts.push_back(&table_.Of(asking_, std::vector<int64_t>{0}));
  table_.Restore(parts, true);
  EXPECT_EQ(GateOf(parts), kClosed);
}

// What is left of drawn parts, with some new ones, is made normal as a world of these parts would be; and so it
// is when time has gone on.
TEST_F(NormalTableTest, RestoringAndAdvancingIsWhatAWorldGives) {
  std::mt19937_64 random(1);
  const auto draw = [&random](int64_t most) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1));
  };
  const int64_t memory = kMemory.ns / Seconds(1).ns;
  for (uint64_t run = 0; run < Fewer(3'000); ++run) {
    const auto instant = [&] { return draw(5) == 0 ? 0 : At(Seconds(-draw(2 * memory))); };
    TemplateTable::Parts world;
    TemplateTable::Parts rest;
    InternedComponents parts;
    for (int64_t count = draw(5); count >= 0; --count) {
      AddTo(world, ranks_, {draw(9), draw(3)});
      AddTo(world, more_ranks_, {draw(9), draw(9)});
      AddTo(world, instants_, {instant(), instant()});
    }
    InternedComponents all = NormalOf(world);
    // The same order, so that one can be taken from both.
    table_.FromWorld({}, world, all);
    for (size_t i = 0; i < all.size(); ++i) {
      if (draw(3) == 0) continue;
      parts.push_back(all[i]);
      const std::span<const int64_t> numbers = world.NumbersOf(world.all[i]);
      AddTo(rest, *world.all[i].shape, {numbers.begin(), numbers.end()});
    }
    for (int64_t count = draw(2); count > 0; --count) {
      const int64_t first = draw(2);
      parts.push_back(&table_.Of(
          ranks_, std::vector<int64_t>{kNewRank + first * kRankStep, kNewRank + kRankStep}));
      AddTo(rest, ranks_, {100 + first, 101});
      parts.push_back(&table_.Of(instants_, std::vector<int64_t>{kNeverSet, 0}));
      AddTo(rest, instants_, {0, At({})});
    }
    table_.Restore(parts, true);
    NormalTable::Sort(parts);
    ASSERT_EQ(parts, NormalOf(rest)) << "run " << run;
    NormalForm form;
    form.Begin(ToTimestamp(Instant{}), kMemory, {});
    for (const TemplateTable::Part& part : rest.all) {
      form.AddPart(part.shape->digest, part.shape->slots, rest.NumbersOf(part));
    }
    form.Finish();
    ASSERT_EQ(table_.DigestOf(parts), form.digest()) << "run " << run;
    const Duration later = Seconds(draw(memory));
    table_.Advance(later, parts);
    NormalTable::Sort(parts);
    ASSERT_EQ(parts, NormalOf(rest, Instant{} + later)) << "run " << run;
  }
}

}  // namespace
}  // namespace whorl::sim::explore_interned_component_test
