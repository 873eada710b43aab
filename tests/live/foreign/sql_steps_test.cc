// Steps are recognised by what a statement says, and not by how it is written.
#include "live/foreign/sql_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "protocol/protocols.h"

namespace whorl::live::sql_steps_test {
namespace {

TEST(NormalizedSqlTest, IsTheSameForTextsThatMeanTheSame) {
  const std::string expected = NormalizedSql("INSERT INTO t (k, `Name`) VALUES (@k, 'x')");
  EXPECT_EQ(expected, "insert t ( k , name ) values ( ? , ? ) ");
  for (const char* text :
       {"insert t (k,name) values(1,\"it's\")", "INSERT t\n(k, name)\tVALUES (@key, @name);",
        "insert into t (k, name) -- no\nvalues (/* (1) */ @k, '''a'b''')",
        "insert t (k, name) values (0x1f, 'a\\'b')"}) {
    EXPECT_EQ(NormalizedSql(text), expected) << text;
  }
  for (const char* text : {"insert t (k) values (1)", "insert u (k, name) values (1, 2)",
                           "insert t (k, name) values (1, null)"}) {
    EXPECT_NE(NormalizedSql(text), expected) << text;
  }
}

TEST(NormalizedSqlTest, TakesAnyText) {
  for (const char* text : {"", "'", "'''", "`", "/*", "--", "@", "\\", "a'\\"}) NormalizedSql(text);
  EXPECT_EQ(NormalizedSql("'never ends"), "? ");
}

TEST(SqlTextsTest, AreThoseOfTheLiterals) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(TextsIn("select 1"), Texts());
  EXPECT_EQ(TextsIn("insert `t` (a) values ('job_1', \"x\", '''y''') -- 'no'\n"),
            (Texts{"job_1", "x", "y"}));
  for (const char* text : {"", "'", "'''", "`", "/*", "--", "@", "\\", "a'\\"}) TextsIn(text);
  EXPECT_EQ(TextsIn("'never ends"), Texts{"never ends"});
}

TEST(SqlStepsTest, KnowTheStatementsOfSpindleAsItSendsThem) {
  const SqlSteps steps(*FindProtocol("spindle_v2"), "locks");
  const auto step = [&](std::string_view sql, bool is_read_write,
                        StepOccasion occasion = StepOccasion::kAnyTime) {
    const StepStatement* found = steps.Find(sql, is_read_write, occasion);
    return found == nullptr ? std::string() : std::string(WordOf(found->step));
  };
  EXPECT_EQ(
      step("select timestamp_diff(current_timestamp(), heartbeat, millisecond) as diff, token "
           "from locks where name = @name",
           false),
      "check");
  EXPECT_EQ(step("insert locks (name, heartbeat, token, writer) values "
                 "('job',PENDING_COMMIT_TIMESTAMP(),PENDING_COMMIT_TIMESTAMP(),'me')",
                 true),
            "first_insert");
  EXPECT_EQ(step("insert locks (name) values ('job_123')", true), "takeover_insert");
  EXPECT_EQ(
      step("update locks set heartbeat = PENDING_COMMIT_TIMESTAMP(), token = @token, writer = "
           "@writer where name = @name",
           true),
      "takeover_update");
  EXPECT_EQ(
      step("update locks set heartbeat = PENDING_COMMIT_TIMESTAMP() where name = @name", true),
      "heartbeat_update");
  EXPECT_EQ(step("delete from locks where starts_with(name, 'job_')", true), "heartbeat_delete");
  const std::string_view read = "select token, writer from locks where name = @name";
  EXPECT_EQ(step(read, false), "reread");
  EXPECT_EQ(step(read, false, StepOccasion::kAsked), "has_lock");
  EXPECT_EQ(step(read, true), "");
  EXPECT_EQ(step("insert other (name) values ('job_123')", true), "");
}

// Two steps of one text must differ in their occasion: nothing else shows which one a call is.
TEST(SqlStepsTest, AreUnambiguousForEveryProtocolThatSaysItsStatements) {
  size_t said = 0;
  for (const ProtocolInfo& info : Protocols()) {
    if (info.statements == nullptr) continue;
    ++said;
    const SqlSteps steps(info, "locks");
    for (const StepStatement& statement : info.statements("locks")) {
      const StepStatement* found =
          steps.Find(statement.sql.text(), statement.in_read_write, statement.occasion);
      ASSERT_NE(found, nullptr) << info.name << ": " << statement.sql.text();
      EXPECT_EQ(WordOf(found->step), WordOf(statement.step)) << info.name;
    }
  }
  EXPECT_GE(said, 5U);
}

}  // namespace
}  // namespace whorl::live::sql_steps_test
