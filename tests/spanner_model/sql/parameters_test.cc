// The types of undeclared parameters, as the emulator infers them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/spanner_model/sql/testing.h"

namespace whorl::model::parameters_test {
namespace {

// "p:STRING q:INT64", or the message without its position.
std::string Inferred(const std::string& text, const std::vector<Parameter>& declared = {}) {
  const auto all = InferParameters(TestSchema(), text, declared);
  if (const auto* error = std::get_if<Status>(&all)) {
    return std::string(error->message.view().substr(0, error->message.view().find(" [at ")));
  }
  std::string shown;
  for (const Parameter& parameter : std::get<std::vector<Parameter>>(all)) {
    shown += (shown.empty() ? "" : " ") + parameter.name + ":";
    shown += WordOf(parameter.type);
  }
  return shown;
}

TEST(SqlParameters, UseGivesTheType) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"@p", "p:INT64"},
      {"@p + 1", "p:INT64"},
      {"@p + 1.5", "p:FLOAT64"},
      {"@p / 2", "p:FLOAT64"},
      {"-@p", "p:INT64"},
      {"@p + @q", "p:INT64 q:INT64"},
      {"@p = 'a'", "p:STRING"},
      {"@p = @q", "p:INT64 q:INT64"},
      {"t < @p", "p:TIMESTAMP"},
      {"@p = y", "p:BYTES"},
      {"f = @p", "p:FLOAT64"},
      {"NOT @p", "p:BOOL"},
      {"@p AND b", "p:BOOL"},
      {"@p IS NULL", "p:INT64"},
      {"@p IS TRUE", "p:BOOL"},
      {"s IN (@p, @q)", "p:STRING q:STRING"},
      {"@p BETWEEN 1.5 AND @q", "p:FLOAT64 q:FLOAT64"},
      {"s LIKE @p", "p:STRING"},
      {"@p || 'a'", "p:STRING"},
      {"CONCAT(@p, b'a')", "p:BYTES"},
      {"STARTS_WITH(@p, @q)", "p:STRING q:STRING"},
      {"TIMESTAMP_ADD(@p, INTERVAL @q SECOND)", "p:TIMESTAMP q:INT64"},
      {"TIMESTAMP_DIFF(t, @p, SECOND)", "p:TIMESTAMP"},
      {"IF(@p, 1, @q)", "p:BOOL q:INT64"},
      {"COALESCE(@p, 'a')", "p:STRING"},
      {"NULLIF(@p, @q)", "p:INT64 q:INT64"},
      {"GREATEST(@p)", "p:INT64"},
      {"CAST(@p AS TIMESTAMP)", "p:TIMESTAMP"},
      {"SAFE_CAST(@p AS BOOL)", "p:BOOL"},
      // It stays a parameter, which is coerced to the TIMESTAMP beside it.
      {"t = CAST(@p AS STRING)", "p:STRING"},
      {"LENGTH(@p)", "p:STRING"},
      {"SUBSTR(@p, @q)", "p:STRING q:INT64"},
      {"UNIX_MICROS(@p)", "p:TIMESTAMP"},
      {"MIN(@p)", "p:INT64"},
      {"SUM(@p)", "p:INT64"},
      {"@P, @p", "P:INT64"}};
  for (const auto& [expression, types] : cases) {
    EXPECT_EQ(Inferred("SELECT " + expression + " FROM types"), types) << expression;
  }
  EXPECT_EQ(Inferred("SELECT k1 FROM types WHERE @p ORDER BY @q LIMIT @r OFFSET @s"),
            "p:BOOL q:INT64 r:INT64 s:INT64");
}

TEST(SqlParameters, AColumnGivesTheTypeOfItsValue) {
  EXPECT_EQ(Inferred("INSERT types (k1, k2, b, f, y, t) VALUES (@a, @b, @c, @d, @e, @f) "
                     "THEN RETURN @g"),
            "a:INT64 b:STRING c:BOOL d:FLOAT64 e:BYTES f:TIMESTAMP g:INT64");
  EXPECT_EQ(Inferred("UPDATE types SET f = @p, t = @q WHERE k1 = @r"),
            "r:INT64 p:FLOAT64 q:TIMESTAMP");
}

TEST(SqlParameters, TwoTypesAreAnError) {
  for (const char* text :
       {"SELECT @p = 'a', @p FROM types", "SELECT k1 FROM types WHERE s = @p AND i = @p"}) {
    EXPECT_EQ(Inferred(text),
              "Undeclared parameter 'p' is used assuming different types (STRING vs INT64)");
  }
  EXPECT_EQ(Inferred("SELECT k1 FROM types WHERE i = @p AND k1 = @p"), "p:INT64");
}

TEST(SqlParameters, DeclaredOnesStayAsTheyAre) {
  // They come first, even if the text does not use them; a STRING can still equal a TIMESTAMP.
  EXPECT_EQ(Inferred("SELECT k1 FROM types WHERE t = @p AND s = @q",
                     {{"x", Type::kBool}, {"p", Type::kString}}),
            "x:BOOL p:STRING q:STRING");
  EXPECT_EQ(Inferred("SELECT k1 FROM types WHERE i = @p", {{"p", Type::kString}}),
            "No matching signature for operator = for argument types: INT64, STRING");
  EXPECT_EQ(Inferred("SELECT nosuch"), "Unrecognized name: nosuch");
}

// As measured: a STRING parameter is coerced to TIMESTAMP beside any TIMESTAMP except another
// parameter; a literal is coerced beside that, too.
TEST(SqlParameters, AStringIsATimestampBesideMoreThanAParameterOnly) {
  const std::vector<Parameter> declared = {{"s", Type::kString}, {"t", Type::kTimestamp}};
  const std::string text = "'2020-01-01T00:00:00Z'";
  for (const std::string& compared :
       {"@s = TIMESTAMP " + text, std::string("t = @s"), "@t = " + text,
        std::string("COALESCE(@s, @t, t)"), "LEAST(@s, @t, TIMESTAMP " + text + ")"}) {
    EXPECT_EQ(Inferred("SELECT " + compared + " FROM types", declared), "s:STRING t:TIMESTAMP")
        << compared;
  }
  for (const std::string& compared :
       {std::string("@s = @t"), std::string("@t < @s"), std::string("IF(TRUE, @s, @t)"),
        "COALESCE(@s, @t, " + text + ")", std::string("@t BETWEEN @s AND @s")}) {
    EXPECT_THAT(Inferred("SELECT " + compared + " FROM types", declared),
                ::testing::HasSubstr("No matching signature"))
        << compared;
  }
}

}  // namespace
}  // namespace whorl::model::parameters_test
