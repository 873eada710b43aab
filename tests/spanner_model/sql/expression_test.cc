// Evaluation: NULL logic, timestamps at their limits, comparisons, literals.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/spanner_model/sql/testing.h"

namespace whorl::model::expression_test {
namespace {

// b is a BOOL column that is NULL, which gives the NULL a type.
constexpr std::array<const char*, 3> kTruths = {"TRUE", "FALSE", "b"};

std::string Truth(size_t i) { return kTruths[i]; }

TEST(SqlExpression, AndOrNotFollowTheThreeValuedTables) {
  // The semaphore's WHERE depends on them: a NULL owner must not look expired.
  const std::array<std::array<const char*, 3>, 3> and_table = {
      {{"TRUE", "FALSE", "NULL"}, {"FALSE", "FALSE", "FALSE"}, {"NULL", "FALSE", "NULL"}}};
  const std::array<std::array<const char*, 3>, 3> or_table = {
      {{"TRUE", "TRUE", "TRUE"}, {"TRUE", "FALSE", "NULL"}, {"TRUE", "NULL", "NULL"}}};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(Show(Truth(i) + " AND " + Truth(j)), and_table[i][j]) << i << j;
      EXPECT_EQ(Show(Truth(i) + " OR " + Truth(j)), or_table[i][j]) << i << j;
    }
  }
  EXPECT_EQ(Show("NOT TRUE"), "FALSE");
  EXPECT_EQ(Show("NOT FALSE"), "TRUE");
  EXPECT_EQ(Show("NOT b"), "NULL");
}

TEST(SqlExpression, AWhereKeepsTrueOnly) {
  // NULL is neither true nor an error: the row is left out.
  const Row row(8);
  const EvaluationContext context{.parameters = {}, .row = row, .current_timestamp = {}};
  const auto matches = [&](const std::string& where) {
    Status error;
    return Matches(Compiled<DeletePlan>("DELETE types WHERE " + where).filter, context, error);
  };
  EXPECT_EQ(matches("TRUE"), Match::kYes);
  EXPECT_EQ(matches("FALSE"), Match::kNo);
  EXPECT_EQ(matches("NULL"), Match::kNo);
  EXPECT_EQ(matches("b"), Match::kNo);
  EXPECT_EQ(matches("k2 = s"), Match::kNo);
  EXPECT_EQ(matches("NOT (k2 = s)"), Match::kNo);
  EXPECT_EQ(matches("9223372036854775807 + 1 > 0"), Match::kError);
}

TEST(SqlExpression, AnErrorInAnyOperandOfAndAndOrShows) {
  // The emulator evaluates them all; hiding an error by order would promise more than Spanner does.
  const std::string overflow = "9223372036854775807 + 1 > 0";
  for (const std::string& text : {"FALSE AND " + overflow, "TRUE OR " + overflow,
                                  overflow + " OR TRUE", "NOT (b AND " + overflow + ")"}) {
    EXPECT_EQ(Show(text), "OUT_OF_RANGE: int64 overflow: 9223372036854775807 + 1") << text;
  }
}

TEST(SqlExpression, AnyNullOperandMakesNullButForIsNull) {
  // A takeover row is NULL except for its name; no expression over it may look like a value.
  for (const char* text :
       {"i = 1", "1 != i", "i < i", "i + 1", "1 - i", "i * 0", "-i",
        "TIMESTAMP_DIFF(t, CURRENT_TIMESTAMP(), SECOND)",
        "TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), t, SECOND)", "TIMESTAMP_DIFF(NULL, NULL, DAY)",
        "TIMESTAMP_SUB(t, INTERVAL 1 SECOND)", "TIMESTAMP_ADD(CURRENT_TIMESTAMP(), INTERVAL i DAY)",
        "TIMESTAMP_SUB(CURRENT_TIMESTAMP, INTERVAL NULL DAY)", "STARTS_WITH(s, 'a')",
        "STARTS_WITH('a', s)", "STARTS_WITH(y, y)", "STARTS_WITH(NULL, NULL)", "NULL", "s"}) {
    EXPECT_EQ(Show(text), "NULL") << text;
    EXPECT_EQ(Show(std::string("(") + text + ") IS NULL"), "TRUE") << text;
    EXPECT_EQ(Show(std::string("(") + text + ") IS NOT NULL"), "FALSE") << text;
  }
  EXPECT_EQ(Show("1 IS NULL"), "FALSE");
  EXPECT_EQ(Show("1 IS NOT NULL"), "TRUE");
}

