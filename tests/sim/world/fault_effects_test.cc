// The machine of active faults by itself: what it tells its host to do, and in which order. What its
// effects come to stands in faults_test.cc (simulated) and tests/live/replay_test.cc (real).
#include "sim/world/fault_effects.h"

#include <gtest/gtest.h>

#include <variant>
#include <vector>

#include "protocol/spindle_v2/words.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::fault_effects_test {
namespace {

// Hits always, and delays by the most.
class FixedChance final : public FaultChance {
 public:
  bool Hits(uint32_t /*fault*/, int64_t /*percent*/) override { return true; }
  Duration Delay(uint32_t /*fault*/, const DelaySpec& delay) override { return delay.max; }
};

constexpr FaultTarget kRuns = {.node = 0, .life = kIsRunning, .incarnation = 1, .call = {}};

class FaultEffectsTest : public testing::Test {
 protected:
  // Gives the scenario these faults, in their order, all of node 0.
  void Faults(std::vector<AnyFault> kinds) {
    scenario_ = ScenarioOf(R"({"version": 1, "about": "a test", "protocol": "spindle_v2",
                               "nodes": ["a", "b"], "duration": "60s"})");
    for (AnyFault& kind : kinds) {
      FaultSpec& fault = scenario_.faults.emplace_back();
      fault.trigger = Instant{};
      fault.what = std::move(kind);
    }
    faults_.nodes.resize(2);
  }
  FaultEffects Due(uint32_t fault, const FaultTarget& target = kRuns) {
    FaultEffects effects;
    OnFaultDue(scenario_, faults_, fault, target, effects);
    return effects;
  }
  FaultEffects Over(uint32_t fault, uint32_t incarnation = 1) {
    FaultEffects effects;
    OnFaultOver(scenario_, faults_, fault, /*node=*/0, incarnation, /*struck=*/1, effects);
    return effects;
  }
  std::optional<FaultAnswer> Answer(StepName step, bool can_abort = true,
                                    std::optional<uint32_t> struck_by = {}) {
    return AnswerByFault(scenario_, faults_,
                         {.node = 0, .step = step, .can_abort = can_abort, .struck_by = struck_by},
                         chance_);
  }

  Scenario scenario_;
  ActiveFaults faults_;
  FixedChance chance_;
};

template <typename T>
bool Is(const FaultEffect& effect) {
  return std::holds_alternative<T>(effect);
}
template <typename T>
bool Observes(const FaultEffect& effect) {
  const auto* observed = std::get_if<ObserveFault>(&effect);
  return observed != nullptr && std::holds_alternative<T>(observed->what);
}

// An observer takes what happens between the two as the fault's work.
TEST_F(FaultEffectsTest, BeginsBeforeItsEffectsAndEndsAfterThem) {
  Faults({CrashFault{}});
  const FaultEffects effects = Due(0);
  ASSERT_EQ(effects.size(), 3U);
  EXPECT_TRUE(Observes<FaultBegan>(effects[0]));
  EXPECT_TRUE(Is<CrashProcess>(effects[1]));
  EXPECT_TRUE(Observes<FaultEnded>(effects[2]));
}

// A declared fault that did nothing must not be reported as one that struck.
TEST_F(FaultEffectsTest, OneThatFindsNothingToStrikeHasNoEffects) {
  Faults({CrashFault{}, StartFault{}, SessionLossFault{}});
  EXPECT_TRUE(Due(0, {.node = 0, .life = kIsDown, .call = {}}).empty());
  EXPECT_TRUE(Due(1).empty());
  EXPECT_TRUE(Due(2, {.node = 0, .life = kIsRunning, .exists = false, .call = {}}).empty());
}

TEST_F(FaultEffectsTest, TheLaterOfTwoPartitionsDecidesAndTheOtherComesBack) {
  Faults({PartitionFault{},
          PartitionFault{
              .lasts = Seconds(1), .mode = PartitionMode::kRefuse, .direction = Direction::kTo}});
  Due(0);
  EXPECT_EQ(faults_.At(0).links,
            (Links{.to = LinkState::kBlackHoled, .from = LinkState::kBlackHoled}));
  Due(1);
  EXPECT_EQ(faults_.At(0).links,
            (Links{.to = LinkState::kRefused, .from = LinkState::kBlackHoled}));
  for (const FaultEffect& effect : Over(1)) EXPECT_FALSE(Is<ReleaseMessages>(effect));
  EXPECT_EQ(faults_.At(0).links.to, LinkState::kBlackHoled);
  EXPECT_EQ(faults_.At(1).links, Links{});
}

// What a black hole held goes on once, when the way is free again.
TEST_F(FaultEffectsTest, HeldMessagesAreReleasedWhenTheLinkHeals) {
  Faults({PartitionFault{.lasts = Seconds(1), .direction = Direction::kFrom}});
  Due(0);
  const FaultEffects effects = Over(0);
  ASSERT_EQ(effects.size(), 3U);
  EXPECT_TRUE(Is<SetLink>(effects[0]));
  ASSERT_TRUE(Is<ReleaseMessages>(effects[1]));
  EXPECT_FALSE(std::get<ReleaseMessages>(effects[1]).requests);
  EXPECT_TRUE(std::get<ReleaseMessages>(effects[1]).replies);
}

