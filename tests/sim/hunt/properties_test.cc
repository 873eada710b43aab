// What every protocol promises holds in drawn worlds. A world that breaks a promise is shrunk by
// rapidcheck, through the hunter's own steps, and printed as a scenario.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/hunt/shrink.h"
#include "sim/report/breakage.h"
#include "sim/scenario/assumptions.h"
#include "tests/sim/hunt/hunt_testing.h"

namespace whorl::sim {

// For rapidcheck: a counterexample is a scenario that can be saved and replayed.
void showValue(const Scenario& scenario, std::ostream& out) { out << ScenarioText(scenario); }

namespace {

rc::Shrinkable<Scenario> ShrinkableOf(Scenario scenario) {
  return rc::shrinkable::shrinkRecur(std::move(scenario), [](const Scenario& value) {
    std::vector<Scenario> smaller = SmallerScenarios(value);
    std::erase_if(smaller, [](const Scenario& s) { return !BrokenAssumptions(s).empty(); });
    return rc::seq::fromContainer(std::move(smaller));
  });
}

rc::Gen<Scenario> WorldsOf(const ProtocolInfo& protocol) {
  return [&protocol](const rc::Random& random, int) {
    rc::Random bits = random;
    return ShrinkableOf(DrawWorld({}, protocol, bits.next()));
  };
}

std::vector<Invariant> BrokenPromises(const Scenario& world) {
  std::vector<Invariant> broken;
  for (const Breakage& breakage : RunWatched(world).breakages) {
    if (breakage.promised) broken.push_back(breakage.kind.invariant);
  }
  return broken;
}

constexpr auto kWorldsOfEach = static_cast<int>(Fewer(150));

TEST(Promises, HoldInDrawnWorlds) {
  for (const ProtocolInfo& protocol : Protocols()) {
    rc::detail::TestParams params = rc::detail::configuration().testParams;
    // The worlds are always the same unless RC_PARAMS says otherwise; `whorl hunt` looks for new
    // ones.
    if (std::getenv("RC_PARAMS") == nullptr) {
      params.seed = 20'260'101;
      params.maxSuccess = kWorldsOfEach;
    }
    const auto result = rc::detail::checkTestable(
        [&] {
          const Scenario world = *WorldsOf(protocol);
          for (const Invariant invariant : BrokenPromises(world)) {
            RC_FAIL(std::string(WordOf(invariant)));
          }
        },
        rc::detail::TestMetadata{.id = std::string(protocol.name), .description = "promises hold"},
        params);
    EXPECT_TRUE(result.template is<rc::detail::SuccessResult>())
        << protocol.name << ":\n"
        << [&] {
             std::ostringstream message;
             rc::detail::printResultMessage(result, message);
             return message.str();
           }();
  }
}

// The test of the test: violations of what is not promised are found, and rapidcheck shrinks them.
TEST(Promises, ThatWereNotMadeAreBrokenInASmallWorld) {
  const ProtocolInfo& protocol = *FindProtocol("spindle_v2");
  const auto is_broken = [](const Scenario& world) {
    for (const Breakage& breakage : RunWatched(world).breakages) {
      if (breakage.kind.invariant == Invariant::kLeaseRespected) return true;
    }
    return false;
  };
  const auto random = rc::Random(7);
  for (uint64_t i = 0; i < 200; ++i) {
    rc::Random bits = random;
    const uint64_t seed = bits.next() + i;
    rc::Shrinkable<Scenario> world = ShrinkableOf(DrawWorld({}, protocol, seed));
    if (!is_broken(world.value())) continue;
    const auto smaller = rc::shrinkable::findLocalMin(world, is_broken);
    EXPECT_LE(SizeOf(smaller.first).nodes, 3);
    EXPECT_LE(SizeOf(smaller.first).faults, SizeOf(world.value()).faults);
    EXPECT_TRUE(is_broken(smaller.first));
    return;
  }
  FAIL() << "in 200 worlds no lease was taken";
}

}  // namespace
}  // namespace whorl::sim
