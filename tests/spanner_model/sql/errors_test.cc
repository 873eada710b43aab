// The errors for wrong and for unsupported statements.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "spanner_model/sql/compile.h"
#include "spanner_model/sql/limits.h"
#include "spanner_model/sql/source_error.h"
#include "tests/spanner_model/sql/testing.h"

namespace whorl::model::sql_errors_test {
namespace {

std::string Message(const std::string& text) {
  const Status error = CompileError(text);
  EXPECT_EQ(error.code, Code::kInvalidArgument) << error.message;
  return error.message.str();
}

// The message before its position, and the position.
using Placed = std::pair<std::string, std::string>;
Placed Split(const std::string& text) {
  const std::string message = Message(text);
  const size_t at = message.find(" [at ");
  if (at == std::string::npos) return {message, ""};
  return {message.substr(0, at), message.substr(at + 5, message.find(']') - at - 5)};
}

TEST(SqlErrors, AnUnknownTableIsShownWithACaret) {
  // The text is Spanner's, so users see the same error in both.
  EXPECT_EQ(Message("SELECT name FROM nosuch"),
            "Table not found: nosuch [at 1:18]\n"
            "SELECT name FROM nosuch\n"
            "                 ^");
  EXPECT_EQ(Message("UPDATE nosuch SET a = 1 WHERE TRUE"),
            "Table not found: nosuch [at 1:8]\n"
            "UPDATE nosuch SET a = 1 WHERE TRUE\n"
            "       ^");
}

TEST(SqlErrors, AnUnknownNameIsShownOnItsLine) {
  // Statements are often written over several lines, with tabs.
  EXPECT_EQ(Message("SELECT name\nFROM locktable\n\tWHERE nosuch = 1"),
            "Unrecognized name: nosuch [at 3:15]\n"
            "        WHERE nosuch = 1\n"
            "              ^");
  EXPECT_EQ(Message("SELECT '\xc3\xa9', x FROM locktable"),
            "Unrecognized name: x [at 1:13]\n"
            "SELECT '\xc3\xa9', x FROM locktable\n"
            "            ^");
  EXPECT_EQ(Split("UPDATE locktable SET x = 1 WHERE TRUE").first, "Unrecognized name: x");
  EXPECT_EQ(Split("INSERT locktable (name) VALUES (writer)").first, "Unrecognized name: writer");
  EXPECT_EQ(Split("SELECT PENDING_COMMIT_TIMESTAMP FROM locktable").first,
            "Unrecognized name: PENDING_COMMIT_TIMESTAMP");
}

TEST(SqlErrors, LinesEndAtAnyLineBreak) {
  // Line ends differ between platforms.
  EXPECT_EQ(LocateInSource("a\r\nb\rc\nd", 3).line, 2);
  EXPECT_EQ(LocateInSource("a\r\nb\rc\nd", 5).line, 3);
  const SourcePosition end = LocateInSource("a\r\nb\rc\nd", 8);
  EXPECT_EQ(end.line, 4);
  EXPECT_EQ(end.column, 2);
  EXPECT_EQ(end.line_text, "d");
  EXPECT_EQ(LocateInSource("", 0).column, 1);
  EXPECT_EQ(LocateInSource("ab\n", 2).column, 3);
}

TEST(SqlErrors, DmlWithoutWhereIsRefused) {
  // Spanner requires a WHERE, so that a forgotten one does not rewrite the table.
  EXPECT_EQ(Message("UPDATE locktable SET writer = NULL"),
            "UPDATE must have a WHERE clause [at 1:1]\n"
            "UPDATE locktable SET writer = NULL\n"
            "^");
  EXPECT_EQ(Message("\n DELETE locktable"),
            "DELETE must have a WHERE clause [at 2:2]\n DELETE locktable\n ^");
}

TEST(SqlErrors, AKeyColumnIsNotUpdated) {
  // A row's key is its identity, on which locks and versions depend.
  EXPECT_EQ(Message("UPDATE locktable SET name = 'x' WHERE TRUE"),
            "Cannot modify a primary key column with UPDATE");
}

TEST(SqlErrors, PendingCommitTimestampIsAWholeValueOnly) {
  // Its value is not known before the commit, so nothing may be computed from it.
  const std::string misplaced =
      "The PENDING_COMMIT_TIMESTAMP() function may only be used as a value for INSERT or UPDATE "
      "of an appropriately typed column. It cannot be used in SELECT, or as the input to any "
      "other scalar expression.";
  for (const char* text :
       {"SELECT PENDING_COMMIT_TIMESTAMP() FROM locktable",
        "DELETE locktable WHERE heartbeat < PENDING_COMMIT_TIMESTAMP()",
        "UPDATE locktable SET heartbeat = TIMESTAMP_ADD(PENDING_COMMIT_TIMESTAMP(), "
        "INTERVAL 1 SECOND) WHERE TRUE",
        "INSERT locktable (name, token) VALUES ('a', PENDING_COMMIT_TIMESTAMP(1))"}) {
    EXPECT_EQ(Message(text), misplaced) << text;
  }
}

TEST(SqlErrors, PendingCommitTimestampNeedsATimestamp) {
  // The option is checked when a row is written (dml_test.cc), the type when the text is compiled.
  EXPECT_EQ(
      Split("INSERT locktable (name, writer) VALUES ('a', PENDING_COMMIT_TIMESTAMP())"),
      (Placed{"Value has type TIMESTAMP which cannot be inserted into column writer, which has "
              "type STRING",
              "1:46"}));
}

TEST(SqlErrors, TypesThatDoNotMatchAreNamed) {
  // A comparison that quietly converts would find other rows than Spanner does.
  EXPECT_EQ(
      Split("SELECT name FROM locktable WHERE name = 1"),
      (Placed{"No matching signature for operator = for argument types: STRING, INT64", "1:34"}));
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"heartbeat = writer", "operator = for argument types: TIMESTAMP, STRING"},
      {"heartbeat < 5", "operator < for argument types: TIMESTAMP, INT64"},
      {"name != TRUE", "operator != for argument types: STRING, BOOL"},
      {"name AND TRUE", "operator AND for argument types: STRING, BOOL"},
      {"NOT name", "operator NOT for argument type: STRING"},
      {"name + 1 > 0", "operator + for argument types: STRING, INT64"},
      {"-name = '1'", "operator - for argument type: STRING"},
      {"STARTS_WITH(1, 'a')", "function STARTS_WITH for argument types: INT64, STRING"},
      {"STARTS_WITH(name)", "function STARTS_WITH for argument type: STRING"},
      {"STARTS_WITH()", "function STARTS_WITH with no arguments"},
      {"TIMESTAMP_DIFF(name, token, DAY) > 0",
       "function TIMESTAMP_DIFF for argument types: STRING, TIMESTAMP"},
      {"TIMESTAMP_SUB(token, 1) > token",
       "function TIMESTAMP_SUB for argument types: TIMESTAMP, INT64"},
      {"CURRENT_TIMESTAMP(1) > token", "function CURRENT_TIMESTAMP for argument type: INT64"}};
  for (const auto& [where, message] : cases) {
    EXPECT_EQ(Split("DELETE locktable WHERE " + where).first,
              "No matching signature for " + message);
  }
  EXPECT_EQ(Split("DELETE locktable WHERE 1").first,
            "WHERE clause should return type BOOL, but returns INT64");
  EXPECT_EQ(Split("UPDATE locktable SET writer = 1 WHERE TRUE").first,
            "Value of type INT64 cannot be assigned to writer, which has type STRING");
  EXPECT_EQ(Split("INSERT types (k1, k2) VALUES (1.5, 'a')").first,
            "Value has type FLOAT64 which cannot be inserted into column k1, which has type INT64");
}

