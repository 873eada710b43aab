// `whorl bench` as people and scripts use it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli_testing.h"

namespace whorl {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using CliBenchTest = CliTest;

// A word that is not understood is told of the sub-command in which it stands.
TEST_F(CliBenchTest, TyposInNestedSubCommandsGetTheNearestWord) {
  ExpectUsageError("bench", "a sub-command is missing (whorl bench --help says what there is)");
  ExpectUsageError("bench takeovr", "unknown sub-command takeovr; did you mean takeover?");
  ExpectUsageError("bench --sed 7", "unknown option --sed");
  ExpectUsageError("bench takeover --leese 5s",
                   "unknown option --leese; did you mean --lease? (whorl bench takeover --help "
                   "says what there is)");
  ExpectUsageError("bench takeover extra", "unexpected argument extra");
  ExpectUsageError("bench replay", "unknown sub-command replay");
}

TEST_F(CliBenchTest, HelpIsThatOfTheInnermostSubCommand) {
  const Ended bench = Whorl("bench --help");
  EXPECT_EQ(bench.code, 0);
  EXPECT_THAT(bench.out, AllOf(HasSubstr("takeover"), HasSubstr("whorl bench SUBCOMMAND --help")));
  const Ended takeover = Whorl("bench takeover --help");
  EXPECT_EQ(takeover.code, 0);
  EXPECT_THAT(takeover.out, AllOf(HasSubstr("--lease"), HasSubstr("graceful_stop")));
}

TEST_F(CliBenchTest, ImpossibleTakeoversAreRefused) {
  ExpectUsageError("bench takeover --lease 500ms", "--lease wants leases from 1s to 3600s");
  ExpectUsageError("bench takeover --lease 5", "--lease: ");
  ExpectUsageError("bench takeover --fault crush", "did you mean \"crash\"?");
  ExpectUsageError("bench takeover --protocol spindle_v4", "did you mean \"spindle_v");
  ExpectUsageError("bench takeover --protocol all,semaphore", "does not go with others");
  ExpectUsageError("bench takeover --preset regionl", "did you mean \"regional\"?");
  ExpectUsageError("bench takeover --followers 0", "--followers wants a whole number from 1 to");
  ExpectUsageError("bench takeover --followers 1,", "--followers wants a whole number from 1 to");
  ExpectUsageError("bench takeover --runs 0", "--runs wants a whole number from 1 to");
  ExpectUsageError("bench takeover --out x --csv ./x", "--out and --csv would both write ./x");
  ExpectUsageError("bench takeover --protocol semaphore --lease 1s",
                   "nothing is left to measure: semaphore crash 1s 2 regional: it allows leases "
                   "from 2s");
}

}  // namespace
}  // namespace whorl
