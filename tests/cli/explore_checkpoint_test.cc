// `whorl explore --checkpoint`: hours of work survive a full machine, a signal and a kill.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/cli_testing.h"

namespace whorl::cli_explore_checkpoint_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::string kSearch = "explore --protocol fenced_lease --constants grid --crashes 1";

class ExploreCheckpointTest : public CliTest {
 protected:
  // Those of this search that was never interrupted.
  std::string Whole() { return Whorl(kSearch).out; }

  void ExpectRefused(const std::string& file, int code, const std::string& message) {
    EXPECT_THAT(Whorl(kSearch + " --checkpoint " + file),
                Ends(code, IsEmpty(), AllOf(StartsWith("whorl: "), HasSubstr(message))));
  }
};

TEST_F(ExploreCheckpointTest, GoesOnWithMoreMemoryAndTellsTheResultAgain) {
  EXPECT_THAT(Whorl(kSearch + " --memory 2 --checkpoint search"),
              Ends(3, StartsWith("out of memory (--memory): "),
                   HasSubstr("the same command goes on from search\n")));
  const Ended rest = Whorl(kSearch + " --checkpoint search --jobs 2");
  EXPECT_THAT(rest.err, HasSubstr("search: goes on from "));
  EXPECT_THAT(rest.err, Not(HasSubstr("the same command")));
  EXPECT_EQ(rest.out, Whole());
  const Ended again = Whorl(kSearch + " --checkpoint search");
  EXPECT_THAT(again.err, HasSubstr("search: has ended: this is its result\n"));
  EXPECT_EQ(again.out, rest.out);
  EXPECT_THAT(Files("."), ElementsAre(".err", ".out", "search"));
}

// The graph of the states without a holder is saved, too.
TEST_F(ExploreCheckpointTest, ASearchForNoWedgeGoesOnToo) {
  const std::string faults = "explore --protocol fenced_lease --constants grid --deletes 1";
  const std::string search = faults + " --invariant no_wedge --jobs 2";
  const Ended first = Whorl(search + " --memory 2 --checkpoint search");
  EXPECT_THAT(first.out, StartsWith("out of memory (--memory): "));
  EXPECT_THAT(first.err, HasSubstr("the same command goes on from search\n"));
  const Ended rest = Whorl(search + " --checkpoint search");
  EXPECT_THAT(rest.err, HasSubstr("search: goes on from "));
  EXPECT_EQ(rest.out, Whorl(search).out);
  EXPECT_EQ(Whorl(search + " --checkpoint search").out, rest.out);
  const Ended other = Whorl(faults + " --no-symmetry --checkpoint search");
  EXPECT_THAT(other.err, HasSubstr("is of another search: it has invariants no_wedge"));
}

// The search is as good as endless, so it ends by the signals, and its first checkpoint is there at
// once.
TEST_F(ExploreCheckpointTest, ASignalSavesAndAKillLeavesWhatWasSaved) {
  const std::string line =
      "\"$W\" explore --protocol fenced_lease --crashes 3 --losses 3 --pauses 3 --checkpoint "
      "search";
  const std::string until_it_is_there =
      " & pid=$!; until [ -e search ] || ! kill -0 $pid; do :; done; ";
  EXPECT_THAT(Shell(line + until_it_is_there + "kill -KILL $pid; wait $pid"), Ends(128 + 9));
  EXPECT_TRUE(fs::exists(folder_ / "search.lock")) << "nobody could remove it";
  // The lock went with the process, and a whole file takes the place of the first one.
  EXPECT_THAT(Shell("cp -p search before; " + line +
                    " >text & pid=$!; until [ search -nt before ] || ! kill -0 $pid; "
                    "do :; done; kill -TERM $pid; wait $pid"),
              Complains(3, AllOf(HasSubstr("search: goes on from "),
                                 HasSubstr("the same command goes on from search\n"))));
  EXPECT_THAT(ReadText(folder_ / "text"), StartsWith("interrupted: "));
  EXPECT_THAT(Files("."), ElementsAre(".err", ".out", "before", "search", "text"));
}

TEST_F(ExploreCheckpointTest, AFileOfAnotherSearchIsRefusedByTheDifference) {
  Whorl(kSearch + " --aborts 1 --memory 2 --checkpoint a");
  ExpectRefused("a", 2,
                "a: is of another search: it has --aborts 1, and this one has --aborts 0; "
                "name another file, or remove it to begin anew");
  Whorl(kSearch + " --promised --memory 2 --checkpoint b");
  ExpectRefused("b", 2, "it has invariants one_live_token, ");
  Whorl(kSearch + " --first --memory 2 --checkpoint c");
  ExpectRefused("c", 2, "it has --first yes, and this one has --first no");
}

TEST_F(ExploreCheckpointTest, WhatIsNoWholeCheckpointIsRefused) {
  Whorl(kSearch + " --memory 2 --checkpoint whole");
  const std::string whole = ReadText(folder_ / "whole");
  Write("cut", whole.substr(0, whole.size() / 2));
  ExpectRefused("cut", 2, "cut: byte " + std::to_string(whole.size() / 2) + ": cut off: the ");
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 1;
  Write("damaged", damaged);
  ExpectRefused("damaged", 2, ": damaged: the ");
  Write("text", "some text\n");
  ExpectRefused("text", 2, "text: byte 0: no checkpoint of whorl explore");
  ExpectRefused(".", 2, ".: is not a regular file");
  ExpectRefused("/dev/null", 2, "/dev/null: is not a regular file");
  ExpectRefused("nowhere/search", 3, "nowhere/search.lock: cannot be locked: No such file");
  ExpectUsageError(kSearch + " --checkpoint x --out x", "--out would write over the file");
}

TEST_F(ExploreCheckpointTest, ASecondSearchIsRefused) {
  EXPECT_THAT(Shell("{ flock 9; \"$W\" " + kSearch + " --checkpoint search; } 9>search.lock"),
              Ends(3, IsEmpty(),
                   HasSubstr("search: another command works with this file (it has locked ")));
}

// The answer is not lost, and a checkpoint that was there stays whole.
TEST_F(ExploreCheckpointTest, AFullDiskIsSaid) {
  Whorl(kSearch + " --memory 2 --checkpoint search");
  const std::string before = ReadText(folder_ / "search");
  EXPECT_THAT(Shell("trap '' XFSZ; ulimit -f 8; \"$W\" " + kSearch + " --checkpoint search"),
              Ends(3, Whole(), HasSubstr("search: cannot be written: File too large")));
  EXPECT_EQ(ReadText(folder_ / "search"), before);
  EXPECT_THAT(Files("."), ElementsAre(".err", ".out", "search"));
}

}  // namespace
}  // namespace whorl::cli_explore_checkpoint_test
