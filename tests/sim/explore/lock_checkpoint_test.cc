// Worlds of the shipped protocols are made again from the links of a checkpoint.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "protocol/protocols.h"
#include "sim/explore/engine/checkpoint.h"
#include "sim/explore/engine/model_digest.h"
#include "sim/explore/engine/search.h"
#include "sim/explore/lock_model.h"

namespace whorl::sim::explore_lock_checkpoint_test {
namespace {

using Result = explore::SearchResult<Move>;

LockModel ModelOf(const std::string& protocol, const FaultBudget& faults) {
  ExploreWorld world;
  world.protocol = protocol;
  world.grid_constants = FindProtocol(protocol)->make_grid_config != nullptr;
  world.lease = Seconds(5);
  ExploreBounds bounds;
  bounds.faults = faults;
  bounds.grid = world.lease / 4;
  bounds.longest_pause = world.lease * 3;
  bounds.horizon = world.lease * 2;
  return LockModel(world, bounds);
}

// Interrupted after each `rounds` rounds, and gone on with by one thread and by two in turn.
Result InPieces(const LockModel& model, int rounds, int& times) {
  std::optional<explore::Checkpoint> from;
  for (times = 0;; ++times) {
    std::string bytes;
    int left = rounds;
    explore::SearchOptions options = {.jobs = 1 + times % 2, .round = 200};
    options.progress = [&left](const explore::Progress& progress) {
      return progress.is_restoring || left-- > 0 ? explore::Continue::kYes : explore::Continue::kNo;
    };
    options.save = [&bytes](const explore::SearchRecord& record,
                            const explore::WaitingLinks& waiting) {
      std::ostringstream out;
      explore::WriteCheckpoint({}, record, waiting, {}, out);
      bytes = out.str();
    };
    Result result = explore::Explore(model, options, std::move(from));
    if (result.ending != explore::Ending::kStopped) return result;
    std::istringstream in(bytes);
    explore::CheckpointReader reader(in);
    reader.ReadSettings();
    from = reader.ReadSearch();
  }
}

TEST(ExploreLockCheckpoints, ASearchInPiecesIsOneThatWasNeverInterrupted) {
  for (const char* protocol : {"fenced_lease", "spindle_v3"}) {
    SCOPED_TRACE(protocol);
    const LockModel model = ModelOf(protocol, {.aborts = 1});
    int times = 0;
    const Result pieces = InPieces(model, 4, times);
    const Result whole = explore::Explore(model, {.jobs = 2});
    EXPECT_GT(times, 0);
    EXPECT_EQ(pieces.states, whole.states);
    EXPECT_EQ(pieces.transitions, whole.transitions);
    EXPECT_EQ(pieces.levels, whole.levels);
    EXPECT_EQ(pieces.violating, whole.violating);
    EXPECT_TRUE(pieces.violations == whole.violations) << "other paths, or another order";
  }
}

// A checkpoint of other worlds must not be gone on from.
TEST(ExploreLockCheckpoints, AModelIsKnownByWhatItDoes) {
  const LockModel one = ModelOf("fenced_lease", {.losses = 1});
  const LockModel same = ModelOf("fenced_lease", {.losses = 1});
  const LockModel other = ModelOf("fenced_lease", {.aborts = 1});
  EXPECT_EQ(explore::DigestOf(one, 100), explore::DigestOf(same, 100));
  EXPECT_NE(explore::DigestOf(one, 100), explore::DigestOf(other, 100));
}

}  // namespace
}  // namespace whorl::sim::explore_lock_checkpoint_test
