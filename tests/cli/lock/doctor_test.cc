// `whorl lock doctor` on whorl's own server: what it says of a database where locks work, and of one where
// something is wrong.
#include <nlohmann/json.hpp>
#include <string>

#include "protocol/protocols.h"
#include "tests/cli/json_lines.h"
#include "tests/cli/lock/lock_cli_testing.h"

namespace whorl::doctor_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class DoctorTest : public LockCliTest {
 protected:
  // Of each check, its first two words: "ok rights".
  static std::vector<std::string> HealthIn(const json& document) {
    std::vector<std::string> health;
    for (const json& check : document["checks"]) {
      health.push_back(check["health"].get<std::string>() + " " + check["what"].get<std::string>());
    }
    return health;
  }
};

TEST_F(DoctorTest, SaysThatLocksWorkAndLeavesNothing) {
  const Ended ended = Whorl("lock doctor --for 200ms");
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out,
              MatchesRegex("ok    reach: Spanner answers at 127.*\n"
                           "ok    table: table fenced_locks is as fenced_lease needs it\n"
                           "ok    rights: this account has SELECT, INSERT, UPDATE, DELETE on "
                           "table fenced_locks\n"
                           "ok    clock: this machine's clock is .* ahead of Spanner's; "
                           "fenced_lease does not use it\n"
                           "ok    latency: [0-9,]+ writes?: p50 .* s, p99 .* s\n"
                           "ok    lease: a lease of .* or more makes sense: 4 times p99.*\n"));
  EXPECT_EQ(Whorl("lock list").out, "no locks in fenced_locks\n");
}

// Operators run it beside processes that hold locks.
TEST_F(DoctorTest, ChangesNoRowOfAnyProtocol) {
  for (const ProtocolInfo& info : Protocols()) {
    SCOPED_TRACE(info.name);
    const std::string where = " --protocol " + std::string(info.name);
    ASSERT_EQ(Whorl("lock init --new job" + where).code, 0);
    RunningWhorl run(Words("lock run job --lease 5s --id pod-a" + where));
    ASSERT_TRUE(run.output().WaitFor("job: leads")) << run.output().text();
    EXPECT_THAT(Whorl("lock doctor --for 100ms" + where), Ends(0, HasSubstr("ok    rights: ")));
    const json held = json::parse(Whorl("lock list --json" + where).out);
    ASSERT_EQ(held.size(), 1U);
    EXPECT_EQ(held[0]["holder"], "pod-a");
    run.output().ReadReady();
    EXPECT_THAT(run.output().text(), Not(HasSubstr("lost")));
    EXPECT_EQ(run.EndBy(SIGTERM), 0);
  }
}

TEST_F(DoctorTest, SaysWhatToFix) {
  EXPECT_THAT(Whorl("lock doctor --table nothing"),
              Ends(1, AllOf(HasSubstr("FIX   table: there is no table nothing"),
                            HasSubstr("whorl lock init --protocol fenced_lease --table nothing"))));
  EXPECT_THAT(Whorl("lock doctor --protocol spindle_v2 --table fenced_locks"),
              Ends(1, HasSubstr("the table fenced_locks is fenced_lease's")));
  EXPECT_THAT(Whorl("lock doctor --for 100ms --lease 1ms"),
              Ends(1, HasSubstr("FIX   lease: a lease of 1ms is too short")));
}

// An account of IAM alone, which no GRANT concerns.
TEST_F(DoctorTest, TellsAnAccountWithoutARoleOfIamAndInJson) {
  database_->server()->SetFaults([](const server::CallInfo& call) -> server::FaultAction {
    if (call.method != "Commit") return server::LetPass{};
    return server::FailBefore{Error(Code::kPermissionDenied, "the test says no")};
  });
  const Ended ended = Whorl("lock doctor --json");
  EXPECT_EQ(ended.code, 1);
  const json document = json::parse(ended.out);
  EXPECT_EQ(document["format"], "whorl-doctor");
  EXPECT_EQ(document["version"], 2);
  EXPECT_THAT(HealthIn(document),
              testing::ElementsAre("ok reach", "ok table", "ok rights", "FIX rights", "FIX rights",
                                   "note rights", "ok clock", "ok latency", "ok lease"));
  const json& insert = document["checks"][3];
  EXPECT_THAT(insert["found"].get<std::string>(),
              HasSubstr("this account lacks INSERT on table fenced_locks"));
  EXPECT_THAT(insert["remedy"].get<std::string>(),
              AllOf(HasSubstr("roles/spanner.databaseUser"), Not(HasSubstr("GRANT"))));
}

TEST_F(DoctorTest, ARoleThatIsNotThereIsTold) {
  database_->server()->SetFaults([](const server::CallInfo& call) -> server::FaultAction {
    if (call.method.find("CreateSession") == std::string_view::npos) return server::LetPass{};
    return server::FailBefore{Error(Code::kPermissionDenied, "Role not found: locker")};
  });
  EXPECT_THAT(Whorl("lock doctor --database-role locker"),
              Complains(3, AllOf(HasSubstr("Role not found: locker"), HasSubstr("CREATE ROLE"))));
}

