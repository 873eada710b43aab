// Sections 2 and 3: commit timestamps, timestamps of clients, and CURRENT_TIMESTAMP.
#include <string>

#include "tests/facts/facts.h"
#include "tests/facts/probe.h"

namespace whorl::facts {
namespace {

constexpr const char* kBeat =
    "UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP() WHERE name = 'a'";
constexpr const char* kSetToken = "UPDATE locktable SET token = @token WHERE name = 'a'";

void StoredIsCommitted(Probe& p) {
  const Timestamp commit = p.Insert("a");
  p.Quietly(true);
  const Outcome& row = p.a.Sql("SELECT heartbeat, token FROM locktable");
  p.Quietly(false);
  p.Is("heartbeat as committed", row.TimeAt(0, 0) == commit);
  p.Is("token as committed", row.TimeAt(0, 1) == commit);
  p.Is("whole microseconds", commit.nanos() % 1000 == 0);
}

void WhatReadsThePendingColumn(Probe& p) {
  p.Insert("a");
  p.Insert("b");
  p.a.BeginWith(kBeat);
  p.a.Sql("SELECT heartbeat FROM locktable WHERE name = 'b'");
  p.a.Read({"heartbeat"}, "b");
  p.a.Sql("SELECT name FROM locktable WHERE heartbeat IS NULL");
  p.a.Commit();
}

void WhatReadsOtherColumns(Probe& p) {
  p.Insert("a");
  p.Insert("ab");
  p.a.BeginWith(kBeat);
  p.a.Sql("SELECT writer FROM locktable WHERE name = 'a'");
  p.a.Sql("SELECT COUNT(*) FROM locktable");
  p.a.Sql("UPDATE locktable SET token = PENDING_COMMIT_TIMESTAMP() WHERE name = 'a'");
  p.a.Sql("DELETE FROM locktable WHERE STARTS_WITH(name, 'ab')");
  p.a.Commit();
}

void TheMutationsWord(Probe& p) {
  const Timestamp commit = p.a.Commit({Put(MutationKind::kInsert, {"name", "token"},
                                           {std::string("a"), std::string(kCommitTimestamp)})})
                               .commit;
  p.Quietly(true);
  const Timestamp stored = p.a.Read({"token"}).TimeAt(0, 0);
  p.Quietly(false);
  p.Is("stored as committed", stored == commit);
}

void AnEarlierToken(Probe& p) {
  p.Insert("a");
  p.a.BeginWith(kSetToken, {Time("token", "2026-01-02T03:04:05.123456789Z")});
  p.a.Commit();
  p.b.Sql("SELECT token FROM locktable");
}

void TheFutureByMutation(Probe& p) {
  p.a.Begin();
  p.a.Commit({Put(MutationKind::kInsert, {"name", "token"},
                  {std::string("a"), *ParseRfc3339("2099-01-01T00:00:00Z")})});
  p.a.Commit();
}

void WhatATimestampColumnTakes(Probe& p) {
  constexpr const char* kTime = "2026-01-02T03:04:05Z";
  p.Insert("a");
  p.a.BeginWith("UPDATE locktable SET token = NULL WHERE name = 'a'");
  p.a.Sql(kSetToken, {Text("token", kTime, std::nullopt)});
  p.a.Sql(kSetToken, {Text("token", kTime)});
  p.a.Sql("UPDATE locktable SET token = '2026-01-02T03:04:05Z' WHERE name = 'a'");
  p.a.Commit();
}

void CurrentTimestampInAReadOnlyTransaction(Probe& p) {
  p.Quietly(true);
  const auto read = p.a.Begin(BeginReadOnly{.bound = {}, .return_read_timestamp = true}).read;
  // Waits until the clock is past the transaction's time.
  Timestamp now;
  for (int i = 0; i < 10'000 && now <= *read; ++i) {
    now = p.a.Sql("SELECT CURRENT_TIMESTAMP()").TimeAt(0, 0);
  }
  const Timestamp later = p.a.Sql("SELECT CURRENT_TIMESTAMP()").TimeAt(0, 0);
  p.Quietly(false);
  p.Is("of the statement", now > *read);
  p.Is("goes on", later > now);
}

void StrongReadsTime(Probe& p) {
  p.Quietly(true);
  const Outcome& read = p.a.Run({.sql = "SELECT CURRENT_TIMESTAMP()",
                                 .selector = SingleUseRead{.return_read_timestamp = true}});
  p.Quietly(false);
  p.Is("read as of a time before CURRENT_TIMESTAMP", *read.read <= read.TimeAt(0, 0));
}

void StaleReadsTime(Probe& p) {
  p.Quietly(true);
  const Outcome& read =
      p.a.Run({.sql = "SELECT CURRENT_TIMESTAMP()",
               .selector = SingleUseRead{
                   .bound = {.kind = BoundKind::kExactStaleness, .staleness = Seconds(2)},
                   .return_read_timestamp = true}});
  p.Quietly(false);
  p.Is("2 s apart", read.TimeAt(0, 0) - *read.read >= Milliseconds(1990));
}

void StatementBeforeCommit(Probe& p) {
  p.Quietly(true);
  bool before = true;
  for (int i = 0; i < 20; ++i) {
    const Timestamp now = p.a.BeginWith("SELECT CURRENT_TIMESTAMP()").TimeAt(0, 0);
    before = before && now > Timestamp() && now < p.a.Commit().commit;
  }
  p.Quietly(false);
  p.Is("CURRENT_TIMESTAMP before the commit", before);
}

}  // namespace

Section CommitTimestamps() {
  return {
      .number = 2,
      .title = "PENDING_COMMIT_TIMESTAMP and timestamps of clients",
      .rows = 15,
      .facts =
          {
              {.row = 1,
               .name = "stored_as_committed",
               .source = "E",
               .says = "all pending columns become the commit timestamp that the client hears, in "
                       "whole microseconds",
               .probe = StoredIsCommitted,
               .heard = "heartbeat as committed | token as committed | whole microseconds"},
              {.row = 2,
               .name = "pending_column_cannot_be_read",
               .source = "E, D",
               .says = "not of any row, by no means, until Commit; the transaction lives on",
               .probe = WhatReadsThePendingColumn,
               .heard = "1 row | INVALID_ARGUMENT | INVALID_ARGUMENT | INVALID_ARGUMENT | OK"},
              {.row = 3,
               .name = "other_columns",
               .source = "E, D",
               .says = "the rest of the table: readable in the emulator; not by the documentation",
               .probe = WhatReadsOtherColumns,
               .heard = "1 row | INVALID_ARGUMENT | INVALID_ARGUMENT | INVALID_ARGUMENT | "
                        "INVALID_ARGUMENT | "
                        "OK",
               .by_emulators_rules = "1 row | [NULL] | [2] | 1 row | 1 row | OK"},
              {.row = 4,
               .name = "then_return_of_a_pending_column",
               .source = "E",
               .says = "the emulator returns the year 1",
               .differs = "a fault; what is pending cannot be read",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.BeginWith(std::string(kBeat) + " THEN RETURN heartbeat");
                   },
               .heard = "INVALID_ARGUMENT",
               .from_emulator = "[0001-01-01T00:00:00Z]"},
              {.row = 5,
               .name = "select_of_pending",
               .source = "E, D",
               .says = "PENDING_COMMIT_TIMESTAMP() stands in INSERT and UPDATE only",
               .probe = [](Probe& p) { p.a.Sql("SELECT PENDING_COMMIT_TIMESTAMP()"); },
               .heard = "INVALID_ARGUMENT"},
              {.row = 6,
               .name = "pending_within_an_expression",
               .source = "E, D",
               .says = "the emulator accepts it; the documentation forbids it",
               .differs = "as documented",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.BeginWith(
                         "UPDATE locktable SET token = "
                         "TIMESTAMP_ADD(PENDING_COMMIT_TIMESTAMP(), INTERVAL 1 SECOND) WHERE name "
                         "= 'a'");
                   },
               .heard = "INVALID_ARGUMENT",
               .from_emulator = "1 row"},
              {.row = 7,
               .name = "in_mutations",
               .source = "E",
               .says = "a text stands for the commit timestamp",
               .probe = TheMutationsWord,
               .heard = "OK | stored as committed"},
              {.row = 8,
               .name = "that_text_as_a_parameter",
               .source = "E",
               .says = "is no TIMESTAMP",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.BeginWith(kSetToken, {Time("token", std::string(kCommitTimestamp))});
                   },
               .heard = "OUT_OF_RANGE"},
              {.row = 9,
               .name = "an_earlier_timestamp",
               .source = "E",
               .says = "is stored to the nanosecond",
               .probe = AnEarlierToken,
               .heard = "1 row | OK | [2026-01-02T03:04:05.123456789Z]"},
              {.row = 10,
               .name = "the_future_by_dml",
               .source = "E, D, I",
               .says = "FAILED_PRECONDITION at the statement, which dooms the transaction",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.Begin();
                     p.a.Sql(kSetToken, {Time("token", "2099-01-01T00:00:00Z")});
                     p.a.Sql("SELECT 1");
                     p.a.Commit();
                   },
               .heard = "OK | FAILED_PRECONDITION | FAILED_PRECONDITION | FAILED_PRECONDITION"},
              {.row = 10,
               .name = "the_future_by_mutation",
               .source = "E, D",
               .says = "FAILED_PRECONDITION at Commit",
               .probe = TheFutureByMutation,
               .heard = "OK | FAILED_PRECONDITION | FAILED_PRECONDITION"},
              {.row = 11,
               .name = "current_timestamp_as_a_value",
               .source = "E, D",
               .says = "accepted by the emulator; Spanner may find it in the future",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.BeginWith(
                         "UPDATE locktable SET token = CURRENT_TIMESTAMP() WHERE name = 'a'");
                     p.a.Commit();
                   },
               .heard = "1 row | OK"},
              {.row = 12,
               .name = "what_a_timestamp_column_takes",
               .source = "E",
               .says = "NULL, and a text as parameter with or without a type, or as literal",
               .probe = WhatATimestampColumnTakes,
               .heard = "1 row | 1 row | 1 row | 1 row | OK"},
              {.row = 13,
               .name = "update_of_the_key",
               .source = "E",
               .says = "INVALID_ARGUMENT",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.BeginWith("UPDATE locktable SET name = 'b' WHERE name = 'a'");
                   },
               .heard = "INVALID_ARGUMENT"},
              {.row = 13,
               .name = "update_of_the_key_of_no_row",
               .source = "E",
               .says = "the emulator notices it only when a row matches",
               .differs = "the text is wrong whatever rows there are",
               .probe =
                   [](Probe& p) {
                     p.a.BeginWith("UPDATE locktable SET name = 'b' WHERE name = 'a'");
                   },
               .heard = "INVALID_ARGUMENT",
               .from_emulator = "0 rows"},
              {.row = 14,
               .name = "timestamps_of_one_cell_differ",
               .source = "D",
               .says = "transactions that write the same cells have timestamps of their own",
               .shown_by =
                   "DatabaseCommit.TimestampsGrowStrictlyInWholeMicrosecondsNotBelowTheLatestNow"},
              {.row = 14,
               .name = "timestamps_of_disjoint_writes_may_not",
               .source = "D",
               .says = "transactions that share nothing may share a timestamp",
               .shown_by = "DatabaseSplits.DisjointCommitsMayShareATimestamp"},
              {.row = 15,
               .name = "spindles_token_is_older_than_its_row",
               .source = "C",
               .says = "after a takeover the token is the commit timestamp of the takeover's row",
               .shown_by = "SpindleV2TakeoverTest.TheTokenIsTheTakeoverRowsCommitTimestamp"},
          },
  };
}