TEST(SqlErrors, DatePartsThatATimestampHasNotAreRefused) {
  // A month has no fixed length.
  EXPECT_EQ(Split("SELECT TIMESTAMP_DIFF(t, t, MONTH) FROM types").first,
            "TIMESTAMP_DIFF does not support the MONTH date part");
  EXPECT_EQ(Split("SELECT TIMESTAMP_SUB(t, INTERVAL 1 YEAR) FROM types").first,
            "TIMESTAMP_SUB does not support the YEAR date part");
  EXPECT_EQ(Split("SELECT TIMESTAMP_DIFF(t, t, x) FROM types").first,
            "A valid date part name is required but found x");
  EXPECT_EQ(Split("SELECT TIMESTAMP_ADD(t, INTERVAL '_b' SECOND) FROM types").first,
            "Could not cast literal \"_b\" to type INT64");
  EXPECT_EQ(
      Split("SELECT TIMESTAMP_ADD(t, INTERVAL CAST(-2.25 AS STRING) SECOND) FROM types").first,
      "Could not cast \"-2.25\" to type INT64");
  EXPECT_EQ(
      Split("SELECT TIMESTAMP_ADD(t, INTERVAL CAST(b'\\xff' AS STRING) SECOND) FROM types").first,
      "Interval value must be coercible to INT64 type");
  EXPECT_EQ(Split("SELECT TIMESTAMP_ADD(t, INTERVAL 1.5 SECOND) FROM types").first,
            "Interval value must be coercible to INT64 type");
}

