// Sections 4 and 5: the functions that protocols use, values on the wire, and DML without matches.
#include <string>

#include "tests/facts/facts.h"
#include "tests/facts/probe.h"

namespace whorl::facts {
namespace {

constexpr const char* kShift = "SELECT TIMESTAMP_SUB(TIMESTAMP '2026-01-02T00:00:00Z', INTERVAL ";

void Truncation(Probe& p) {
  p.a.Sql("SELECT TIMESTAMP_DIFF(@a, @b, MILLISECOND), TIMESTAMP_DIFF(@b, @a, MILLISECOND)",
          {Time("a", "1970-01-01T00:00:00.0019999Z"), Time("b", "1970-01-01T00:00:00Z")});
  p.a.Sql("SELECT TIMESTAMP_DIFF(@a, @b, SECOND)",
          {Time("a", "1970-01-01T00:00:01.2Z"), Time("b", "1970-01-01T00:00:00.25Z")});
  p.a.Sql("SELECT TIMESTAMP_DIFF(@a, @b, DAY)",
          {Time("a", "1970-01-01T23:59:59Z"), Time("b", "1970-01-01T00:00:00Z")});
}

void Intervals(Probe& p) {
  p.a.Sql(std::string(kShift) + "@n SECOND)", {Text("n", "1", Type::kInt64)});
  p.a.Sql(std::string(kShift) + "1.5 SECOND)");
  p.a.Sql(std::string(kShift) + "1 MONTH)");
  p.a.Sql(std::string(kShift) + "-1 SECOND)");
}

void Prefixes(Probe& p) {
  p.a.Sql("SELECT STARTS_WITH('abc', ''), STARTS_WITH('abc', 'abcd'), STARTS_WITH('abc', 'A')");
  p.a.Sql("SELECT STARTS_WITH('ab123', 'a_'), STARTS_WITH(b'abc', b'ab')");
  p.a.Sql("SELECT STARTS_WITH(1, 'a')");
}

// Spindle's query of a row without a heartbeat.
void NullHeartbeat(Probe& p) {
  p.Do("INSERT INTO locktable (name) VALUES ('a')");
  p.a.Sql(
      "SELECT TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), heartbeat, MILLISECOND), token, heartbeat "
      "FROM locktable WHERE name = 'a'");
  p.a.Sql("SELECT name FROM locktable WHERE heartbeat < CURRENT_TIMESTAMP()");
  p.a.Sql("SELECT token FROM locktable WHERE name = 'b'");
}

void ValuesOnTheWire(Probe& p) {
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
}

void WrongValues(Probe& p) {
  p.a.Sql("SELECT @p", {Number("p", 1, Type::kInt64)});
  p.a.Sql("SELECT @p", {Time("p", "2026-01-01T00:00:00+01:00")});
  p.a.Sql("SELECT @p", {Time("p", "2026-01-01 00:00:00Z")});
  for (const Type type : {Type::kInt64, Type::kTimestamp, Type::kString}) {
    p.a.Sql("SELECT @p", {Argument{.name = "p", .type = type, .value = {}}});
  }
  p.a.Sql("SELECT @p", {Argument{.name = "p", .type = {}, .value = {}}});
  p.a.Sql("SELECT 1 + @p");
}

void EmptyDmlStreamed(Probe& p) {
  const Outcome& outcome =
      p.a.Stream({.sql = "DELETE FROM locktable WHERE name = 'x'", .selector = BeginReadWrite{}});
  p.Is("columns", !outcome.metadata.row_type().fields().empty());
}

void EmptyCommits(Probe& p) {
  p.a.Begin();
  const Timestamp first = p.a.Commit().commit;
  p.a.BeginWith("SELECT name FROM locktable");
  const Timestamp second = p.a.Commit().commit;
  p.Is("a timestamp of its own", Timestamp() < first && first < second);
}

}  // namespace

Section Functions() {
  return {
      .number = 4,
      .title = "functions, and values on the wire",
      .rows = 10,
      .facts =
          {
              {.row = 1,
               .name = "of_null",
               .source = "E",
               .says = "TIMESTAMP_DIFF, TIMESTAMP_SUB and STARTS_WITH of NULL are NULL",
               .probe =
                   [](Probe& p) {
                     p.a.Sql(
                         "SELECT TIMESTAMP_DIFF(@t, CURRENT_TIMESTAMP(), SECOND), "
                         "TIMESTAMP_SUB(@t, INTERVAL 1 SECOND), STARTS_WITH('a', @s)",
                         {NullOf("t", Type::kTimestamp), NullOf("s", Type::kString)});
                   },
               .heard = "[NULL, NULL, NULL]"},
              {.row = 2,
               .name = "differences_are_cut",
               .source = "E",
               .says = "TIMESTAMP_DIFF cuts the difference toward zero",
               .probe = Truncation,
               .heard = "[1, -1] | [0] | [0]"},
              {.row = 3,
               .name = "nanoseconds_overflow",
               .source = "E",
               .says = "over the whole range they are OUT_OF_RANGE",
               .probe =
                   [](Probe& p) {
                     p.a.Sql(
                         "SELECT TIMESTAMP_DIFF(@a, @b, NANOSECOND)",
                         {Time("a", "9999-12-31T23:59:59Z"), Time("b", "0001-01-01T00:00:00Z")});
                   },
               .heard = "OUT_OF_RANGE"},
              {.row = 4,
               .name = "before_year_one",
               .source = "E",
               .says = "TIMESTAMP_SUB below the least time is OUT_OF_RANGE",
               .probe =
                   [](Probe& p) {
                     p.a.Sql("SELECT TIMESTAMP_SUB(@a, INTERVAL 1 SECOND)",
                             {Time("a", "0001-01-01T00:00:00Z")});
                   },
               .heard = "OUT_OF_RANGE"},
              {.row = 5,
               .name = "intervals",
               .source = "E",
               .says = "an INT64 parameter works, a fraction and a MONTH do not, a negative adds",
               .probe = Intervals,
               .heard = "[2026-01-01T23:59:59Z] | INVALID_ARGUMENT | INVALID_ARGUMENT | "
                        "[2026-01-02T00:00:01Z]"},
              {.row = 6,
               .name = "prefixes",
               .source = "E",
               .says = "STARTS_WITH compares bytes, knows no wildcards, and takes BYTES, not INT64",
               .probe = Prefixes,
               .heard = "[true, false, false] | [false, true] | INVALID_ARGUMENT"},
              {.row = 7,
               .name = "null_heartbeat",
               .source = "E",
               .says = "its age is NULL, a comparison drops it; an absent row is no row",
               .probe = NullHeartbeat,
               .heard = "[NULL, NULL, NULL] | no row | no row"},
              {.row = 8,
               .name = "order_of_null",
               .source = "E",
               .says = "NULL comes first",
               .probe =
                   [](Probe& p) {
                     p.Do(
                         "INSERT INTO locktable (name, writer) VALUES ('a', 'w'), ('b', NULL), "
                         "('c', 'v')");
                     p.a.Sql("SELECT writer FROM locktable ORDER BY writer");
                   },
               .heard = "[NULL] [v] [w]"},
              {.row = 9,
               .name = "values_on_the_wire",
               .source = "E",
               .says = "INT64 is a text; a TIMESTAMP ends in Z, without trailing zeros",
               .probe = ValuesOnTheWire,
               .heard = "OK | INT64 as text | trimmed Z | BOOL as such | NULL"},
              {.row = 10,
               .name = "wrong_values",
               .source = "E",
               .says = "a value of the wrong form, or of no kind, is FAILED_PRECONDITION for a "
                       "parameter with a type and INVALID_ARGUMENT for one without; so is no "
                       "value",
               .probe = WrongValues,
               .heard = "FAILED_PRECONDITION | FAILED_PRECONDITION | FAILED_PRECONDITION | "
                        "FAILED_PRECONDITION | FAILED_PRECONDITION | FAILED_PRECONDITION | "
                        "INVALID_ARGUMENT | INVALID_ARGUMENT"},
          },
  };
}

Section EmptyDml() {
  return {
      .number = 5,
      .title = "DML that finds nothing",
      .rows = 6,
      .facts =
          {
              {.row = 1,
               .name = "no_row_matches",
               .source = "E",
               .says = "UPDATE and DELETE are OK with count 0",
               .probe =
                   [](Probe& p) {
                     p.a.BeginWith("UPDATE locktable SET writer = 'a' WHERE name = 'x'");
                     p.a.Sql("DELETE FROM locktable WHERE name = 'x'");
                   },
               .heard = "0 rows | 0 rows"},
              {.row = 1,
               .name = "no_row_matches_streamed",
               .source = "E",
               .says = "as a stream, too, without columns",
               .probe = EmptyDmlStreamed,
               .heard = "0 rows | not: columns"},
              {.row = 2,
               .name = "empty_commit",
               .source = "E",
               .says = "a Commit of nothing has a new timestamp",
               .probe = EmptyCommits,
               .heard = "OK | OK | no row | OK | a timestamp of its own"},
              {.row = 2,
               .name = "empty_commit_on_a_multiplexed_session",
               .source = "D",
               .says = "clients send SELECT 1 to get a precommit token",
               .not_covered = "our runner sends no transaction without a statement or a mutation"},
              {.row = 3,
               .name = "heartbeat_of_a_lost_row",
               .source = "E, C",
               .says = "succeeds with count 0, and spindle takes it for won",
               .shown_by = "SpindleV2TakeoverTest.AnUpdateOfNoRowCountsAsWon"},
              {.row = 4,
               .name = "update_needs_where",
               .source = "E",
               .says = "INVALID_ARGUMENT without",
               .probe = [](Probe& p) { p.a.BeginWith("UPDATE locktable SET writer = 'a'"); },
               .heard = "INVALID_ARGUMENT"},
              {.row = 5,
               .name = "name_equals_null",
               .source = "E",
               .says = "matches nothing",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.BeginWith("UPDATE locktable SET writer = 'a' WHERE name = @n",
                                   {NullOf("n", Type::kString)});
                   },
               .heard = "0 rows"},
              {.row = 6,
               .name = "queries_have_no_stats",
               .source = "E",
               .says = "a query without rows is metadata alone",
               .probe =
                   [](Probe& p) {
                     const Outcome& outcome = p.a.Sql("SELECT name FROM locktable");
                     p.Is("stats", outcome.has_stats);
                     p.Is("columns", outcome.metadata.row_type().fields_size() == 1);
                   },
               .heard = "no row | not: stats | columns"},
          },
  };
}

}  // namespace whorl::facts