std::string Diff(const std::string& a, const std::string& b, const std::string& part) {
  return Show("TIMESTAMP_DIFF(TIMESTAMP '" + a + "', TIMESTAMP '" + b + "', " + part + ")");
}

TEST(SqlExpression, TimestampDiffTruncatesTowardZero) {
  // A heartbeat younger than 1 ms, or up to 1 ms ahead, reads as diff 0: "lock available" (S5).
  const std::string zero = "2026-01-01T00:00:00Z";
  EXPECT_EQ(Diff("2026-01-01T00:00:00.0019999Z", zero, "MILLISECOND"), "1");
  EXPECT_EQ(Diff(zero, "2026-01-01T00:00:00.0019999Z", "MILLISECOND"), "-1");
  EXPECT_EQ(Diff("2026-01-01T00:00:00.000999999Z", zero, "MILLISECOND"), "0");
  EXPECT_EQ(Diff(zero, "2026-01-01T00:00:00.000999999Z", "MILLISECOND"), "0");
  EXPECT_EQ(Diff("2026-01-01T00:00:01.1Z", "2026-01-01T00:00:00.15Z", "SECOND"), "0");
  EXPECT_EQ(Diff("2026-01-01T00:00:00.15Z", "2026-01-01T00:00:01.1Z", "SECOND"), "0");
  EXPECT_EQ(Diff("2026-01-01T23:59:59Z", zero, "DAY"), "0");
  EXPECT_EQ(Diff("2026-01-02T00:00:00Z", zero, "day"), "1");
  EXPECT_EQ(Diff(zero, "2026-01-01T01:59:59.9Z", "HOUR"), "-1");
  EXPECT_EQ(Diff("2026-01-01T00:02:00Z", "2026-01-01T00:00:00.000000001Z", "MINUTE"), "1");
  EXPECT_EQ(Diff("2026-01-01T00:00:00.0000019Z", zero, "MICROSECOND"), "1");
  EXPECT_EQ(Diff("2026-01-01T00:00:01.000000001Z", zero, "NANOSECOND"), "1000000001");
}

TEST(SqlExpression, TimestampDiffOverflowsAtNanosecondsOnly) {
  // The full range fits every other part; a saturated result would be a wrong age.
  const std::string first = "0001-01-01T00:00:00Z";
  const std::string last = "9999-12-31T23:59:59.999999999Z";
  EXPECT_EQ(Diff(last, first, "MICROSECOND"), "315537897599999999");
  EXPECT_EQ(Diff(first, last, "DAY"), "-3652058");
  EXPECT_EQ(Diff(last, first, "NANOSECOND"),
            "OUT_OF_RANGE: TIMESTAMP_DIFF at NANOSECOND precision between values of "
            "9999-12-31 23:59:59.999999999+00 and 0001-01-01 00:00:00+00 causes overflow");
  // The least INT64 is a difference; one less is not.
  const std::string zero = "1970-01-01T00:00:00Z";
  EXPECT_EQ(Diff("1677-09-21T00:12:43.145224192Z", zero, "NANOSECOND"), "-9223372036854775808");
  EXPECT_EQ(Diff("1677-09-21T00:12:43.145224191Z", zero, "NANOSECOND").substr(0, 12),
            "OUT_OF_RANGE");
  EXPECT_EQ(Diff("2262-04-11T23:47:16.854775807Z", zero, "NANOSECOND"), "9223372036854775807");
  EXPECT_EQ(Diff("2262-04-11T23:47:16.854775808Z", zero, "NANOSECOND").substr(0, 12),
            "OUT_OF_RANGE");
}

