// The canonical form of a world: what does not matter does not show, and what matters does.
#include "sim/explore/components/canonical_world.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "sim/explore/components/normal_form.h"
#include "sim/world/chance.h"
#include "sim/world/mix.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::explore_canonical_world_test {
namespace {

Scenario ThreeThatHurry(const std::string& protocol) {
  return ScenarioOf(R"({"version": 1, "about": "x", "protocol": ")" + protocol + R"(",
    "lease": "5s", "nodes": [{"name": "n", "count": 3}], "duration": "1000h",
    "spanner": {"preset": "none"}})");
}

Digest128 DigestOf(const World& world) { return CanonicalDigest(world, Seconds(20)); }

struct Fork {
  explicit Fork(const Scenario& scenario) : chance(1, scenario), world(MakeSetup(scenario), out) {}
  // In an order of its own, so that a copy of both does the same.
  void Take(const Choice& choice) {
    Outbox scratch;
    world.Take(choice, chance, scratch);
  }

  Outbox out;
  SeededChance chance;
  World world;
};

// What can happen at this instant, and concerns one node alone: a message or a timer of its own.
std::vector<Choice> DueAtNodes(const World& world) {
  std::vector<Choice> due;
  world.ForEachChoice([&](const Choice& choice, Instant at) {
    const bool at_node = choice.node >= 0 && choice.kind != ChoiceKind::kFault &&
                         !std::holds_alternative<NodeStarts>(choice.event);
    if (at_node && at <= world.now()) due.push_back(choice);
  });
  return due;
}

// Two events of different nodes commute, and the two schedules leave different places, ids and orders
// behind. If those showed, a search would count one state many times. WHORL_COMMUTING_STEPS=2000000 takes
// a million pairs, in some minutes.
TEST(CanonicalForm, SchedulesThatCommuteEndInTheSameWorld) {
  const char* wanted = std::getenv("WHORL_COMMUTING_STEPS");  // NOLINT(concurrency-mt-unsafe)
  const int steps = wanted == nullptr ? 20'000 : std::atoi(wanted);
  int pairs = 0;
  int different = 0;
  for (const char* protocol : {"fenced_lease", "spindle_v2", "spindle_v3", "lease_lock"}) {
    Fork run(ThreeThatHurry(protocol));
    uint64_t draws = 0;
    for (int step = 0; step < steps && run.world.Next() != nullptr; ++step) {
      const std::vector<Choice> due = DueAtNodes(run.world);
      for (size_t second = 1; second < due.size(); ++second) {
        if (due[0].node == due[second].node) continue;
        Fork one = run;
        Fork other = run;
        one.Take(due[0]);
        one.Take(due[second]);
        other.Take(due[second]);
        other.Take(due[0]);
        ++pairs;
        EXPECT_EQ(DigestOf(one.world), DigestOf(other.world));
        different += one.world == other.world ? 0 : 1;
        break;
      }
      if (due.empty()) {
        run.world.TakeNext(run.chance, run.out);
      } else {
        run.Take(due[Mix(++draws) % due.size()]);
      }
      if (HasFailure()) return;
    }
  }
  RecordProperty("pairs", pairs);
  EXPECT_GT(pairs, steps / 2);
  EXPECT_GT(different, 1'000) << "as values, they are mostly not the same";
}

TEST(CanonicalForm, StaysWhenWhatCannotMatterIsDropped) {
  const auto versions_of = [](const World& world) {
    size_t versions = 0;
    for (const model::StoredTable& table : world.state().database.tables) {
      for (const auto& [key, kept] : table.rows) versions += kept.size();
    }
    return versions;
  };
  Fork run(ThreeThatHurry("fenced_lease"));
  size_t transactions = 0;
  size_t versions = 0;
  for (int step = 0; step < 5'000; ++step) {
    run.world.TakeNext(run.chance, run.out);
    if (step % 50 != 0) continue;
    World small = run.world;
    DropWhatCannotMatter(small);
    EXPECT_EQ(DigestOf(small), DigestOf(run.world));
    transactions +=
        run.world.state().database.finished.size() - small.state().database.finished.size();
    versions += versions_of(run.world) - versions_of(small);
  }
  EXPECT_GT(transactions, 100) << "more than one each time";
  EXPECT_GT(versions, 50) << "one, mostly";
}

// A digest that never changed would pass the test above.
// A parked statement that begins a transaction names the attempt before, which has given its age. Spanner
// forgets that attempt, and a search that remembers steps would look for a state that no world has.
TEST(CanonicalForm, StaysWhateverAttemptAParkedStatementInheritsFrom) {
  // Who acquires stands still with the row locked.
  std::string faults = R"({"at": "1h", "do": "pause", "node": "n-1", "for": "6s"})";
  for (const std::string node : {"n-1", "n-2", "n-3"}) {
    for (int count = 1; count <= 60; ++count) {
      faults += R"(, {"when": {"node": ")" + node +
                R"(", "step": "acquire", "phase": "replied", "count": )" + std::to_string(count) +
                R"(}, "do": "pause", "node": ")" + node + R"(", "for": "9s"})";
    }
  }
  Fork run(ScenarioOf(R"({"version": 1, "about": "x", "protocol": "spindle_v3",
    "lease": "5s", "nodes": [{"name": "n", "count": 3}], "duration": "1000h",
    "spanner": {"preset": "none"}, "faults": [)" +
                      faults + "]}"));
  int begun = 0;
  for (int step = 0; step < 20'000; ++step) {
    run.world.TakeNext(run.chance, run.out);
    World other = run.world;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): no event makes just this difference
    auto& database = const_cast<model::Database&>(other.state().database);
    for (model::TransactionState& waits : database.transactions) {
      auto* parked = waits.parked ? std::get_if<ExecuteSql>(&waits.parked->request) : nullptr;
      auto* begins =
          parked == nullptr ? nullptr : std::get_if<BeginReadWrite>(&parked->transaction);
      if (begins == nullptr) continue;
      begins->previous = TransactionId("forgotten");
      EXPECT_EQ(DigestOf(other), DigestOf(run.world));
      ++begun;
    }
  }
  EXPECT_GT(begun, 2);
}

TEST(CanonicalForm, EventsThatMatterShow) {
  Fork run(ThreeThatHurry("fenced_lease"));
  int same = 0;
  for (int step = 0; step < 2'000; ++step) {
    const Digest128 before = DigestOf(run.world);
    run.world.TakeNext(run.chance, run.out);
    if (DigestOf(run.world) == before) ++same;
  }
  EXPECT_EQ(same, 0);
}

// Names that stand for several processes put their counters into one scope, where their order means nothing.
TEST(CanonicalForm, WithoutRanksTheOrderOfCountersDoesNotMatter) {
  const std::vector<NumericSlot> rank = {{.kind = SlotKind::kRank, .scope = 7}};
  const auto digest_of = [&rank](int64_t first, int64_t second, bool ranks) {
    NormalForm form;
    form.Begin(Timestamp(), Seconds(1), {}, ranks);
    form.AddPart({.high = 1, .low = 1}, rank, std::vector<int64_t>{first});
    form.AddPart({.high = 2, .low = 2}, rank, std::vector<int64_t>{second});
    form.Finish();
    return form.digest();
  };
  EXPECT_EQ(digest_of(1, 2, true), digest_of(4, 9, true));
  EXPECT_NE(digest_of(1, 2, true), digest_of(2, 1, true));
  EXPECT_EQ(digest_of(1, 2, false), digest_of(2, 1, false));
}

}  // namespace
}  // namespace whorl::sim::explore_canonical_world_test
