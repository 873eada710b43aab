// When a command of `whorl lock exec` has overrun, by times that the test gives.
#include "cli/lock/work_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "real_client/liveness.h"

namespace whorl::cli {
namespace {

namespace fs = std::filesystem;
using real_client::Liveness;
using testing::AllOf;
using testing::HasSubstr;

constexpr LocalInstant kBegan = {1'000'000'000'000};

// Looks as often as it has to be asked, until the work counts as dead.
LocalInstant DeadAt(Liveness liveness) {
  LocalInstant now;
  do {
    now = liveness.NextLook();
  } while (liveness.IsAlive(false, now));
  return now;
}

TEST(LivenessTest, WorkWithoutASignIsDeadAfterTheTime) {
  EXPECT_EQ(DeadAt(Liveness(Seconds(1), kBegan)), kBegan + Seconds(1));
  EXPECT_EQ(DeadAt(Liveness(Seconds(300), kBegan)), kBegan + Seconds(300));
}

TEST(LivenessTest, ASignBeginsTheTimeAgain) {
  Liveness liveness(Seconds(1), kBegan);
  const LocalInstant sign = kBegan + Milliseconds(900);
  while (liveness.NextLook() < sign) EXPECT_TRUE(liveness.IsAlive(false, liveness.NextLook()));
  EXPECT_TRUE(liveness.IsAlive(true, sign));
  EXPECT_EQ(DeadAt(liveness), sign + Seconds(1));
}

// A suspended machine, or a frozen container: the work could not give a sign either.
TEST(LivenessTest, TimeInWhichNobodyRanDoesNotCount) {
  Liveness liveness(Seconds(1), kBegan);
  EXPECT_TRUE(liveness.IsAlive(true, kBegan + Milliseconds(100)));
  EXPECT_TRUE(liveness.IsAlive(false, kBegan + Seconds(3600)));
  EXPECT_EQ(DeadAt(liveness), kBegan + Seconds(3600) + Milliseconds(800));
}

class WorkLimitsTest : public testing::Test {
 protected:
  WorkLimitsTest()
      : folder_(fs::temp_directory_path() / ("whorl_limits_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~WorkLimitsTest() override { fs::remove_all(folder_); }
  WorkLimitOptions Alive(const std::string& file = "beat") const {
    return {.max_hold = {}, .alive_file = (folder_ / file).string(), .alive_within = Seconds(1)};
  }

  const fs::path folder_;
};

TEST_F(WorkLimitsTest, TheTimeToHoldIsOverOnce) {
  WorkLimits limits({.max_hold = Seconds(10), .alive_file = {}, .alive_within = {}});
  EXPECT_EQ(limits.NextLook(), LocalInstant::Max());
  limits.Begin(kBegan);
  EXPECT_EQ(limits.NextLook(), kBegan + Seconds(10));
  EXPECT_EQ(limits.Overrun(kBegan + Seconds(10) - Nanoseconds(1)), std::nullopt);
  EXPECT_EQ(limits.Overrun(kBegan + Seconds(10)),
            "the command has held the lock for 10s (--max-hold)");
  EXPECT_EQ(limits.Overrun(kBegan + Seconds(20)), std::nullopt);
  EXPECT_EQ(limits.NextLook(), LocalInstant::Max());
}

TEST_F(WorkLimitsTest, WithoutLimitsNothingOverruns) {
  WorkLimits limits({});
  EXPECT_EQ(limits.TouchFile(), "");
  limits.Begin(kBegan);
  EXPECT_EQ(limits.Overrun(kBegan + Seconds(1'000'000)), std::nullopt);
}

TEST_F(WorkLimitsTest, AFileThatIsNotTouchedOverrunsAfterTheTime) {
  WorkLimits limits(Alive());
  EXPECT_EQ(limits.TouchFile(), "");
  limits.Begin(kBegan);
  std::optional<std::string> why;
  LocalInstant now;
  while (!why) {
    now = limits.NextLook();
    why = limits.Overrun(now);
  }
  EXPECT_EQ(now, kBegan + Seconds(1));
  EXPECT_THAT(*why, AllOf(HasSubstr("the command has not touched /"),
                          HasSubstr("/beat for 1s (--alive-within)")));
}

// The watcher looks by itself, so the test touches the file until it is seen.
TEST_F(WorkLimitsTest, AFileThatIsTouchedDoesNot) {
  WorkLimits limits(Alive());
  EXPECT_EQ(limits.TouchFile(), "");
  limits.Begin(kBegan);
  LocalInstant now;
  for (int i = 0; i < 9; ++i) EXPECT_EQ(limits.Overrun(now = limits.NextLook()), std::nullopt);
  const uint64_t before = limits.touches();
  while (limits.touches() == before)
    fs::last_write_time(Alive().alive_file, fs::file_time_type::clock::now());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(limits.Overrun(now = limits.NextLook()), std::nullopt);
  EXPECT_GT(now, kBegan + Seconds(1));
}

// A file that is deleted was not touched.
TEST_F(WorkLimitsTest, AFileThatIsMissingIsNotTouched) {
  WorkLimits limits(Alive());
  EXPECT_EQ(limits.TouchFile(), "");
  limits.Begin(kBegan);
  fs::remove(Alive().alive_file);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(limits.Overrun(limits.NextLook()), std::nullopt);
  EXPECT_NE(limits.Overrun(limits.NextLook()), std::nullopt);
}

TEST_F(WorkLimitsTest, AFileOfYesterdayIsTouched) {
  std::ofstream(folder_ / "beat") << "kept";
  const auto yesterday = fs::file_time_type::clock::now() - std::chrono::hours(24);
  fs::last_write_time(folder_ / "beat", yesterday);
  EXPECT_EQ(WorkLimits(Alive()).TouchFile(), "");
  EXPECT_GT(fs::last_write_time(folder_ / "beat"), yesterday + std::chrono::hours(23));
  EXPECT_EQ(fs::file_size(folder_ / "beat"), 4U);
}

TEST_F(WorkLimitsTest, OptionsThatMakeNoSenseAreRefused) {
  fs::create_directories(folder_ / "folder");
  const auto refusal = [](WorkLimitOptions options) { return CompleteLimits(options); };
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal(Alive()), "");
  EXPECT_THAT(refusal({.max_hold = {}, .alive_file = "beat", .alive_within = {}}),
              HasSubstr("--alive-file takes --alive-within TIME"));
  EXPECT_THAT(refusal({.max_hold = {}, .alive_file = {}, .alive_within = Seconds(1)}),
              HasSubstr("name it by --alive-file FILE"));
  EXPECT_THAT(refusal(Alive("no/beat")),
              HasSubstr("/no/beat cannot be made: No such file or directory"));
  EXPECT_THAT(refusal(Alive("folder")), HasSubstr("/folder is no regular file"));
  std::ofstream(folder_ / "file") << "";
  EXPECT_THAT(refusal(Alive("file/beat")), HasSubstr("cannot be made: Not a directory"));
  WorkLimitOptions relative = {.max_hold = {}, .alive_file = "beat", .alive_within = Seconds(1)};
  EXPECT_EQ(CompleteLimits(relative), "");
  EXPECT_EQ(relative.alive_file, (fs::current_path() / "beat").string());
}

}  // namespace
}  // namespace whorl::cli