TEST(SqlExpression, TimestampSubAndAddMoveByEveryPart) {
  // The semaphore's timeout is TIMESTAMP_SUB of a parameter.
  const std::string t = "TIMESTAMP '2026-03-01T00:00:00.5Z'";
  const auto sub = [&](const std::string& interval) {
    return Show("TIMESTAMP_SUB(" + t + ", INTERVAL " + interval + ")");
  };
  EXPECT_EQ(sub("500000001 NANOSECOND"), "2026-02-28T23:59:59.999999999Z");
  EXPECT_EQ(sub("1 MICROSECOND"), "2026-03-01T00:00:00.499999Z");
  EXPECT_EQ(sub("1500 MILLISECOND"), "2026-02-28T23:59:59Z");
  EXPECT_EQ(sub("1 SECOND"), "2026-02-28T23:59:59.5Z");
  EXPECT_EQ(sub("1 MINUTE"), "2026-02-28T23:59:00.5Z");
  EXPECT_EQ(sub("1 HOUR"), "2026-02-28T23:00:00.5Z");
  EXPECT_EQ(sub("1 DAY"), "2026-02-28T00:00:00.5Z");
  EXPECT_EQ(sub("-1 DAY"), "2026-03-02T00:00:00.5Z");
  EXPECT_EQ(sub("2 * 3 + 4 SECOND"), "2026-02-28T23:59:50.5Z");
  EXPECT_EQ(
      Show("TIMESTAMP_ADD(" + t + ", INTERVAL @n SECOND)", {{"n", Type::kInt64}}, {int64_t{10}}),
      "2026-03-01T00:00:10.5Z");
  // As measured: a constant text is read as a number.
  EXPECT_EQ(sub("' 0x10' SECOND"), "2026-02-28T23:59:44.5Z");
  EXPECT_EQ(sub("CAST(NULL AS STRING) SECOND"), "NULL");
  EXPECT_EQ(sub("CAST('5' AS STRING) SECOND"), "2026-02-28T23:59:55.5Z");
  EXPECT_EQ(sub("SAFE_CAST(CAST(5 AS STRING) AS STRING) SECOND"), "2026-02-28T23:59:55.5Z");
  EXPECT_EQ(sub("SAFE_CAST(b'\\xff' AS STRING) SECOND"), "NULL");
  EXPECT_EQ(Show("TIMESTAMP_ADD(" + t + ", INTERVAL @n SECOND)", {{"n", Type::kString}},
                 {std::string("10")}),
            "2026-03-01T00:00:10.5Z");
  EXPECT_EQ(Show("TIMESTAMP_ADD(" + t + ", INTERVAL -500000001 NANOSECOND)"),
            "2026-02-28T23:59:59.999999999Z");
}

TEST(SqlExpression, TimestampSubOutOfRangeIsAnError) {
  // The vocabulary's arithmetic saturates; SQL's must not.
  const auto sub = [](const std::string& t, const std::string& interval) {
    return Show("TIMESTAMP_SUB(TIMESTAMP '" + t + "', INTERVAL " + interval + ")");
  };
  EXPECT_EQ(sub("0001-01-01T00:00:00Z", "1 SECOND"),
            "OUT_OF_RANGE: Adding -1 SECOND to timestamp 0001-01-01 00:00:00+00 causes overflow");
  EXPECT_EQ(sub("0001-01-01T00:00:00Z", "1 NANOSECOND").substr(0, 12), "OUT_OF_RANGE");
  EXPECT_EQ(sub("0001-01-01T00:00:00.000000001Z", "1 NANOSECOND"), "0001-01-01T00:00:00Z");
  EXPECT_EQ(sub("9999-12-31T23:59:59.999999999Z", "-1 NANOSECOND"),
            "OUT_OF_RANGE: Adding 1 NANOSECOND to timestamp 9999-12-31 23:59:59.999999999+00 "
            "causes overflow");
  for (const char* part : {"SECOND", "MINUTE", "HOUR", "DAY"}) {
    for (const char* amount : {"9223372036854775807 ", "-9223372036854775808 "}) {
      EXPECT_EQ(sub("2026-01-01T00:00:00Z", std::string(amount) + part).substr(0, 12),
                "OUT_OF_RANGE");
    }
  }
  EXPECT_EQ(sub("1970-01-01T00:00:00Z", "-9223372036854775808 NANOSECOND"),
            "2262-04-11T23:47:16.854775808Z");
}

