// no_wedge over every run: the findings about it, and a protocol that keeps its promise.
#include "sim/explore/wedge.h"

#include <gtest/gtest.h>

#include <string>

#include "protocol/protocols.h"
#include "sim/explore/lock_model.h"

namespace whorl::sim::explore_wedge_test {
namespace {

LockModel ModelOf(const std::string& protocol, const FaultBudget& faults, int processes) {
  ExploreWorld world;
  world.protocol = protocol;
  world.processes = processes;
  world.grid_constants = true;
  world.lease = Seconds(4);
  ExploreBounds bounds;
  bounds.faults = faults;
  bounds.grid = world.lease / 4;
  bounds.longest_pause = world.lease;
  return {world, bounds};
}

// Without its only row, the semaphore updates nothing for ever.
TEST(ExploreWedge, FindsThatNobodyInsertsTheDeletedRowOfTheSemaphore) {
  const LockModel model = ModelOf("semaphore", {.deletes = 1}, 1);
  const auto result = FindWedge(model, 0, {.max_faults = 1});
  ASSERT_TRUE(result.lasso.has_value());
  EXPECT_EQ(result.lasso->faults, 1);
  EXPECT_FALSE(result.lasso->loop.empty());
}

TEST(ExploreWedge, FencedLeaseIsNeverWedged) {
  for (const FaultBudget& faults : {FaultBudget{}, FaultBudget{.losses = 1}, {.deletes = 1}}) {
    const auto result = FindWedge(ModelOf("fenced_lease", faults, 2), 0, {});
    EXPECT_EQ(result.search.ending, explore::Ending::kComplete);
    EXPECT_FALSE(result.lasso.has_value());
    EXPECT_GT(result.bad_states, 10U) << "there are times without a holder";
  }
}

}  // namespace
}  // namespace whorl::sim::explore_wedge_test