TEST(SqlErrors, AnUnboundParameterIsNamed) {
  // A typo in a protocol's statement must not be mistaken for a NULL.
  EXPECT_EQ(Message("SELECT @u FROM locktable"), "Incomplete query parameters u");
}

TEST(SqlErrors, InsertChecksItsColumnsAndRows) {
  // In ZetaSQL's words, which Spanner passes on.
  EXPECT_EQ(Split("INSERT locktable (name, k1) VALUES ('a', 1)"),
            (Placed{"Column k1 is not present in table locktable", "1:25"}));
  EXPECT_EQ(Split("INSERT locktable (name, NAME) VALUES ('a', 'b')").first,
            "INSERT has columns with duplicate name: NAME");
  EXPECT_EQ(Split("INSERT locktable (name, writer) VALUES ('a', 'b'), ('c')"),
            (Placed{"Inserted row has wrong column count; Has 1, expected 2", "1:52"}));
  EXPECT_EQ(Split("INSERT locktable VALUES ('a')").first, "INSERT must specify a column list");
  EXPECT_EQ(Split("UPDATE locktable SET writer = 'a', Writer = 'b' WHERE TRUE").first,
            "Update item Writer assigned more than once");
}

TEST(SqlErrors, SyntaxErrorsSayWhatWasFound) {
  // The position alone is not enough if a keyword is missing.
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "Unexpected end of statement"},
      {"SELECT", "Unexpected end of statement"},
      {"SELECT name FROM", "Expected identifier but got end of statement"},
      {"SELECT name name2 name3 FROM locktable",
       "Expected end of input but got identifier \"name3\""},
      {"SELECT FROM locktable", "Unexpected keyword FROM"},
      {"FOO locktable", "Unexpected identifier \"FOO\""},
      {"DELETE locktable WHERE name = ", "Unexpected end of statement"},
      {"DELETE locktable WHERE (name = 'a'", "Expected \")\" but got end of statement"},
      {"DELETE locktable WHERE TRUE; DELETE",
       "Expected end of input but got identifier \"DELETE\""},
      {"DELETE locktable WHERE 1 = 1 = 1", "Unexpected \"=\""},
      {"DELETE locktable WHERE name IS 'a'", "Expected keyword NULL but got string literal 'a'"},
      {"UPDATE locktable SET writer 1 WHERE TRUE", "Expected \"=\" but got integer literal \"1\""},
      {"DELETE locktable WHERE name = 'a", "Unclosed string literal"},
      {"DELETE locktable WHERE name = 'a\nb'", "Unclosed string literal"},
      {"DELETE locktable /* WHERE", "Unclosed comment"},
      {"DELETE `locktable WHERE", "Unclosed identifier literal"},
      {"DELETE `` WHERE TRUE", "Invalid empty identifier"},
      {"DELETE locktable WHERE $", "Illegal input character \"$\""},
      {"DELETE locktable WHERE i = 1a", "Missing whitespace between literal and alias"},
      {"DELETE locktable WHERE name = '\\q'", "Illegal escape sequence: \\q"},
      {"DELETE locktable WHERE name = '\\777'", "Illegal escape sequence: \\777"},
      {"DELETE locktable WHERE name = '\\uD800'", "Illegal escape sequence: \\uD800"},
      {"DELETE locktable WHERE name = @ name", "Unexpected \"@\""}};
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(Split(text).first, "Syntax error: " + message) << text;
  }
}