TEST(SqlExpression, StartsWithComparesBytesAndKnowsNoWildcards) {
  // If `_` matched any character, as in LIKE, the clean-up of one lock would delete other rows.
  EXPECT_EQ(Show("STARTS_WITH('ab123', 'a_')"), "FALSE");
  EXPECT_EQ(Show("STARTS_WITH('a_123', 'a_')"), "TRUE");
  EXPECT_EQ(Show("starts_with('abc', '')"), "TRUE");
  EXPECT_EQ(Show("STARTS_WITH('abc', 'abcd')"), "FALSE");
  EXPECT_EQ(Show("STARTS_WITH('Abc', 'abc')"), "FALSE");
  const std::vector<Parameter> bytes = {{"a", Type::kBytes}, {"b", Type::kBytes}};
  EXPECT_EQ(Show("STARTS_WITH(@a, @b)", bytes, {Bytes{"\xff\x01"}, Bytes{"\xff"}}), "TRUE");
  EXPECT_EQ(Show("STARTS_WITH(@a, @b)", bytes, {Bytes{"\xff\x01"}, Bytes{"\x01"}}), "FALSE");
}

std::string Compared(std::string left, const char* op, const std::string& right) {
  left += op;
  left += right;
  return Show(left);
}

TEST(SqlExpression, ComparisonsOrderEveryType) {
  // Strings and bytes by bytes, FALSE before TRUE, timestamps to the nanosecond.
  const std::vector<std::pair<std::string, std::string>> less_and_more = {
      {"FALSE", "TRUE"},
      {"-1", "1"},
      {"-0.5", "0.25"},
      {"'Z'", "'a'"},
      {"''", "'a'"},
      {"'a'", "'\\u00e9'"},
      {"TIMESTAMP '2026-01-01T00:00:00.1Z'", "TIMESTAMP '2026-01-01T00:00:00.100000001Z'"},
      {"1", "1.5"}};
  for (const auto& [less, more] : less_and_more) {
    for (const char* op : {"<", "<=", "!=", "<>"}) {
      EXPECT_EQ(Compared(less, op, more), "TRUE") << less << op << more;
    }
    for (const char* op : {"=", ">", ">="}) {
      EXPECT_EQ(Compared(less, op, more), "FALSE") << less << op << more;
    }
    for (const char* op : {"=", "<=", ">="}) EXPECT_EQ(Compared(less, op, less), "TRUE") << op;
    for (const char* op : {"!=", "<", ">"}) EXPECT_EQ(Compared(less, op, less), "FALSE") << op;
  }
  const std::vector<Parameter> bytes = {{"a", Type::kBytes}, {"b", Type::kBytes}};
  EXPECT_EQ(Show("@a < @b", bytes, {Bytes{"\x7f"}, Bytes{"\x80"}}), "TRUE");
}

