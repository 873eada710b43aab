// `whorl check --database` without a change stream, on whorl's own server: real locks judged by the versions
// that the rows of their table had.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/json_lines.h"
#include "tests/cli/lock/lock_cli_testing.h"
#include "tests/support/written_lease.h"

namespace whorl::check_versions_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class CheckVersionsTest : public LockCliTest {
 protected:
  explicit CheckVersionsTest(std::string_view protocol = "fenced_lease")
      : LockCliTest(protocol), protocol_(protocol) {}

  std::unique_ptr<RunningWhorl> Run(const std::string& id) const {
    return std::make_unique<RunningWhorl>(
        Words("lock run job --lease 1s --json --protocol " + protocol_ + " --id " + id));
  }
  Ended Check(const std::string& more = "--from 1m") {
    return Whorl("check " + more + " --protocol " + protocol_ + " --lease 1s");
  }
  json CheckJson(const std::string& more = "--from 1m") {
    return ParsedJson(Check(more + " --json"));
  }
  void WriteByHand(const std::string& writer, const std::string& token) {
    WriteFencedLease(database_->Connection().endpoint, "job", writer, token);
  }
  void RunTwoAndKillTheFirst() {
    const auto a = Run("pod-a");
    ASSERT_TRUE(a->output().WaitFor("\"renewed\"", 4)) << a->output().text();
    const auto b = Run("pod-b");
    ASSERT_TRUE(b->output().WaitFor("\"started\"")) << b->output().text();
    a->Signal(SIGKILL);
    ASSERT_TRUE(b->output().WaitFor("\"renewed\"", 4)) << b->output().text();
    b->Signal(SIGTERM);
    EXPECT_EQ(b->WaitForEnd(), 0) << b->output().text();
  }

  const std::string protocol_;
};

// Heartbeats, a takeover and a release: what the table held, whatever is read of it when.
TEST_F(CheckVersionsTest, RealLocksAreJudgedByTheVersionsOfTheirRows) {
  RunTwoAndKillTheFirst();
  const json read = CheckJson();
  EXPECT_EQ(read["invariants"]["token_monotonic"]["verdict"], "holds");
  EXPECT_EQ(read["invariants"]["lease_respected"]["verdict"], "holds");
  EXPECT_EQ(read["metrics"]["takeovers"], 1);
  EXPECT_GT(read["metrics"]["row_changes"], 10);
  EXPECT_EQ(read["metrics"]["gaps"], 0);
  // However often the whole table is read, the same versions are found.
  const json seldom = CheckJson("--from 1m --every 1m");
  EXPECT_EQ(seldom["metrics"], read["metrics"]);
  EXPECT_EQ(CheckJson("--from 1m --lock job")["metrics"], read["metrics"]);
  EXPECT_THAT(Check().out, HasSubstr("a row that reads the same at two times was not changed"));
}

TEST_F(CheckVersionsTest, AHistoryThatBreaksThemIsViolated) {
  WriteByHand("pod-a", "spanner.commit_timestamp()");
  WriteByHand("pod-b", "spanner.commit_timestamp()");  // at once, within the lease
  WriteByHand("pod-c", "2026-01-01T00:00:00Z");
  EXPECT_THAT(Check(),
              // A token that is not its commit's no process writes.
              Ends(1, AllOf(HasSubstr("violated  outside_write"),
                            HasSubstr("set token to 2026-01-01T00:00:00Z, which is not its commit"),
                            HasSubstr("pod-b took lock \"job\" from pod-a"))));
}

TEST_F(CheckVersionsTest, ErrorsSayWhereAndWhatToDo) {
  const auto expect = [&](const std::string& arguments, int code, const TextMatcher& says) {
    EXPECT_THAT(Check(arguments), Ends(code, "", says)) << arguments;
  };
  expect("--from 1m", 2, HasSubstr("no row of the lock table changed in that time"));
  expect("--from 2h", 2,
         AllOf(HasSubstr("versions of that time are gone"), HasSubstr("version_retention_period")));
  expect("--from 1m --table nosuch", 2,
         AllOf(HasSubstr("there is no table nosuch in projects/"), HasSubstr("--table")));
  expect("--from 1m --to 2m", 2, HasSubstr("--from is later than --to"));
  expect("--from 1m --follow", 2, HasSubstr("which one? --stream NAME"));
  expect("--from 1m --every 0s", 2, HasSubstr("--every is a millisecond or more"));
  expect("--from 1m --stream x --every 1s", 2, HasSubstr("a change stream has all that happened"));
  expect("--from 1m --endpoint 127.0.0.1:1", 3, HasSubstr("SPANNER_EMULATOR_HOST"));
}

class CheckVersionsOfDeletedRowsTest : public CheckVersionsTest {
 protected:
  CheckVersionsOfDeletedRowsTest() : CheckVersionsTest("lease_lock") {}
};

// A release deletes the row: whether the lock was held before the first row that was read is unknown.
TEST_F(CheckVersionsOfDeletedRowsTest, WhatMayHaveBeenWhereThereWasNoRowIsSaid) {
  const auto a = Run("pod-a");
  ASSERT_TRUE(a->output().WaitFor("\"renewed\"", 15)) << a->output().text();
  a->Signal(SIGKILL);  // so that its row is left
  const json read = CheckJson();
  EXPECT_GT(read["metrics"]["row_changes"], 5);
  EXPECT_EQ(read["metrics"]["gaps"], 0);
  const json& respected = read["invariants"]["lease_respected"];
  EXPECT_EQ(respected["verdict"], "unknown");
  EXPECT_THAT(respected.dump(), AllOf(HasSubstr("had no row at"), HasSubstr("change stream")));
}

}  // namespace
}  // namespace whorl::check_versions_test