TEST(SqlErrors, NumbersAndTimesOutOfRangeAreRefused) {
  // Truncating the literal would change the statement.
  for (const char* number : {"9223372036854775808", "99999999999999999999", "0x8000000000000000"}) {
    EXPECT_EQ(Split(std::string("SELECT ") + number + " FROM types").first.substr(0, 23),
              "Invalid integer literal")
        << number;
  }
  EXPECT_EQ(Split("SELECT 1e999 FROM types").first, "Invalid floating point literal: 1e999");
  for (const char* time :
       {"2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "x", "", "0000-01-01T00:00:00Z",
        "2026-01-01T00:00:00.1234567890Z", "2026-01-01Z", "2026-01-01 UTC", "2026-01-01 00:00:00 Z",
        "2026-01-01 00:00:00 +01", "2026-01-01-08:00", "9999-12-31T23:59:59-00:01",
        "2026-01-01T00:00:00+15:00"}) {
    EXPECT_EQ(Split(std::string("SELECT TIMESTAMP '") + time + "' FROM types").first,
              "Invalid TIMESTAMP literal")
        << time;
  }
  EXPECT_EQ(Split("SELECT t FROM types WHERE t = 'yesterday'").first,
            "Could not cast literal \"yesterday\" to type TIMESTAMP");
}

TEST(SqlErrors, SqlThatIsNotModelledSaysSo) {
  // Good SQL that the model cannot run must not look like the user's mistake.
  for (const char* text :
       {"SELECT DISTINCT name FROM locktable GROUP BY name",
        "SELECT locktable FROM locktable",
        "SELECT name FROM locktable, types",
        "SELECT name FROM locktable JOIN types USING (k1)",
        "SELECT COUNT(DISTINCT name) FROM locktable",
        "SELECT SUM(f) FROM types",
        "SELECT AVG(i) FROM types",
        "SELECT REVERSE(name) FROM locktable",
        "SELECT CAST(1 AS INTERVAL) FROM types",
        "SELECT CAST(DATE '2026-01-01' AS TIMESTAMP) FROM types",
        "SELECT NUMERIC '1' + 1",
        "SELECT MAX(NUMERIC '1') FROM types",
        "SELECT name FROM locktable ORDER BY [1]",
        "SELECT 1 FROM types t WHERE EXISTS(SELECT 1 FROM locktable WHERE name = s)",
        "SELECT 1 FROM types t WHERE 'a' IN (SELECT name FROM locktable "
        "WHERE EXISTS(SELECT t.s FROM locktable))",
        "SELECT ARRAY(SELECT 1)",
        "SELECT 1 FROM information_schema.views",
        "SELECT name FROM locktable WHERE name LIKE ANY ('a%')",
        "SELECT 1 & 2",
        "SELECT ~1",
        "SELECT b IS DISTINCT FROM TRUE FROM types",
        "SELECT '''x'''",
        "SELECT JSON '{}' FROM types",
        "SELECT @@x FROM types",
        "SELECT ? FROM types",
        "SELECT (1, 2) FROM types",
        "SELECT 1 UNION ALL SELECT 2",
        "SELECT TIMESTAMP '1966-12-31 00:00:00' FROM types",
        "SELECT TIMESTAMP '2026-01-01 00:00:00 Europe/Paris' FROM types",
        "INSERT OR REPLACE locktable (name) VALUES ('a')",
        "INSERT locktable (name) SELECT 1",
        "INSERT locktable (name) (SELECT 'a')",
        "INSERT locktable (name) VALUES ('a') THEN RETURN WITH ACTION name",
        "INSERT locktable (name) VALUES ('a') ASSERT_ROWS_MODIFIED 1",
        "WITH x AS (SELECT 1) SELECT 1",
        "CREATE TABLE t (a INT64) PRIMARY KEY (a)",
        "MERGE locktable USING types ON TRUE"}) {
    EXPECT_NE(Message(text).find("not modelled"), std::string::npos) << text << "\n"
                                                                     << Message(text);
  }
}