TEST(SqlExpression, ArithmeticOverflowIsOutOfRange) {
  // Wrapped or saturated numbers would go on as data.
  EXPECT_EQ(Show("1 + 2 * 3 - 4"), "3");
  EXPECT_EQ(Show("(1 + 2) * -3"), "-9");
  EXPECT_EQ(Show("10 - 2 - 3"), "5");
  EXPECT_EQ(Show("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(Show("-0x8000000000000000"), "-9223372036854775808");
  EXPECT_EQ(Show("0x7FFFFFFFFFFFFFFF - 0X0f"), "9223372036854775792");
  EXPECT_EQ(Show("-9223372036854775808 - 1"),
            "OUT_OF_RANGE: int64 overflow: -9223372036854775808 - 1");
  EXPECT_EQ(Show("4611686018427387904 * 2"),
            "OUT_OF_RANGE: int64 overflow: 4611686018427387904 * 2");
  EXPECT_EQ(Show("-(-9223372036854775808)"), "OUT_OF_RANGE: int64 overflow: --9223372036854775808");
}

TEST(SqlExpression, AndBindsTighterThanOrAndNotLooserThanComparison) {
  // The semaphore's WHERE relies on operator precedence.
  EXPECT_EQ(Show("TRUE OR TRUE AND FALSE"), "TRUE");
  EXPECT_EQ(Show("(TRUE OR TRUE) AND FALSE"), "FALSE");
  EXPECT_EQ(Show("NOT 1 = 2"), "TRUE");
  EXPECT_EQ(Show("NOT i IS NULL"), "FALSE");
  EXPECT_EQ(Show("1 + 1 = 2 AND 2 < 3"), "TRUE");
  EXPECT_EQ(Show("NOT NOT FALSE OR FALSE"), "FALSE");
}

TEST(SqlExpression, EscapesStandForTheirCharacters) {
  // A name in a statement has to be the name in the row.
  EXPECT_EQ(EvaluateText(R"('a\'b"c')").value, Value(std::string("a'b\"c")));
  EXPECT_EQ(EvaluateText(R"("a'b\"c\\")").value, Value(std::string("a'b\"c\\")));
  EXPECT_EQ(EvaluateText(R"('\n\t\r\a\b\f\v\?\`')").value, Value(std::string("\n\t\r\a\b\f\v?`")));
  EXPECT_EQ(EvaluateText(R"('\x41\101\u00e9\U0001F512')").value,
            Value(std::string("AA\xc3\xa9\xf0\x9f\x94\x92")));
  EXPECT_EQ(EvaluateText("'\xc3\xa9'").value, Value(std::string("\xc3\xa9")));
}

TEST(SqlExpression, TimestampLiteralsAreReadInTheirForms) {
  // Scenarios and tools write them by hand.
  for (const char* text :
       {"TIMESTAMP '2026-01-02T03:04:05.6Z'", "TIMESTAMP \"2026-01-02 03:04:05.600 UTC\"",
        "timestamp '2026-1-2 3:4:5.6+00'", "TIMESTAMP '2026-01-02 05:34:05.6+02:30'",
        "TIMESTAMP '2026-01-01 19:04:05.6-8'", "TIMESTAMP '2026-01-01 19:04:05.6'",
        "TIMESTAMP '02026-01-01 19:04:05.6 America/Los_Angeles'",
        "TIMESTAMP '2026-01-02T08:34:05.6+0530'"}) {
    EXPECT_EQ(Show(text), "2026-01-02T03:04:05.6Z") << text;
  }
  EXPECT_EQ(Show("TIMESTAMP '2026-01-02 +00'"), "2026-01-02T00:00:00Z");
  EXPECT_EQ(Show("TIMESTAMP '2026-01-02'"), "2026-01-02T08:00:00Z");
  EXPECT_EQ(Show("TIMESTAMP '2026-01-01 23:59:60.5Z'"), "2026-01-02T00:00:00.5Z");
  EXPECT_EQ(Show("TIMESTAMP '0001-01-01T00:00:00-00:01'"), "0001-01-01T00:01:00Z");
}

