// Sections 4 and 5: the functions that protocols use, values on the wire, and DML without matches.
#include <string>

#include "tests/facts/facts.h"
#include "tests/facts/probe.h"

namespace whorl::facts {
namespace {

constexpr const char* kShift = "SELECT TIMESTAMP_SUB(TIMESTAMP '2026-01-02T00:00:00Z', INTERVAL ";

}  // namespace

Section Functions() {
  Section fact{.number = 4, .title = "functions, and values on the wire", .rows = 10};
  fact(1, "of_null", "E", "TIMESTAMP_DIFF, TIMESTAMP_SUB and STARTS_WITH of NULL are NULL")
      .Probed("[NULL, NULL, NULL]", [](Probe& p) {
        p.a.Sql(
            "SELECT TIMESTAMP_DIFF(@t, CURRENT_TIMESTAMP(), SECOND), "
            "TIMESTAMP_SUB(@t, INTERVAL 1 SECOND), STARTS_WITH('a', @s)",
            {NullOf("t", Type::kTimestamp), NullOf("s", Type::kString)});
      });
  fact(2, "differences_are_cut", "E", "TIMESTAMP_DIFF cuts the difference toward zero")
      .Probed("[1, -1] | [0] | [0]", [](Probe& p) {
        p.a.Sql("SELECT TIMESTAMP_DIFF(@a, @b, MILLISECOND), TIMESTAMP_DIFF(@b, @a, MILLISECOND)",
                {Time("a", "1970-01-01T00:00:00.0019999Z"), Time("b", "1970-01-01T00:00:00Z")});
        p.a.Sql("SELECT TIMESTAMP_DIFF(@a, @b, SECOND)",
                {Time("a", "1970-01-01T00:00:01.2Z"), Time("b", "1970-01-01T00:00:00.25Z")});
        p.a.Sql("SELECT TIMESTAMP_DIFF(@a, @b, DAY)",
                {Time("a", "1970-01-01T23:59:59Z"), Time("b", "1970-01-01T00:00:00Z")});
      });
  fact(3, "nanoseconds_overflow", "E", "over the whole range they are OUT_OF_RANGE")
      .Probed("OUT_OF_RANGE", [](Probe& p) {
        p.a.Sql("SELECT TIMESTAMP_DIFF(@a, @b, NANOSECOND)",
                {Time("a", "9999-12-31T23:59:59Z"), Time("b", "0001-01-01T00:00:00Z")});
      });
  fact(4, "before_year_one", "E", "TIMESTAMP_SUB below the least time is OUT_OF_RANGE")
      .Probed("OUT_OF_RANGE", [](Probe& p) {
        p.a.Sql("SELECT TIMESTAMP_SUB(@a, INTERVAL 1 SECOND)", {Time("a", "0001-01-01T00:00:00Z")});
      });
  fact(5, "intervals", "E",
       "an INT64 parameter works, a fraction and a MONTH do not, a negative adds")
      .Probed(
          "[2026-01-01T23:59:59Z] | INVALID_ARGUMENT | INVALID_ARGUMENT | [2026-01-02T00:00:01Z]",
          [](Probe& p) {
            p.a.Sql(std::string(kShift) + "@n SECOND)", {Text("n", "1", Type::kInt64)});
            p.a.Sql(std::string(kShift) + "1.5 SECOND)");
            p.a.Sql(std::string(kShift) + "1 MONTH)");
            p.a.Sql(std::string(kShift) + "-1 SECOND)");
          });
  fact(6, "prefixes", "E",
       "STARTS_WITH compares bytes, knows no wildcards, and takes BYTES, not INT64")
      .Probed("[true, false, false] | [false, true] | INVALID_ARGUMENT", [](Probe& p) {
        p.a.Sql(
            "SELECT STARTS_WITH('abc', ''), STARTS_WITH('abc', 'abcd'), STARTS_WITH('abc', 'A')");
        p.a.Sql("SELECT STARTS_WITH('ab123', 'a_'), STARTS_WITH(b'abc', b'ab')");
        p.a.Sql("SELECT STARTS_WITH(1, 'a')");
      });
  fact(7, "null_heartbeat", "E", "its age is NULL, a comparison drops it; an absent row is no row")
      .Probed("[NULL, NULL, NULL] | no row | no row", [](Probe& p) {
        // Spindle's query of a row without a heartbeat.
        p.Do("INSERT INTO locktable (name) VALUES ('a')");
        p.a.Sql(
            "SELECT TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), heartbeat, MILLISECOND), token, heartbeat "
            "FROM locktable WHERE name = 'a'");
        p.a.Sql("SELECT name FROM locktable WHERE heartbeat < CURRENT_TIMESTAMP()");
        p.a.Sql("SELECT token FROM locktable WHERE name = 'b'");
      });
  fact(8, "order_of_null", "E", "NULL comes first").Probed("[NULL] [v] [w]", [](Probe& p) {
    p.Do(
        "INSERT INTO locktable (name, writer) VALUES ('a', 'w'), ('b', NULL), "
        "('c', 'v')");
    p.a.Sql("SELECT writer FROM locktable ORDER BY writer");
  });
  fact(9, "values_on_the_wire", "E",
       "INT64 is a text; a TIMESTAMP ends in Z, without trailing zeros")
      .Probed("OK | INT64 as text | trimmed Z | BOOL as such | NULL", [](Probe& p) {
        google::spanner::v1::ExecuteSqlRequest request;
        request.set_session(p.a.session());
        request.set_sql("SELECT 1, TIMESTAMP '2026-01-02T03:04:05.1200+00:00', true, NULL");
        const auto heard = p.spanner().ExecuteSql(request);
        p.Hear(heard.status);
        if (!heard.ok()) return;
        const auto& values = heard.reply.rows(0).values();
        p.Is("INT64 as text", values[0].string_value() == "1");
        p.Is("trimmed Z", values[1].string_value() == "2026-01-02T03:04:05.12Z");
        p.Is("BOOL as such", values[2].bool_value());
        p.Is("NULL", values[3].has_null_value());
      });
  fact(10, "wrong_values", "E",
       "a value of the wrong form, or of no kind, is FAILED_PRECONDITION for a parameter with "
       "a type and INVALID_ARGUMENT for one without; so is no value")
      .Probed(
          "FAILED_PRECONDITION | FAILED_PRECONDITION | FAILED_PRECONDITION | FAILED_PRECONDITION | "
          "FAILED_PRECONDITION | FAILED_PRECONDITION | INVALID_ARGUMENT | INVALID_ARGUMENT",
          [](Probe& p) {
            p.a.Sql("SELECT @p", {Number("p", 1, Type::kInt64)});
            p.a.Sql("SELECT @p", {Time("p", "2026-01-01T00:00:00+01:00")});
            p.a.Sql("SELECT @p", {Time("p", "2026-01-01 00:00:00Z")});
            for (const Type type : {Type::kInt64, Type::kTimestamp, Type::kString}) {
              p.a.Sql("SELECT @p", {Argument{.name = "p", .type = type, .value = {}}});
            }
            p.a.Sql("SELECT @p", {Argument{.name = "p", .type = {}, .value = {}}});
            p.a.Sql("SELECT 1 + @p");
          });
  return fact;
}

Section EmptyDml() {
  Section fact{.number = 5, .title = "DML that finds nothing", .rows = 6};
  fact(1, "no_row_matches", "E", "UPDATE and DELETE are OK with count 0")
      .Probed("0 rows | 0 rows", [](Probe& p) {
        p.a.BeginWith("UPDATE locktable SET writer = 'a' WHERE name = 'x'");
        p.a.Sql("DELETE FROM locktable WHERE name = 'x'");
      });
  fact(1, "no_row_matches_streamed", "E", "as a stream, too, without columns")
      .Probed("0 rows | not: columns", [](Probe& p) {
        const Outcome& outcome = p.a.Stream(
            {.sql = "DELETE FROM locktable WHERE name = 'x'", .selector = BeginReadWrite{}});
        p.Is("columns", !outcome.metadata.row_type().fields().empty());
      });
  fact(2, "empty_commit", "E", "a Commit of nothing has a new timestamp")
      .Probed("OK | OK | no row | OK | a timestamp of its own", [](Probe& p) {
        p.a.Begin();
        const Timestamp first = p.a.Commit().commit;
        p.a.BeginWith("SELECT name FROM locktable");
        const Timestamp second = p.a.Commit().commit;
        p.Is("a timestamp of its own", Timestamp() < first && first < second);
      });
  fact(2, "empty_commit_on_a_multiplexed_session", "D",
       "clients send SELECT 1 to get a precommit token")
      .NotCovered("our runner sends no transaction without a statement or a mutation");
  fact(3, "heartbeat_of_a_lost_row", "E, C", "succeeds with count 0, and spindle takes it for won")
      .ShownBy("SpindleV2TakeoverTest.AnUpdateOfNoRowCountsAsWon");
  fact(4, "update_needs_where", "E", "INVALID_ARGUMENT without")
      .Probed("INVALID_ARGUMENT",
              [](Probe& p) { p.a.BeginWith("UPDATE locktable SET writer = 'a'"); });
  fact(5, "name_equals_null", "E", "matches nothing").Probed("0 rows", [](Probe& p) {
    p.Insert("a");
    p.a.BeginWith("UPDATE locktable SET writer = 'a' WHERE name = @n",
                  {NullOf("n", Type::kString)});
  });
  fact(6, "queries_have_no_stats", "E", "a query without rows is metadata alone")
      .Probed("no row | not: stats | columns", [](Probe& p) {
        const Outcome& outcome = p.a.Sql("SELECT name FROM locktable");
        p.Is("stats", outcome.has_stats);
        p.Is("columns", outcome.metadata.row_type().fields_size() == 1);
      });
  return fact;
}

}  // namespace whorl::facts