TEST(SqlErrors, DeepNestingIsAnErrorAndWideIsNot) {
  // Whatever a client sends must not end the process by overflowing its stack.
  const auto repeat = [](const std::string& text, int n) {
    std::string all;
    for (int i = 0; i < n; ++i) all += text;
    return all;
  };
  const std::string where = "DELETE types WHERE ";
  for (const int n : {101, 50'000}) {
    for (const std::string& condition :
         {repeat("(", n) + "TRUE" + repeat(")", n), repeat("NOT ", n) + "TRUE",
          "i = " + repeat("- ", n) + "i", "i = 1" + repeat(" + 1", n), "i = 1" + repeat(" * 1", n),
          repeat("STARTS_WITH(", n)}) {
      EXPECT_EQ(Split(where + condition).first, "Expression is nested more than 100 levels deep");
    }
    EXPECT_EQ(Split(where + "CASE " + repeat("WHEN b THEN TRUE ", n) + "END").first,
              "A CASE of more than 100 WHENs is not modelled");
  }
  Compiled<DeletePlan>(where + repeat("(", 100) + "TRUE" + repeat(")", 100));
  Compiled<DeletePlan>(where + "TRUE" + repeat(" AND TRUE", 10'000));
  Compiled<DeletePlan>(where + "TRUE" + repeat(" OR TRUE", 10'000));
}

TEST(SqlErrors, LimitsAreSpannersAndCheckedFirst) {
  const auto of_length = [](size_t length) {
    const std::string begin = "SELECT k1 FROM types WHERE s = '";
    return begin + std::string(length - begin.size() - 1, 'x') + "'";
  };
  Compiled<SelectPlan>(of_length(1'000'000));
  EXPECT_EQ(CompileError(of_length(1'000'001)).message,
            "Query string length of 1000001 exceeds maximum allowed length of 1000000");
  std::string more_bytes = of_length(999'990);
  for (int i = 0; i < 10; ++i) more_bytes.insert(more_bytes.size() - 1, "\u20ac");
  Compiled<SelectPlan>(more_bytes);

  const auto with_parameters = [](int n) {
    std::string text = "SELECT k1 FROM types WHERE k1 IN (0";
    for (int i = 0; i < n; ++i) text += ", @p" + std::to_string(i);
    return text + ")";
  };
  const auto inferred = [&](int n) {
    return InferParameters(TestSchema(), with_parameters(n), {});
  };
  EXPECT_EQ(std::get<std::vector<Parameter>>(inferred(950)).size(), 950U);
  for (const int n : {951, 9'000}) {
    EXPECT_EQ(std::get<Status>(inferred(n)).message,
              "Number of parameters in query exceeds the maximum allowed limit of 950.");
  }
}

// As many as Spanner allows of everything that it counts, and one more.
TEST(SqlErrors, WhatSpannerCountsHasLimits) {
  const auto list = [](size_t n, const std::function<std::string(size_t)>& item) {
    std::string all;
    for (size_t i = 0; i < n; ++i) all += (i > 0 ? ", " : "") + item(i);
    return all;
  };
  const auto same = [](const std::string& text) { return [=](size_t) { return text; }; };
  const auto nest = [](size_t n, const std::string& open, const std::string& close) {
    std::string text = "1";
    for (size_t i = 0; i < n; ++i) text = open + text + close;
    return text;
  };
  struct Counted {
    const char* what;
    size_t most;
    std::function<std::string(size_t)> text;
  };
  const Counted all[] = {
      {"functions", kFunctionsMax,
       [&](size_t n) { return "SELECT " + list(n, same("LENGTH('a')")); }},
      {"functions", kFunctionsMax,
       [&](size_t n) {
         return "DELETE types WHERE k1 = 0 AND k1 IN (" + list(n - 3, same("-k1")) + ")";
       }},
      {"nested boolean predicates", kNestedFunctionsMax,
       [&](size_t n) { return "SELECT " + nest(n, "ABS(", ")"); }},
      {"grouping columns", kGroupingColumnsMax,
       [&](size_t n) { return "SELECT COUNT(*) FROM types GROUP BY " + list(n, same("k1")); }},
      {"grouping columns", kGroupingColumnsMax,
       [&](size_t n) { return "SELECT DISTINCT " + list(n, same("k1")) + " FROM types"; }},
      {"values in IN operator", kInListMax,
       [&](size_t n) { return "SELECT k1 FROM types WHERE k1 IN (" + list(n, same("1")) + ")"; }},
      {"nested subqueries", kNestedSubqueriesMax,
       [&](size_t n) { return "SELECT " + nest(n, "(SELECT ", ")"); }},
  };
  for (const Counted& counted : all) {
    SCOPED_TRACE(counted.text(4));
    EXPECT_TRUE(
        std::holds_alternative<Plan>(Compile(TestSchema(), counted.text(counted.most), {})));
    EXPECT_EQ(CompileError(counted.text(counted.most + 1)).message,
              "Number of " + std::string(counted.what) + " exceeds the maximum allowed limit of " +
                  std::to_string(counted.most) + ".");
  }
  // A CASE is one function, whatever it is parsed to.
  std::string branches;
  for (int i = 0; i < 90; ++i) branches += "WHEN TRUE THEN 1 ";
  Compiled<SelectPlan>("SELECT CASE " + branches + "END");
}

}  // namespace
}  // namespace whorl::model::sql_errors_test
