// The last line of a server that dies of a call, or that a call keeps from ending.
#include "cli/serve/last_line.h"

#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <unistd.h>

#include <string>

#include "cli/exit_code.h"
#include "spanner_model/server/current_call.h"

namespace whorl::cli::last_line_test {
namespace {

class LastLineTest : public testing::Test {
 protected:
  // The process of a death test is a new one, without this one's threads.
  LastLineTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(LastLineTest, NamesTheSignalTheCallAndItsSession) {
  const auto die_in = [](const std::string& session, int signal) {
    SayHowItDies();
    const server::CurrentCall call("Commit", session);
    raise(signal);
  };
  EXPECT_EXIT(die_in("s/7", SIGSEGV), testing::ExitedWithCode(kCannotRun),
              "^whorl: died of SIGSEGV in Commit of session s/7: a defect of whorl; please report");
  EXPECT_EXIT(die_in("", SIGABRT), testing::ExitedWithCode(kCannotRun),
              "died of SIGABRT in Commit: a defect");
  EXPECT_EXIT(die_in(std::string(10'000, 's'), SIGFPE), testing::ExitedWithCode(kCannotRun),
              "died of SIGFPE in Commit of session s+: a defect");
  EXPECT_EXIT(
      {
        SayHowItDies();
        {
          const server::CurrentCall ended("Commit", "s");
        }
        raise(SIGILL);
      },
      testing::ExitedWithCode(kCannotRun), "died of SIGILL: a defect");
}

TEST_F(LastLineTest, EndsWhatCannotEndUnlessItWasCalledOff) {
  EXPECT_EXIT(
      {
        MustEndSoon(true);
        while (true) pause();
      },
      testing::ExitedWithCode(kCannotRun), "a call still runs after two seconds");
  EXPECT_EXIT(
      {
        MustEndSoon(true);
        MustEndSoon(false);
        _exit(static_cast<int>(alarm(0)));
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace whorl::cli::last_line_test