TEST(SqlExpression, TextComparedWithATimestampIsReadAsOne) {
  // Literals and parameters of type STRING coerce, as measured; columns do not.
  Row row(8);
  row[7] = At("2026-01-01T00:00:00Z");
  EXPECT_EQ(Show("t = '2026-01-01 00:00:00Z'", {}, {}, row), "TRUE");
  const std::vector<Parameter> text = {{"u", Type::kString}};
  EXPECT_EQ(Show("@u < t", text, {std::string("2025-12-31T23:59:59.999999999Z")}, row), "TRUE");
  EXPECT_EQ(Show("@u < t", text, {Null{}}, row), "NULL");
  EXPECT_EQ(Show("t = @u", text, {std::string("spanner.commit_timestamp()")}, row),
            "OUT_OF_RANGE: Invalid timestamp: 'spanner.commit_timestamp()'");
}

TEST(SqlExpression, CurrentTimestampIsTheStatementsOwn) {
  // It is fixed for a statement: both mentions of the semaphore's UPDATE are one time.
  EXPECT_EQ(Show("CURRENT_TIMESTAMP"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(Show("current_timestamp()"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(Show("TIMESTAMP_DIFF(TIMESTAMP_ADD(CURRENT_TIMESTAMP(), INTERVAL 3 SECOND), "
                 "TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 4 SECOND), SECOND)"),
            "7");
  EXPECT_EQ(Show("CURRENT_TIMESTAMP() = CURRENT_TIMESTAMP"), "TRUE");
}

TEST(SqlExpression, TwoComputedOperandsDoNotOverwriteEachOther) {
  // Both operands are evaluated into the same scratch.
  EXPECT_EQ(Show("1 + 1 < 2 + 2"), "TRUE");
  EXPECT_EQ(Show("(1 + 1) * (2 + 2) - (3 + 3)"), "2");
  EXPECT_EQ(Show("(1 < 2) = (3 > 2)"), "TRUE");
  EXPECT_EQ(Show("(1 < 2) = (3 < 2)"), "FALSE");
  EXPECT_EQ(Show("i + 1 = 2 + 2"), "NULL");
}

TEST(SqlExpression, StoredValuesAreReturnedWhereTheyStand) {
  // Evaluation that copies strings would cost an allocation for every row.
  const auto plan =
      Compiled<SelectPlan>("SELECT s, @p, 'literal' FROM types", {{"p", Type::kString}});
  Row row(8);
  row[5] = std::string("stored");
  const Row parameters = {std::string("given")};
  const EvaluationContext context{.parameters = parameters, .row = row, .current_timestamp = {}};
  Value scratch;
  Status error;
  EXPECT_EQ(Evaluate(plan.outputs[0].expression, context, scratch, error), &row[5]);
  EXPECT_EQ(Evaluate(plan.outputs[1].expression, context, scratch, error), &parameters[0]);
  EXPECT_EQ(Evaluate(plan.outputs[2].expression, context, scratch, error),
            &plan.outputs[2].expression.literals[0]);
  EXPECT_EQ(scratch, Value(Null{}));
}

TEST(SqlExpression, ParametersAreCheckedAgainstTheirTypes) {
  // Evaluation asks no types, so a wrong one has to be stopped before.
  const std::vector<Parameter> parameters = {{"a", Type::kString}, {"b", Type::kInt64}};
  const auto check = [&](const Row& values) {
    return FormatStatus(CheckParameters(parameters, values));
  };
  EXPECT_EQ(check({std::string("x"), int64_t{1}}), "OK");
  EXPECT_EQ(check({Null{}, Null{}}), "OK");
  EXPECT_EQ(check({std::string("x"), true}),
            "INVALID_ARGUMENT: Invalid value for bind parameter b: Expected INT64.");
  EXPECT_EQ(check({std::string("x")}), "INVALID_ARGUMENT: Incomplete query parameters b");
  EXPECT_EQ(CheckParameters(parameters, Row(3)).code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace whorl::model::expression_test