// A right can be granted on some columns of a table.
TEST_F(DoctorTest, ARightThatIsMissingOnAColumnIsNoWrongTable) {
  database_->server()->SetFaults([](const server::CallInfo&) {
    return server::FailBefore{
        Error(Code::kPermissionDenied,
              "Role locker does not have required privileges on column fenced_locks.token.")};
  });
  EXPECT_THAT(Whorl("lock get job --database-role locker"),
              Complains(3, AllOf(HasSubstr("PERMISSION_DENIED: Role locker"),
                                 HasSubstr("`whorl lock doctor` says which are missing"))));
}

// --- one right is missing ------------------------------------------------------------------------

struct MissingRight {
  std::string protocol;
  std::string table;
  std::string right;
  std::string statement;     // a regular expression that finds those of the doctor that need it
  std::string only_command;  // not empty: processes do without
};

class MissingRightTest : public CliTest, public testing::WithParamInterface<MissingRight> {
 protected:
  MissingRightTest() { setenv("WHORL_DATABASE", kLockDatabase, 1); }
  ~MissingRightTest() override { unsetenv("WHORL_DATABASE"); }

  Ended Doctor() {
    Write("faults.json", R"({"faults": [{"match": {"sql_matches": ")" + GetParam().statement +
                             R"("}, "do": "error", "code": "PERMISSION_DENIED", "times": 0}]})");
    const std::string where = " --protocol " + GetParam().protocol;
    return Shell(
        "export W; \"$W\" serve --faults faults.json --database \"$WHORL_DATABASE\" -- sh -c '"
        "\"$W\" lock init --new" +
        where + " && \"$W\" lock doctor --for 100ms" + where + " --database-role locker'");
  }
};

INSTANTIATE_TEST_SUITE_P(
    Rights, MissingRightTest,
    testing::Values(
        MissingRight{"fenced_lease", "fenced_locks", "SELECT", "^select .*limit 1$", ""},
        MissingRight{"fenced_lease", "fenced_locks", "INSERT", "^insert ", ""},
        MissingRight{"fenced_lease", "fenced_locks", "UPDATE", "^update ", ""},
        MissingRight{"fenced_lease", "fenced_locks", "DELETE", "^delete ", "whorl lock delete"},
        MissingRight{"spindle_v2", "locktable", "DELETE", "^delete ", ""},
        MissingRight{"lease_lock", "lease_locks", "DELETE", "^delete ", ""},
        MissingRight{"spindle_v3", "spindle_v3_locks", "INSERT", "^insert ", ""},
        MissingRight{"semaphore", "LeaderElection", "UPDATE", "^update ", ""},
        MissingRight{"semaphore", "LeaderElection", "INSERT", "^insert ", "whorl lock init"}),
    [](const auto& param) { return param.param.protocol + "_" + param.param.right; });

// Spanner names the role and the table in its error, and not the right.
TEST_P(MissingRightTest, IsNamedWithItsGrant) {
  const MissingRight& missing = GetParam();
  const Ended ended = Doctor();
  const bool is_needed = missing.only_command.empty();
  const std::string need = is_needed ? "processes of " + missing.protocol + " need"
                                     : "only `" + missing.only_command + "` needs";
  EXPECT_EQ(ended.code, is_needed ? 1 : 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr(std::string(is_needed ? "FIX " : "note") +
                        "  rights: the role locker lacks " + missing.right + " on table " +
                        missing.table + ", which " + need + ": PERMISSION_DENIED: "));
  EXPECT_THAT(ended.out, HasSubstr("\n      GRANT " + missing.right + " ON TABLE " + missing.table +
                                   " TO ROLE locker\n"));
  // The others are there.
  EXPECT_THAT(ended.out, testing::ContainsRegex("ok    rights: the role locker has [A-Z, ]+ on"));
  size_t lacking = 0;
  for (size_t at = 0; (at = ended.out.find(" lacks ", at)) != std::string::npos; ++at) ++lacking;
  EXPECT_EQ(lacking, 1U) << ended.out;
  EXPECT_THAT(ended.out, Not(HasSubstr("left over")));
}

// As long as nobody has seen a real Spanner refuse a statement that changes no row.
class RefusedWriteTest : public MissingRightTest {};

INSTANTIATE_TEST_SUITE_P(
    Rights, RefusedWriteTest,
    testing::Values(MissingRight{"fenced_lease", "fenced_locks", "INSERT", "^insert .* values", ""},
                    MissingRight{"fenced_lease", "fenced_locks", "UPDATE", "^update .*@name", ""}),
    [](const auto& param) { return param.param.protocol + "_" + param.param.right; });

TEST_P(RefusedWriteTest, ShowsAMissingRightToo) {
  const Ended ended = Doctor();
  EXPECT_THAT(ended, Ends(1, HasSubstr("FIX   rights: the role locker lacks " + GetParam().right)));
  EXPECT_THAT(ended.out, Not(HasSubstr("left over")));
}

}  // namespace
}  // namespace whorl::doctor_test
