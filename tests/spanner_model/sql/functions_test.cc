// Operators, functions and casts: tables of expressions and their values, which are the emulator's.
#include "spanner_model/sql/functions.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "spanner_model/sql/timestamp_text.h"
#include "tests/spanner_model/sql/testing.h"

namespace whorl::model::functions_test {
namespace {

using Cases = std::vector<std::pair<std::string, std::string>>;

void ExpectAll(const Cases& cases) {
  for (const auto& [text, value] : cases) EXPECT_EQ(Show(text), value) << text;
}

// Expects that the texts do not compile and that the messages begin so.
void ExpectRefused(const Cases& cases) {
  for (const auto& [text, message] : cases) {
    const Status error = CompileError("SELECT " + text + " FROM types");
    EXPECT_EQ(error.code, Code::kInvalidArgument) << text;
    EXPECT_TRUE(error.message.view().starts_with(message)) << text << "\n" << error.message;
  }
}

TEST(SqlFunctions, Float64Arithmetic) {
  // An overflow is an error, not an infinity; what was infinite before may stay so.
  ExpectAll({{"1 / 2", "0.5"},
             {"6 / 2 + 1", "4"},
             {"1.5 + 1", "2.5"},
             {"1 - 2.5", "-1.5"},
             {"-(1.5)", "-1.5"},
             {"+1.5", "1.5"},
             {"2 * -3 / 4", "-1.5"},
             {"10 / 2 * 5", "25"},
             {"1e-300 * 1e-300", "0"},
             {"f / 1", "NULL"},
             {"CAST('inf' AS FLOAT64) - CAST('inf' AS FLOAT64)", "nan"},
             {"1 / CAST('inf' AS FLOAT64)", "0"},
             {"1 / 0", "OUT_OF_RANGE: division by zero: 1 / 0"},
             {"0.0 / 0.0", "OUT_OF_RANGE: division by zero: 0 / 0"},
             {"1e308 * 10", "OUT_OF_RANGE: double overflow: 1e+308 * 10"},
             {"-1e308 - 1e308", "OUT_OF_RANGE: double overflow: -1e+308 - 1e+308"},
             {"1e308 / 1e-10", "OUT_OF_RANGE: double overflow: 1e+308 / 1e-10"}});
}

TEST(SqlFunctions, ComparisonsWithNan) {
  // As IEEE 754 says, in IN and NULLIF too, though a stored NaN equals itself as a value.
  const std::string nan = "CAST('nan' AS FLOAT64)";
  ExpectAll({{nan + " = " + nan, "FALSE"},
             {nan + " != " + nan, "TRUE"},
             {nan + " = 1", "FALSE"},
             {nan + " < 1", "FALSE"},
             {nan + " > 1", "FALSE"},
             {nan + " <= " + nan, "FALSE"},
             {nan + " >= " + nan, "FALSE"},
             {"-0.0 = 0.0", "TRUE"},
             {"NOT (" + nan + " >= 1)", "TRUE"},
             {nan + " IN (" + nan + ", 1)", "FALSE"},
             {"NULLIF(" + nan + ", " + nan + ")", "nan"},
             {"GREATEST(1, " + nan + ", 2)", "nan"},
             {"LEAST(1, " + nan + ")", "nan"}});
}

TEST(SqlFunctions, TestsAreThreeValued) {
  ExpectAll({{"1 IN (1, 2)", "TRUE"},
             {"1 IN (2, NULL)", "NULL"},
             {"1 IN (1, NULL)", "TRUE"},
             {"NULL IN (1)", "NULL"},
             {"1 NOT IN (2)", "TRUE"},
             {"1 NOT IN (NULL, 2)", "NULL"},
             {"1 IN (1.0)", "TRUE"},
             {"t IN ('2026-01-01T00:00:00Z')", "NULL"},
             {"1 BETWEEN 0 AND 2", "TRUE"},
             {"1 NOT BETWEEN 0 AND 2", "FALSE"},
             {"NULL BETWEEN 0 AND 2", "NULL"},
             {"3 BETWEEN NULL AND 2", "FALSE"},
             {"1 BETWEEN NULL AND 2", "NULL"},
             {"2 - 1 BETWEEN 0 AND 1 + 1 AND TRUE", "TRUE"},
             {"TRUE IS TRUE", "TRUE"},
             {"b IS TRUE", "FALSE"},
             {"b IS NOT TRUE", "TRUE"},
             {"b IS FALSE", "FALSE"},
             {"FALSE IS NOT FALSE", "FALSE"},
             {"k1 IN (1, 1 / 0)", "OUT_OF_RANGE: division by zero: 1 / 0"},
             {"1 BETWEEN 2 AND 1 / 0", "OUT_OF_RANGE: division by zero: 1 / 0"}});
}

TEST(SqlFunctions, ConditionalsEvaluateNoMoreThanTheyNeed) {
  ExpectAll({{"IF(TRUE, 1, 2.5)", "1"},
             {"IF(b, 1, 2)", "2"},
             {"IF(FALSE, 'a', NULL)", "NULL"},
             {"IF(TRUE, 1, 1 / 0)", "1"},
             {"COALESCE(NULL, i, 3)", "3"},
             {"COALESCE(1, 1 / 0)", "1"},
             {"IFNULL(s, 'x')", "'x'"},
             {"NULLIF(1, 1)", "NULL"},
             {"NULLIF(1, 2)", "1"},
             {"NULLIF('a' || 'b', 'c')", "'ab'"},
             {"NULLIF(1, 1 / 0)", "OUT_OF_RANGE: division by zero: 1 / 0"},
             {"GREATEST(1, 2.5)", "2.5"},
             {"GREATEST(1, NULL)", "NULL"},
             {"LEAST('b', 'a', 'c')", "'a'"},
             {"GREATEST(CURRENT_TIMESTAMP, '2027-01-01T00:00:00Z')", "2027-01-01T00:00:00Z"}});
}

TEST(SqlFunctions, Texts) {
  // Characters are code points; a SUBSTR that begins before the text begins with it.
  ExpectAll(
      {{"'a' || 'b' || s", "NULL"},
       {"'a' || 'b' || 'c'", "'abc'"},
       {"b'a' || b'\\xff'", "b'61ff'"},
       {"CONCAT('a', 'b', 'c')", "'abc'"},
       {"CONCAT('a', NULL)", "NULL"},
       {"LENGTH('\u00e9')", "1"},
       {"LENGTH(b'\u00e9')", "2"},
       {"CHAR_LENGTH('\u00e9\u20ac')", "2"},
       {"BYTE_LENGTH('\u00e9')", "2"},
       {"LOWER('AbC')", "'abc'"},
       {"UPPER(b'aZ{')", "b'415a7b'"},
       {"LOWER('\u00c9')",
        "INVALID_ARGUMENT: LOWER or UPPER of characters beyond ASCII is not modelled"},
       {"SUBSTR('abc', 2)", "'bc'"},
       {"SUBSTR('abc', -2, 1)", "'b'"},
       {"SUBSTR('abc', 0, 1)", "'a'"},
       {"SUBSTR('abc', 5)", "''"},
       {"SUBSTR('abc', -5, 2)", "'ab'"},
       {"SUBSTR('abc', -9223372036854775808, 1)", "'a'"},
       {"SUBSTR('abc', 9223372036854775807, 9223372036854775807)", "''"},
       {"SUBSTRING('\u00e9\u20aca', 2, 1)", "'\u20ac'"},
       {"SUBSTR(b'abc', 2, 1)", "b'62'"},
       {"SUBSTR('abc', 1, -1)", "OUT_OF_RANGE: Third argument in SUBSTR() cannot be negative"},
       {"STRPOS('\u00e9b', 'b')", "2"},
       {"STRPOS('a', 'z')", "0"},
       {"ENDS_WITH('abc', 'c')", "TRUE"},
       {"STARTS_WITH('a' || 'b', CONCAT('a', ''))", "TRUE"},
       {"r'a\\n' || 'x'", "'a\\nx'"},
       {"b'\\x00\\xff\\377'", "b'00ffff'"},
       {"'\\xe9\\377\\X7f'", "'\u00e9\u00ff\x7f'"},
       {"rb'\\x'", "b'5c78'"}});
}

TEST(SqlFunctions, Like) {
  ExpectAll({{"'abc' LIKE 'a%'", "TRUE"},
             {"'abc' LIKE 'a_c'", "TRUE"},
             {"'abc' LIKE '%b'", "FALSE"},
             {"'abcabd' LIKE '%ab_'", "TRUE"},
             {"'' LIKE ''", "TRUE"},
             {"'' LIKE '%'", "TRUE"},
             {"'a' LIKE ''", "FALSE"},
             {"'\u00e9a' LIKE '_a'", "TRUE"},
             {"b'\\xc3\\xa9' LIKE b'_'", "FALSE"},
             {"'%' LIKE '\\\\%'", "TRUE"},
             {"'a' LIKE '\\\\_'", "FALSE"},
             {"'a\\nb' LIKE 'a%b'", "TRUE"},
             {"'abc' NOT LIKE 'b%'", "TRUE"},
             {"s LIKE 'a'", "NULL"},
             {"'a' LIKE 'a\\\\'", "OUT_OF_RANGE: LIKE pattern ends with a backslash"}});
}

// A text in which nearly all of the pattern is found nearly everywhere.
TEST(SqlFunctions, LikeEndsSoonWhateverThePattern) {
  const auto times = [](int n, const std::string& part) {
    std::string all;
    for (int i = 0; i < n; ++i) all += part;
    return all;
  };
  for (const std::string a : {"a", "\u00e9"}) {
    const std::string text = times(30'000, a) + "b" + a;
    for (const std::string& many : {times(6'000, a), times(3'000, a + "_")}) {
      for (const auto& [pattern, matches] :
           std::vector<std::pair<std::string, bool>>{{"%" + many + "b" + a, true},
                                                     {"%" + many + "b%", true},
                                                     {a + "%" + many + "b_", true},
                                                     {"%" + many + "\\b%" + a, true},
                                                     {"%" + many + "b", false},
                                                     {"%" + many + "bb%", false},
                                                     {"%" + many + "b%" + a + a, false},
                                                     {"b%" + many + "b%", false}}) {
        EXPECT_EQ(MatchesPattern(text, pattern, TextUnit::kCharacter), matches)
            << a << " " << pattern.size();
        if (a != "a") continue;
        EXPECT_EQ(MatchesPattern(text, pattern, TextUnit::kByte), matches);
      }
    }
  }
}

TEST(SqlFunctions, Numbers) {
  ExpectAll({{"ABS(-1)", "1"},
             {"ABS(-1.5)", "1.5"},
             {"ABS(i)", "NULL"},
             {"ABS(-9223372036854775808)", "OUT_OF_RANGE: int64 overflow: --9223372036854775808"},
             {"MOD(-5, 3)", "-2"},
             {"MOD(5, -3)", "2"},
             {"MOD(-9223372036854775808, -1)", "0"},
             {"MOD(1, 0)", "OUT_OF_RANGE: division by zero: MOD(1, 0)"}});
}

TEST(SqlFunctions, TimesAsNumbers) {
  // Down to the whole part, also before 1970.
  ExpectAll({{"UNIX_MICROS(TIMESTAMP '2026-01-01T00:00:00.0000009Z')", "1767225600000000"},
             {"UNIX_MILLIS(TIMESTAMP '1969-12-31T23:59:59.9999Z')", "-1"},
             {"UNIX_SECONDS('1969-12-31T23:59:59.9Z')", "-1"},
             {"TIMESTAMP_MICROS(-1)", "1969-12-31T23:59:59.999999Z"},
             {"TIMESTAMP_MILLIS(1)", "1970-01-01T00:00:00.001Z"},
             {"TIMESTAMP_SECONDS(i)", "NULL"},
             {"TIMESTAMP_MILLIS(9223372036854775807)",
              "OUT_OF_RANGE: Input value 9223372036854775807 cannot be converted into a "
              "TIMESTAMP, because it would be out of the allowed range between "
              "-62135596800000000 to 253402300799999999 (microseconds)"}});
}

TEST(SqlFunctions, CastsOfNumbers) {
  ExpectAll(
      {{"CAST(1 AS STRING)", "'1'"},
       {"CAST(1.5 AS INT64)", "2"},
       {"CAST(-2.5 AS INT64)", "-3"},
       {"CAST(0.49999999999999994 AS INT64)", "0"},
       {"CAST(TRUE AS INT64)", "1"},
       {"CAST(2 AS BOOL)", "TRUE"},
       {"CAST(FALSE AS STRING)", "'false'"},
       {"CAST(3 AS FLOAT64) / 2", "1.5"},
       {"CAST(1.0 AS STRING)", "'1'"},
       {"CAST(0.1 + 0.2 AS STRING)", "'0.30000000000000004'"},
       {"CAST(1e20 AS STRING)", "'1e+20'"},
       {"CAST(0.0001 AS STRING)", "'0.0001'"},
       {"CAST(0.00001 AS STRING)", "'1e-05'"},
       {"CAST(-0.0 AS STRING)", "'0'"},
       {"CAST(CAST('-inf' AS FLOAT64) AS STRING)", "'-inf'"},
       {"CAST(i AS STRING)", "NULL"},
       {"CAST(NULL AS STRING)", "NULL"},
       {"CAST(1e30 AS INT64)", "OUT_OF_RANGE: int64 out of range: 1e+30"},
       {"CAST(9223372036854775807.0 AS INT64)", "OUT_OF_RANGE: int64 out of range: 9.22337e+18"},
       {"CAST(CAST('nan' AS FLOAT64) AS INT64)",
        "OUT_OF_RANGE: Illegal conversion of non-finite floating point number to an "
        "integer: nan"}});
}

TEST(SqlFunctions, CastsOfTexts) {
  ExpectAll({{"CAST(' 5 ' AS INT64)", "5"},
             {"CAST('-0x8000000000000000' AS INT64)", "-9223372036854775808"},
             {"CAST('+5' AS INT64)", "5"},
             {"CAST('1e5' AS FLOAT64)", "1e+05"},
             {"CAST(' -Infinity ' AS FLOAT64)", "-inf"},
             {"CAST('1e400' AS FLOAT64)", "inf"},
             {"CAST('0x10' AS FLOAT64)", "16"},
             {"CAST('TRUE' AS BOOL)", "TRUE"},
             {"CAST('abc' AS BYTES)", "b'616263'"},
             {"CAST(b'abc' AS STRING)", "'abc'"},
             {"CAST('2026-07-01 00:00:00' AS TIMESTAMP)", "2026-07-01T07:00:00Z"}});
  for (const char* text : {"'x'", "''", "'1.5'", "'1_0'", "'0x'", "'- 5'", "'0x8000000000000000'",
                           "'99999999999999999999'"}) {
    EXPECT_TRUE(Show(std::string("CAST(") + text + " AS INT64)")
                    .starts_with("OUT_OF_RANGE: Bad int64 value: "))
        << text;
    EXPECT_EQ(Show(std::string("SAFE_CAST(") + text + " AS INT64)"), "NULL") << text;
  }
  for (const char* text : {"'x'", "''", "'1e'", "'1 2'", "'nan(1)'", "'1\\0002'"}) {
    EXPECT_TRUE(Show(std::string("CAST(") + text + " AS FLOAT64)")
                    .starts_with("OUT_OF_RANGE: Bad double value: "))
        << text;
  }
  ExpectAll({{"CAST('t' AS BOOL)", "OUT_OF_RANGE: Bad bool value: t"},
             {"CAST(' true' AS BOOL)", "OUT_OF_RANGE: Bad bool value:  true"},
             {"CAST(b'\\xff' AS STRING)", "OUT_OF_RANGE: Invalid cast of bytes to UTF8 string"},
             {"SAFE_CAST(b'\\xc3' AS STRING)", "NULL"},
             {"CAST('x' AS TIMESTAMP)", "OUT_OF_RANGE: Invalid timestamp: 'x'"},
             {"SAFE_CAST('x' AS TIMESTAMP)", "NULL"},
             {"SAFE_CAST(1 / 0 AS STRING)", "OUT_OF_RANGE: division by zero: 1 / 0"},
             {"SAFE_CAST('1900-01-01' AS TIMESTAMP)",
              "INVALID_ARGUMENT: The time zone of timestamp '1900-01-01', or its rules before "
              "1967, is not modelled"}});
}

TEST(SqlFunctions, TimestampsAreWrittenOnTheClockOfLosAngeles) {
  // Fractions of 0, 3, 6 or 9 digits.
  ExpectAll(
      {{"CAST(TIMESTAMP '2026-01-01T00:00:00Z' AS STRING)", "'2025-12-31 16:00:00-08'"},
       {"CAST(TIMESTAMP '2026-07-01T00:00:00.5Z' AS STRING)", "'2026-06-30 17:00:00.500-07'"},
       {"CAST(TIMESTAMP '2026-01-01T00:00:00.1234Z' AS STRING)", "'2025-12-31 16:00:00.123400-08'"},
       {"CAST(TIMESTAMP '2026-03-08T09:59:59.9999999Z' AS STRING)",
        "'2026-03-08 01:59:59.999999900-08'"},
       {"CAST(TIMESTAMP '2026-03-08T10:00:00Z' AS STRING)", "'2026-03-08 03:00:00-07'"},
       {"CAST(TIMESTAMP '9999-12-31T23:59:59Z' AS STRING)", "'9999-12-31 15:59:59-08'"},
       {"CAST(TIMESTAMP '1966-12-31T00:00:00Z' AS STRING)",
        "INVALID_ARGUMENT: CAST of a TIMESTAMP before 1967 to STRING is not modelled"}});
}

TEST(SqlFunctions, DaylightTimeBeginsAndEndsByTheLawOfItsYear) {
  // Both ends of every rule: the last second before the change, and the change.
  const std::vector<std::pair<std::string, int>> changes = {
      {"1967-04-30T10:00:00Z", -7}, {"1967-10-29T09:00:00Z", -8}, {"1974-01-06T10:00:00Z", -7},
      {"1974-10-27T09:00:00Z", -8}, {"1975-02-23T10:00:00Z", -7}, {"1976-04-25T10:00:00Z", -7},
      {"1986-04-27T10:00:00Z", -7}, {"1987-04-05T10:00:00Z", -7}, {"2006-04-02T10:00:00Z", -7},
      {"2006-10-29T09:00:00Z", -8}, {"2007-03-11T10:00:00Z", -7}, {"2007-11-04T09:00:00Z", -8},
      {"2026-03-08T10:00:00Z", -7}, {"2026-11-01T09:00:00Z", -8}, {"2400-03-12T10:00:00Z", -7}};
  for (const auto& [text, hours] : changes) {
    const int64_t at = At(text).seconds();
    EXPECT_EQ(LosAngelesOffset(at), hours * 3'600) << text;
    EXPECT_EQ(LosAngelesOffset(at - 1), (-15 - hours) * 3'600) << text;
  }
  EXPECT_EQ(LosAngelesOffset(At("1966-12-31T00:00:00Z").seconds()), std::nullopt);
}

TEST(SqlFunctions, AnHourThatIsSkippedOrComesTwiceIsReadByTheOldOffset) {
  ExpectAll({{"TIMESTAMP '2026-03-08 01:59:59'", "2026-03-08T09:59:59Z"},
             {"TIMESTAMP '2026-03-08 02:30:00'", "2026-03-08T10:30:00Z"},
             {"TIMESTAMP '2026-03-08 03:00:00'", "2026-03-08T10:00:00Z"},
             {"TIMESTAMP '2026-11-01 01:30:00'", "2026-11-01T08:30:00Z"},
             {"TIMESTAMP '2026-11-01 02:00:00'", "2026-11-01T10:00:00Z"}});
}

TEST(SqlFunctions, ALiteralNullIsNoOperand) {
  // Spanner refuses it, since it is nearly always a mistake for IS NULL.
  for (const char* text : {"s = NULL", "NULL != 1", "1 + NULL", "NULL / 2", "-NULL", "+NULL",
                           "NOT NULL", "'a' || NULL", "NULL LIKE 'a'", "(NULL) < 1"}) {
    const std::string message =
        CompileError(std::string("SELECT ") + text + " FROM types").message.str();
    EXPECT_NE(message.find("cannot be literal NULL"), std::string::npos) << message;
  }
  ExpectAll({{"NULL AND TRUE", "NULL"},
             {"NULL OR TRUE", "TRUE"},
             {"NULL IS NULL", "TRUE"},
             {"CAST(NULL AS INT64) = 1", "NULL"},
             {"IF(TRUE, NULL, NULL) = 1", "NULL"}});
}

TEST(SqlFunctions, TypesThatDoNotFitAreRefused) {
  ExpectRefused(
      {{"1 = 'a'", "No matching signature for operator = for argument types: INT64, STRING"},
       {"y = 'x'", "No matching signature for operator = for argument types: BYTES, STRING"},
       {"1 + '1'", "No matching signature for operator + for argument types: INT64, STRING"},
       {"t - t", "No matching signature for operator -"},
       {"'a' || 1", "No matching signature for operator || for argument types: STRING, INT64"},
       {"1 + 2 || 'a'", "No matching signature for operator || for argument types: INT64, STRING"},
       {"1 LIKE 'a'", "No matching signature for operator LIKE"},
       {"i IN (1, 'a')", "No matching signature for operator IN"},
       {"i BETWEEN 1 AND 'a'", "No matching signature for operator BETWEEN"},
       {"i IS TRUE", "No matching signature for operator IS TRUE"},
       {"IF(1, 2, 3)", "No matching signature for function IF"},
       {"IF(TRUE, 1)", "No matching signature for function IF"},
       {"COALESCE()", "No matching signature for function COALESCE with no arguments"},
       {"COALESCE(t, s)", "No matching signature for function COALESCE"},
       {"IFNULL(1)", "No matching signature for function IFNULL"},
       {"GREATEST(1, 'a')", "No matching signature for function GREATEST"},
       {"CONCAT(b'a', 'b')", "No matching signature for function CONCAT"},
       {"LENGTH(1)", "No matching signature for function LENGTH for argument type: INT64"},
       {"CHAR_LENGTH(b'a')", "No matching signature for function CHAR_LENGTH"},
       {"MOD(1.5, 1)", "No matching signature for function MOD"},
       {"UNIX_MICROS(s)", "No matching signature for function UNIX_MICROS"},
       {"`LIKE`('a', 'b')", "Function not found: LIKE"},
       {"CAST(1.5 AS BOOL)", "Invalid cast from FLOAT64 to BOOL"},
       {"SAFE_CAST(t AS INT64)", "Invalid cast from TIMESTAMP to INT64"},
       {"CAST(1 AS BYTES)", "Invalid cast from INT64 to BYTES"},
       {"CAST(1 AS NOSUCH)", "Type not found: NOSUCH"},
       {"CAST(1 AS STRING(2))", "Parameterized types are not supported"},
       {"1 = 1 IN (TRUE)", "Syntax error: Unexpected keyword IN"},
       {"1 IN ()", "Syntax error: Unexpected \")\""},
       {"1 BETWEEN 0", "Syntax error: Expected keyword AND"}});
}

TEST(SqlFunctions, Utf8IsToldFromOtherBytes) {
  for (const char* text : {"", "a", "\u00e9", "\u20ac", "\U0001F512", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
  }
  for (const char* text :
       {"\xff", "\x80", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xe0\x80\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "a\xe2\x82"}) {
    EXPECT_FALSE(IsUtf8(text)) << FormatValue(Bytes{text});
  }
}

}  // namespace
}  // namespace whorl::model::functions_test
