// no_wedge over every run: the findings about it, and a protocol that keeps its promise.
#include "sim/explore/wedge.h"

#include <gtest/gtest.h>

#include <string>

#include "protocol/protocols.h"
#include "sim/explore/lock_model.h"

namespace whorl::sim::explore_wedge_test {
namespace {

LockModel ModelOf(const std::string& protocol, const FaultBudget& faults) {
  ExploreWorld world;
  world.protocol = protocol;
  world.grid_constants = true;
  world.lease = Seconds(4);
  ExploreBounds bounds;
  bounds.faults = faults;
  bounds.grid = world.lease / 4;
  bounds.longest_pause = world.lease;
  return {world, bounds};
}

// S6 of protocol/spindle_v2/README.md: the process that inserted the row first is gone, the row is
// deleted, and those that are left believe that they win.
TEST(ExploreWedge, FindsThatNobodyInsertsADeletedRowOfSpindleV2) {
  const LockModel model = ModelOf("spindle_v2", {.crashes = 1, .deletes = 1});
  const auto result = FindWedge(model, 0, {.max_faults = 2});
  ASSERT_TRUE(result.lasso.has_value());
  EXPECT_EQ(result.lasso->faults, 2);
  EXPECT_FALSE(result.lasso->loop.empty());
}

TEST(ExploreWedge, FencedLeaseIsNeverWedged) {
  for (const FaultBudget& faults : {FaultBudget{}, FaultBudget{.losses = 1}, {.deletes = 1}}) {
    const auto result = FindWedge(ModelOf("fenced_lease", faults), 0, {});
    EXPECT_EQ(result.ending, explore::Ending::kComplete);
    EXPECT_FALSE(result.lasso.has_value());
    EXPECT_GT(result.bad_states, 10U) << "there are times without a holder";
  }
}

}  // namespace
}  // namespace whorl::sim::explore_wedge_test
