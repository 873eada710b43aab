// Which partitions of a change stream are read, in which order their changes are given, and that none is
// lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "real_client/change_records.h"

namespace whorl::real_client::change_partitions_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Timestamp At(int64_t second) { return Timestamp::FromUnixNanos(second * 1'000'000'000); }

class ChangePartitionsTest : public testing::Test {
 protected:
  explicit ChangePartitionsTest(std::optional<Timestamp> to = {}) : partitions_(At(10), to) {}

  // "token@second", of the queries that are to be sent.
  std::vector<std::string> Reads() {
    std::vector<std::string> reads;
    for (const ChangePartitions::Read& read : partitions_.TakeReads()) {
      reads.push_back(read.token + "@" + FormatRfc3339(read.start).substr(17));
    }
    return reads;
  }
  std::vector<std::string> Changes() {
    std::vector<std::string> changes;
    for (DataChange& change : partitions_.TakeChanges()) changes.push_back(std::move(change.json));
    return changes;
  }
  void Change(const std::string& token, int64_t second, const std::string& json) {
    partitions_.Add(token, DataChange{.commit = At(second), .json = json});
  }
  void Beat(const std::string& token, int64_t second) {
    partitions_.Add(token, Heartbeat{.at = At(second)});
  }
  void Child(const std::string& of, const std::string& token, int64_t second,
             std::vector<std::string> parents) {
    partitions_.Add(
        of, ChildPartition{.token = token, .start = At(second), .parents = std::move(parents)});
  }
  // The first query has said that there are partitions a and b.
  void BeginWithTwo() {
    EXPECT_THAT(Reads(), ElementsAre("@10Z"));
    Child("", "a", 10, {});
    Child("", "b", 10, {});
    EXPECT_TRUE(partitions_.End(""));
    EXPECT_THAT(Reads(), ElementsAre("a@10Z", "b@10Z"));
  }

  ChangePartitions partitions_;
};

class BoundedChangePartitionsTest : public ChangePartitionsTest {
 protected:
  BoundedChangePartitionsTest() : ChangePartitionsTest(At(20)) {}
};

// Otherwise the checker would see a takeover before the grant that it took over.
TEST_F(ChangePartitionsTest, GivesChangesInTheOrderOfCommitsAcrossPartitions) {
  BeginWithTwo();
  Change("a", 12, "a12");
  Change("a", 15, "a15");
  EXPECT_THAT(Changes(), IsEmpty());  // b may have one of 11 s
  Change("b", 13, "b13");
  EXPECT_THAT(Changes(), ElementsAre("a12"));  // b may have another one of 13 s
  Beat("b", 14);
  EXPECT_THAT(Changes(), ElementsAre("b13"));
  EXPECT_EQ(partitions_.reached(), At(14));
}

TEST_F(ChangePartitionsTest, ReadsAMergedPartitionWhenBothParentsHaveEnded) {
  BeginWithTwo();
  Child("a", "c", 16, {"a", "b"});
  EXPECT_TRUE(partitions_.End("a"));
  EXPECT_THAT(Reads(), IsEmpty());
  Change("b", 12, "b12");
  Child("b", "c", 16, {"a", "b"});
  EXPECT_TRUE(partitions_.End("b"));
  EXPECT_THAT(Reads(), ElementsAre("c@16Z"));
  EXPECT_THAT(Changes(), ElementsAre("b12"));
  Change("c", 17, "c17");
  Beat("c", 18);
  EXPECT_THAT(Changes(), ElementsAre("c17"));
}

// The second parent may not be known yet when the first one names the child.
TEST_F(ChangePartitionsTest, WaitsForAParentThatIsYetToBeNamed) {
  BeginWithTwo();
  Child("a", "c", 16, {"a", "b2"});
  EXPECT_TRUE(partitions_.End("a"));
  EXPECT_THAT(Reads(), IsEmpty());
  Child("b", "b1", 14, {"b"});
  Child("b", "b2", 14, {"b"});
  EXPECT_TRUE(partitions_.End("b"));
  EXPECT_THAT(Reads(), ElementsAre("b1@14Z", "b2@14Z"));
  Child("b2", "c", 16, {"a", "b2"});
  EXPECT_TRUE(partitions_.End("b2"));
  EXPECT_THAT(Reads(), ElementsAre("c@16Z"));
  EXPECT_FALSE(partitions_.IsStuck());
}

// Nothing may be left out, and what was given already is not given again.
TEST_F(ChangePartitionsTest, GoesOnWhereAQueryBroke) {
  BeginWithTwo();
  Beat("b", 30);
  Change("a", 12, "a12");
  Change("a", 13, "a13");
  EXPECT_THAT(Changes(), ElementsAre("a12"));
  partitions_.Break("a");
  EXPECT_THAT(Reads(), ElementsAre("a@12.999999Z"));
  Change("a", 12, "a12");  // a server may begin earlier
  Change("a", 13, "a13");
  Beat("a", 14);
  EXPECT_THAT(Changes(), ElementsAre("a13", "a13"));
}

TEST_F(ChangePartitionsTest, AQueryThatEndsWithoutChildrenIsSentAgain) {
  BeginWithTwo();
  Beat("a", 14);
  EXPECT_FALSE(partitions_.End("a"));
  EXPECT_FALSE(partitions_.IsDone());
  EXPECT_THAT(Reads(), ElementsAre("a@13.999999Z"));
}

TEST_F(ChangePartitionsTest, IsStuckIfAParentIsNeverNamed) {
  BeginWithTwo();
  Child("a", "c", 16, {"a", "none"});
  Child("b", "d", 16, {"b", "none"});
  EXPECT_TRUE(partitions_.End("a"));
  EXPECT_FALSE(partitions_.IsStuck());
  EXPECT_TRUE(partitions_.End("b"));
  EXPECT_TRUE(partitions_.IsStuck());
  EXPECT_FALSE(partitions_.IsDone());
}

TEST_F(BoundedChangePartitionsTest, IsDoneWhenAllHaveEndedAndReadsNoChildBeyondTheEnd) {
  BeginWithTwo();
  Child("a", "c", 21, {"a"});
  Change("a", 20, "a20");
  EXPECT_TRUE(partitions_.End("a"));
  EXPECT_THAT(Reads(), IsEmpty());
  EXPECT_FALSE(partitions_.IsDone());
  Change("b", 19, "b19");
  EXPECT_TRUE(partitions_.End("b"));
  EXPECT_TRUE(partitions_.IsDone());
  EXPECT_THAT(Changes(), ElementsAre("b19", "a20"));
}

// A day of a stream whose partitions live for half a minute.
TEST_F(ChangePartitionsTest, ForgetsPartitionsThatNobodyWaitsFor) {
  BeginWithTwo();
  std::string last = "a";
  for (int64_t i = 0; i < 3'000; ++i) {
    const std::string next = "a" + std::to_string(i);
    Child(last, next, 11 + i, {last});
    EXPECT_TRUE(partitions_.End(last));
    EXPECT_EQ(Reads().size(), 1U);
    last = next;
  }
  EXPECT_LE(partitions_.known(), 3U);
}

}  // namespace
}  // namespace whorl::real_client::change_partitions_test