TEST_F(FaultEffectsTest, SpannerAnswersAgainWhenTheLastFaultIsOver) {
  Faults({UnavailableFault{.lasts = Seconds(1)}, UnavailableFault{.lasts = Seconds(2)}});
  EXPECT_TRUE(Observes<SpannerAvailability>(Due(0)[1]));
  EXPECT_FALSE(Observes<SpannerAvailability>(Due(1)[1]));
  EXPECT_FALSE(Observes<SpannerAvailability>(Over(0)[0]));
  EXPECT_TRUE(Observes<SpannerAvailability>(Over(1)[0]));
}

TEST_F(FaultEffectsTest, AFaultOfOneCallStrikesTheCallThatTriggeredIt) {
  Faults({DropRequestFault{}});
  FaultTarget target = kRuns;
  target.call = CallName{};
  const FaultEffects effects = Due(0, target);
  ASSERT_EQ(effects.size(), 3U);
  EXPECT_TRUE(Is<DropRequest>(effects[1]));
  EXPECT_TRUE(faults_.At(0).armed.empty());
}

// At a time there is no call to strike, so the next one is: once, or each later call would come twice.
TEST_F(FaultEffectsTest, ADuplicateStrikesTheNextCallOnce) {
  Faults({DuplicateRequestFault{.after = Seconds(2)}});
  EXPECT_TRUE(Due(0).empty());
  FaultEffects effects;
  DuplicateIfArmed(scenario_, faults_, CallName{.process = {.node = 0, .incarnation = 1}}, effects);
  ASSERT_EQ(effects.size(), 3U);
  ASSERT_TRUE(Is<DuplicateRequest>(effects[2]));
  EXPECT_EQ(std::get<DuplicateRequest>(effects[2]).after, Seconds(2));
  effects.clear();
  DuplicateIfArmed(scenario_, faults_, CallName{.process = {.node = 0, .incarnation = 1}}, effects);
  EXPECT_TRUE(effects.empty());
}

// Otherwise the very message that the scenario names would be the only one that is not late.
TEST_F(FaultEffectsTest, LatenciesDelayTheMessageThatTriggeredThemToo) {
  Faults({LatencyFault{.lasts = Seconds(1)}, SlowResourceFault{.lasts = Seconds(1)}});
  FaultTarget target = kRuns;
  target.call = CallName{.process = {.node = 0, .incarnation = 1}, .lock = 2};
  FaultEffects effects = Due(0, target);
  ASSERT_EQ(effects.size(), 3U);
  ASSERT_TRUE(Is<DelayMessage>(effects[1]));
  EXPECT_EQ(std::get<DelayMessage>(effects[1]).fault, 0U);
  effects = Due(1, target);
  ASSERT_EQ(effects.size(), 3U);
  ASSERT_TRUE(Is<DelayWrite>(effects[1]));
  EXPECT_EQ(std::get<DelayWrite>(effects[1]).lock, 2);
  EXPECT_EQ(Due(0).size(), 2U) << "nothing triggered it that is on its way";
}

// Until then it has not begun, and a run that ends before says so.
TEST_F(FaultEffectsTest, WithoutThatCallItWaitsForOneThatItCanStrike) {
  Faults({DropReplyFault{}});
  EXPECT_TRUE(Due(0).empty());
  FaultEffects effects;
  EXPECT_FALSE(LosesRequest(scenario_, faults_, 0, effects));
  EXPECT_FALSE(LosesReply(scenario_, faults_, 1, effects));
  EXPECT_TRUE(LosesReply(scenario_, faults_, 0, effects));
  ASSERT_EQ(effects.size(), 2U);
  EXPECT_TRUE(Observes<FaultBegan>(effects[0]));
  EXPECT_FALSE(LosesReply(scenario_, faults_, 0, effects));
}

// A read is no transaction that Spanner aborts.
TEST_F(FaultEffectsTest, AnAbortWaitsForACallThatCanBeAborted) {
  Faults({AbortFault{}});
  Due(0);
  EXPECT_FALSE(Answer(spindle_v2::steps::kCheck, /*can_abort=*/false).has_value());
  EXPECT_EQ(Answer(spindle_v2::steps::kHeartbeatUpdate)->code, Code::kAborted);
}

TEST_F(FaultEffectsTest, LatenciesAddUpOnTheWaysThatTheyName) {
  const DelaySpec second = {.max = Seconds(1)};
  Faults({LatencyFault{.add = second},
          LatencyFault{.lasts = Seconds(9), .direction = Direction::kTo, .add = second}});
  Due(0);
  Due(1);
  EXPECT_EQ(AddedLatency(scenario_, faults_, 0, Direction::kTo, chance_), Seconds(2));
  EXPECT_EQ(AddedLatency(scenario_, faults_, 0, Direction::kFrom, chance_), Seconds(1));
  EXPECT_EQ(AddedLatency(scenario_, faults_, 1, Direction::kTo, chance_), Duration{});
}

}  // namespace
}  // namespace whorl::sim::fault_effects_test
