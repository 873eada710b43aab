// Sections 2 and 3: commit timestamps, timestamps of clients, and CURRENT_TIMESTAMP.
#include <string>

#include "tests/facts/facts.h"
#include "tests/facts/probe.h"

namespace whorl::facts {
namespace {

constexpr const char* kBeat =
    "UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP() WHERE name = 'a'";
constexpr const char* kSetToken = "UPDATE locktable SET token = @token WHERE name = 'a'";

}  // namespace

Section CommitTimestamps() {
  Section fact{
      .number = 2, .title = "PENDING_COMMIT_TIMESTAMP and timestamps of clients", .rows = 15};
  fact(1, "stored_as_committed", "E",
       "all pending columns become the commit timestamp that the client hears, in whole "
       "microseconds")
      .Probed("heartbeat as committed | token as committed | whole microseconds", [](Probe& p) {
        const Timestamp commit = p.Insert("a");
        p.Quietly(true);
        const Outcome& row = p.a.Sql("SELECT heartbeat, token FROM locktable");
        p.Quietly(false);
        p.Is("heartbeat as committed", row.TimeAt(0, 0) == commit);
        p.Is("token as committed", row.TimeAt(0, 1) == commit);
        p.Is("whole microseconds", commit.nanos() % 1000 == 0);
      });
  fact(2, "pending_column_cannot_be_read", "E, D",
       "not of any row, by no means, until Commit; the transaction lives on")
      .Probed("1 row | INVALID_ARGUMENT | INVALID_ARGUMENT | INVALID_ARGUMENT | OK", [](Probe& p) {
        p.Insert("a");
        p.Insert("b");
        p.a.BeginWith(kBeat);
        p.a.Sql("SELECT heartbeat FROM locktable WHERE name = 'b'");
        p.a.Read({"heartbeat"}, "b");
        p.a.Sql("SELECT name FROM locktable WHERE heartbeat IS NULL");
        p.a.Commit();
      });
  fact(3, "other_columns", "E, D",
       "the rest of the table: readable in the emulator; not by the documentation")
      .Probed({.model = "1 row | INVALID_ARGUMENT | INVALID_ARGUMENT | INVALID_ARGUMENT | "
                        "INVALID_ARGUMENT | OK",
               .by_emulators_rules = "1 row | [NULL] | [2] | 1 row | 1 row | OK"},
              [](Probe& p) {
                p.Insert("a");
                p.Insert("ab");
                p.a.BeginWith(kBeat);
                p.a.Sql("SELECT writer FROM locktable WHERE name = 'a'");
                p.a.Sql("SELECT COUNT(*) FROM locktable");
                p.a.Sql("UPDATE locktable SET token = PENDING_COMMIT_TIMESTAMP() WHERE name = 'a'");
                p.a.Sql("DELETE FROM locktable WHERE STARTS_WITH(name, 'ab')");
                p.a.Commit();
              });
  fact(4, "then_return_of_a_pending_column", "E", "the emulator returns the year 1")
      .Differs("a fault; what is pending cannot be read")
      .Probed({.model = "INVALID_ARGUMENT", .from_emulator = "[0001-01-01T00:00:00Z]"},
              [](Probe& p) {
                p.Insert("a");
                p.a.BeginWith(std::string(kBeat) + " THEN RETURN heartbeat");
              });
  fact(5, "select_of_pending", "E, D",
       "PENDING_COMMIT_TIMESTAMP() stands in INSERT and UPDATE only")
      .Probed("INVALID_ARGUMENT", [](Probe& p) { p.a.Sql("SELECT PENDING_COMMIT_TIMESTAMP()"); });
  fact(6, "pending_within_an_expression", "E, D",
       "the emulator accepts it; the documentation forbids it")
      .Differs("as documented")
      .Probed({.model = "INVALID_ARGUMENT", .from_emulator = "1 row"}, [](Probe& p) {
        p.Insert("a");
        p.a.BeginWith(
            "UPDATE locktable SET token = "
            "TIMESTAMP_ADD(PENDING_COMMIT_TIMESTAMP(), INTERVAL 1 SECOND) WHERE name "
            "= 'a'");
      });
  fact(7, "in_mutations", "E", "a text stands for the commit timestamp")
      .Probed("OK | stored as committed", [](Probe& p) {
        const Timestamp commit =
            p.a.Commit({Put(MutationKind::kInsert, {"name", "token"},
                            {std::string("a"), std::string(kCommitTimestamp)})})
                .commit;
        p.Quietly(true);
        const Timestamp stored = p.a.Read({"token"}).TimeAt(0, 0);
        p.Quietly(false);
        p.Is("stored as committed", stored == commit);
      });
  fact(8, "that_text_as_a_parameter", "E", "is no TIMESTAMP").Probed("OUT_OF_RANGE", [](Probe& p) {
    p.Insert("a");
    p.a.BeginWith(kSetToken, {Time("token", std::string(kCommitTimestamp))});
  });
  fact(9, "an_earlier_timestamp", "E", "is stored to the nanosecond")
      .Probed("1 row | OK | [2026-01-02T03:04:05.123456789Z]", [](Probe& p) {
        p.Insert("a");
        p.a.BeginWith(kSetToken, {Time("token", "2026-01-02T03:04:05.123456789Z")});
        p.a.Commit();
        p.b.Sql("SELECT token FROM locktable");
      });
  fact(10, "the_future_by_dml", "E, D, I",
       "FAILED_PRECONDITION at the statement, which dooms the transaction")
      .Probed("OK | FAILED_PRECONDITION | FAILED_PRECONDITION | FAILED_PRECONDITION", [](Probe& p) {
        p.Insert("a");
        p.a.Begin();
        p.a.Sql(kSetToken, {Time("token", "2099-01-01T00:00:00Z")});
        p.a.Sql("SELECT 1");
        p.a.Commit();
      });
  fact(10, "the_future_by_mutation", "E, D", "FAILED_PRECONDITION at Commit")
      .Probed("OK | FAILED_PRECONDITION | FAILED_PRECONDITION", [](Probe& p) {
        p.a.Begin();
        p.a.Commit({Put(MutationKind::kInsert, {"name", "token"},
                        {std::string("a"), *ParseRfc3339("2099-01-01T00:00:00Z")})});
        p.a.Commit();
      });
  fact(11, "current_timestamp_as_a_value", "E, D",
       "accepted by the emulator; Spanner may find it in the future")
      .Probed("1 row | OK", [](Probe& p) {
        p.Insert("a");
        p.a.BeginWith("UPDATE locktable SET token = CURRENT_TIMESTAMP() WHERE name = 'a'");
        p.a.Commit();
      });
  fact(12, "what_a_timestamp_column_takes", "E",
       "NULL, and a text as parameter with or without a type, or as literal")
      .Probed("1 row | 1 row | 1 row | 1 row | OK", [](Probe& p) {
        constexpr const char* kTime = "2026-01-02T03:04:05Z";
        p.Insert("a");
        p.a.BeginWith("UPDATE locktable SET token = NULL WHERE name = 'a'");
        p.a.Sql(kSetToken, {Text("token", kTime, std::nullopt)});
        p.a.Sql(kSetToken, {Text("token", kTime)});
        p.a.Sql("UPDATE locktable SET token = '2026-01-02T03:04:05Z' WHERE name = 'a'");
        p.a.Commit();
      });
  fact(13, "update_of_the_key", "E", "INVALID_ARGUMENT").Probed("INVALID_ARGUMENT", [](Probe& p) {
    p.Insert("a");
    p.a.BeginWith("UPDATE locktable SET name = 'b' WHERE name = 'a'");
  });
  fact(13, "update_of_the_key_of_no_row", "E", "the emulator notices it only when a row matches")
      .Differs("the text is wrong whatever rows there are")
      .Probed({.model = "INVALID_ARGUMENT", .from_emulator = "0 rows"},
              [](Probe& p) { p.a.BeginWith("UPDATE locktable SET name = 'b' WHERE name = 'a'"); });
  fact(14, "timestamps_of_one_cell_differ", "D",
       "transactions that write the same cells have timestamps of their own")
      .ShownBy("DatabaseCommit.TimestampsGrowStrictlyInWholeMicrosecondsNotBelowTheLatestNow");
  fact(14, "timestamps_of_disjoint_writes_may_not", "D",
       "transactions that share nothing may share a timestamp")
      .ShownBy("DatabaseSplits.DisjointCommitsMayShareATimestamp");
  fact(15, "spindles_token_is_older_than_its_row", "C",
       "after a takeover the token is the commit timestamp of the takeover's row")
      .ShownBy("SpindleV2TakeoverTest.TheTokenIsTheTakeoverRowsCommitTimestamp");
  return fact;
}

Section CurrentTimestamp() {
  Section fact{.number = 3, .title = "CURRENT_TIMESTAMP", .rows = 7};
  fact(1, "one_time_within_a_statement", "E, D", "two calls in a statement are equal")
      .Probed("[true]",
              [](Probe& p) { p.a.Sql("SELECT CURRENT_TIMESTAMP() = CURRENT_TIMESTAMP()"); });
  fact(2, "goes_on_between_statements", "E",
       "it is the statement's time, also where a transaction reads as of an earlier one")
      .Probed("of the statement | goes on", [](Probe& p) {
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
      });
  fact(3, "of_a_strong_read", "E",
       "the emulator's strong read is as of a little before it; nobody promises that, and with "
       "an epsilon a strong read is as of TT.now().latest")
      .Probed({.model = "not: read as of a time before CURRENT_TIMESTAMP",
               .by_emulators_rules = "read as of a time before CURRENT_TIMESTAMP"},
              [](Probe& p) {
                p.Quietly(true);
                const Outcome& read =
                    p.a.Run({.sql = "SELECT CURRENT_TIMESTAMP()",
                             .selector = SingleUseRead{.return_read_timestamp = true}});
                p.Quietly(false);
                p.Is("read as of a time before CURRENT_TIMESTAMP", *read.read <= read.TimeAt(0, 0));
              });
  fact(4, "of_a_stale_read", "E", "is now, so ages look greater by the staleness")
      .Probed("2 s apart", [](Probe& p) {
        p.Quietly(true);
        const Outcome& read =
            p.a.Run({.sql = "SELECT CURRENT_TIMESTAMP()",
                     .selector = SingleUseRead{
                         .bound = {.kind = BoundKind::kExactStaleness, .staleness = Seconds(2)},
                         .return_read_timestamp = true}});
        p.Quietly(false);
        p.Is("2 s apart", read.TimeAt(0, 0) - *read.read >= Milliseconds(1990));
      });
  fact(5, "before_the_commit", "E",
       "with good clocks it is before the commit timestamp of its transaction")
      .Probed("CURRENT_TIMESTAMP before the commit", [](Probe& p) {
        p.Quietly(true);
        bool before = true;
        for (int i = 0; i < 20; ++i) {
          const Timestamp now = p.a.BeginWith("SELECT CURRENT_TIMESTAMP()").TimeAt(0, 0);
          before = before && now > Timestamp() && now < p.a.Commit().commit;
        }
        p.Quietly(false);
        p.Is("CURRENT_TIMESTAMP before the commit", before);
      });
  fact(6, "whole_microseconds", "E", "it has no nanoseconds")
      .Probed("whole microseconds", [](Probe& p) {
        p.Quietly(true);
        const Timestamp now = p.a.Sql("SELECT CURRENT_TIMESTAMP()").TimeAt(0, 0);
        p.Quietly(false);
        p.Is("whole microseconds", now.nanos() % 1000 == 0);
      });
  fact(7, "as_text", "E", "a cast prints it in the time of Los Angeles")
      .Probed("[2026-11-20 22:38:37.113323-08]", [](Probe& p) {
        p.a.Sql("SELECT CAST(TIMESTAMP '2026-11-21T06:38:37.113323Z' AS STRING)");
      });
  return fact;
}

}  // namespace whorl::facts
