// A hunt on several threads. Whatever their number, it finds the same; the thread sanitizer runs
// these tests too.

#include <gtest/gtest.h>

#include "tests/sim/hunt/hunt_testing.h"

namespace whorl::sim::parallel_hunt_test {
namespace {

// Reports are compared byte for byte over 1 and 2 jobs; an order by speed would differ each time.
TEST(HuntThreads, TheirNumberChangesNothing) {
  HuntOptions options = HuntOf("spindle_v2", 2);
  options.world.duration = Seconds(60);
  HuntTallies one = Hunted(options, 40, 1);
  HuntTallies three = Hunted(options, 40, 3);
  EXPECT_TRUE(one == three);
  // A few findings are enough: shrinking takes long under the sanitizer.
  for (HuntTallies* tallies : {&one, &three}) {
    auto& findings = tallies->at("spindle_v2").findings;
    while (findings.size() > 2) findings.erase(std::prev(findings.end()));
  }
  const auto go_on = [](size_t) { return BatchStep::kGoOn; };
  EXPECT_TRUE(ShrinkFindings(options, 1, go_on, one).ok());
  EXPECT_TRUE(ShrinkFindings(options, 3, go_on, three).ok());
  EXPECT_TRUE(one == three);
}

}  // namespace
}  // namespace whorl::sim::parallel_hunt_test
