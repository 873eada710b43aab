// Goals that are said to be impossible for a protocol: a reader takes a hunt's "cannot" for proven.

#include <gtest/gtest.h>

#include <string>

#include "protocol/protocols.h"
#include "sim/hunt/hunt.h"
#include "sim/scenario/waypoints.h"

namespace whorl::sim::goals_test {
namespace {

TEST(Goals, NoRunMeetsWhatIsSaidToBeImpossible) {
  for (const ProtocolInfo& protocol : Protocols()) {
    HuntOptions options;
    options.protocols = {std::string(protocol.name)};
    options.world.beyond_assumptions = true;
    HuntTallies tallies;
    ASSERT_TRUE(RunHunt(
                    options, 0, 150, 1,
                    [](uint64_t, const RunDigest&, const HuntTallies&) { return BatchStep::kGoOn; },
                    tallies)
                    .ok());
    for (const Sometimes goal : AllOf<Sometimes>()) {
      if (WhyNever(protocol, goal).empty()) continue;
      EXPECT_EQ(tallies.begin()->second.met[static_cast<size_t>(goal)].runs, 0)
          << protocol.name << ": " << WordOf(goal);
    }
  }
}

TEST(Goals, APromiseOfReleaseAndAnImpossibleReleaseExcludeEachOther) {
  for (const ProtocolInfo& protocol : Protocols()) {
    const auto promised = protocol.promises[static_cast<size_t>(Invariant::kNoWorkAfterRelease)];
    if (promised != Promise::kPromised) continue;
    EXPECT_TRUE(WhyNever(protocol, Sometimes::kRelease).empty()) << protocol.name;
  }
}

}  // namespace
}  // namespace whorl::sim::goals_test
