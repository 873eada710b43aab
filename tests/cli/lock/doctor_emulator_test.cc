// `whorl lock doctor` on the official emulator, which knows no rights of roles. Skipped if there is no
// emulator.
#include <memory>
#include <string>

#include "protocol/protocols.h"
#include "tests/cli/lock/lock_cli_testing.h"

namespace whorl::doctor_emulator_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

class DoctorEmulatorTest : public CliTest {
 protected:
  DoctorEmulatorTest() : database_(StartEmulator("fenced_lease")) {
    if (database_ == nullptr) return;
    setenv("SPANNER_EMULATOR_HOST", database_->Connection().endpoint.c_str(), 1);
    setenv("WHORL_DATABASE", kLockDatabase, 1);
  }
  ~DoctorEmulatorTest() override {
    unsetenv("SPANNER_EMULATOR_HOST");
    unsetenv("WHORL_DATABASE");
  }
  void SetUp() override {
    if (database_ == nullptr) GTEST_SKIP() << kNoEmulator;
  }

  std::unique_ptr<LockDatabase> database_;
};

TEST_F(DoctorEmulatorTest, SaysThatLocksWorkAndLeavesNothing) {
  EXPECT_THAT(
      Whorl("lock doctor --for 500ms"),
      Ends(0, MatchesRegex("ok    reach: Spanner answers at 127.*\n"
                           "ok    table: table fenced_locks is as fenced_lease needs it\n"
                           "ok    rights: this account has SELECT, INSERT, UPDATE, DELETE on "
                           "table fenced_locks\n"
                           "ok    clock: this machine's clock is .* ahead of Spanner's; "
                           "fenced_lease does not use it\n"
                           "ok    latency: [0-9,]+ writes?: p50 .* s, p99 .* s\n"
                           "ok    lease: a lease of .* or more makes sense: 4 times p99.*\n")));
  EXPECT_EQ(Whorl("lock list").out, "no locks in fenced_locks\n");
}

TEST_F(DoctorEmulatorTest, TriesTheRightsOfEachProtocol) {
  for (const ProtocolInfo& info : Protocols()) {
    SCOPED_TRACE(info.name);
    const std::string where = " --protocol " + std::string(info.name);
    ASSERT_EQ(Whorl("lock init --new" + where).code, 0);
    EXPECT_THAT(Whorl("lock doctor --for 100ms" + where),
                Ends(0, HasSubstr("ok    rights: this account has SELECT, INSERT, UPDATE")));
  }
}

TEST_F(DoctorEmulatorTest, SaysWhatToFix) {
  EXPECT_THAT(
      Whorl("lock doctor --table nothing"),
      Ends(1, MatchesRegex("ok    reach: Spanner answers at 127.*\n"
                           "FIX   table: there is no table nothing\n"
                           "      whorl lock init --protocol fenced_lease --table nothing makes "
                           "it\n")));
  // It has all columns that spindle v2 needs.
  EXPECT_THAT(
      Whorl("lock doctor --protocol spindle_v2 --table fenced_locks"),
      Ends(1, AllOf(HasSubstr("FIX   table: the table fenced_locks is fenced_lease's, and locks by "
                              "spindle_v2 in it would be taken by processes of both"),
                    HasSubstr("\n      name another table by --table\n"))));
  EXPECT_THAT(Whorl("lock doctor --protocol semaphore --table fenced_locks"),
              Ends(1, HasSubstr("FIX   table: table fenced_locks is not as semaphore needs it: it "
                                "has no column ANCHOR")));
  EXPECT_THAT(Whorl("lock doctor --database projects/test-project/instances/test-instance/"
                    "databases/other"),
              Complains(3, HasSubstr("an emulator begins empty")));
}

// It takes any role for one that may do everything, so that a verdict about a role would prove nothing.
TEST_F(DoctorEmulatorTest, SaysThatAnEmulatorChecksNoRole) {
  EXPECT_THAT(
      Whorl("lock doctor --for 100ms --database-role nobody"),
      Ends(0, AllOf(HasSubstr("ok    rights: the role nobody has SELECT, INSERT, UPDATE, DELETE"),
                    HasSubstr("note  rights: 127.0.0.1:"),
                    HasSubstr(" asks for no credentials, as an emulator: it may let every role "
                              "do everything\n      check the role on the real database\n"))));
}

}  // namespace
}  // namespace whorl::doctor_emulator_test