Section CurrentTimestamp() {
  return {
      .number = 3,
      .title = "CURRENT_TIMESTAMP",
      .rows = 7,
      .facts =
          {
              {.row = 1,
               .name = "one_time_within_a_statement",
               .source = "E, D",
               .says = "two calls in a statement are equal",
               .probe =
                   [](Probe& p) { p.a.Sql("SELECT CURRENT_TIMESTAMP() = CURRENT_TIMESTAMP()"); },
               .heard = "[true]"},
              {.row = 2,
               .name = "goes_on_between_statements",
               .source = "E",
               .says = "it is the statement's time, also where a transaction reads as of an "
                       "earlier one",
               .probe = CurrentTimestampInAReadOnlyTransaction,
               .heard = "of the statement | goes on"},
              {.row = 3,
               .name = "of_a_strong_read",
               .source = "E",
               .says =
                   "the emulator's strong read is as of a little before it; nobody promises that, "
                   "and with an epsilon a strong read is as of TT.now().latest",
               .probe = StrongReadsTime,
               .heard = "not: read as of a time before CURRENT_TIMESTAMP",
               .by_emulators_rules = "read as of a time before CURRENT_TIMESTAMP"},
              {.row = 4,
               .name = "of_a_stale_read",
               .source = "E",
               .says = "is now, so ages look greater by the staleness",
               .probe = StaleReadsTime,
               .heard = "2 s apart"},
              {.row = 5,
               .name = "before_the_commit",
               .source = "E",
               .says = "with good clocks it is before the commit timestamp of its transaction",
               .probe = StatementBeforeCommit,
               .heard = "CURRENT_TIMESTAMP before the commit"},
              {.row = 6,
               .name = "whole_microseconds",
               .source = "E",
               .says = "it has no nanoseconds",
               .probe =
                   [](Probe& p) {
                     p.Quietly(true);
                     const Timestamp now = p.a.Sql("SELECT CURRENT_TIMESTAMP()").TimeAt(0, 0);
                     p.Quietly(false);
                     p.Is("whole microseconds", now.nanos() % 1000 == 0);
                   },
               .heard = "whole microseconds"},
              {.row = 7,
               .name = "as_text",
               .source = "E",
               .says = "a cast prints it in the time of Los Angeles",
               .probe =
                   [](Probe& p) {
                     p.a.Sql("SELECT CAST(TIMESTAMP '2026-11-21T06:38:37.113323Z' AS STRING)");
                   },
               .heard = "[2026-11-20 22:38:37.113323-08]"},
          },
  };
}

}  // namespace whorl::facts
