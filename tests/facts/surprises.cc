// Section 0: facts that surprise authors of servers or clients.
#include <chrono>

#include "tests/facts/facts.h"
#include "tests/facts/probe.h"

namespace whorl::facts {
namespace {

Timestamp WallClock() {
  return Timestamp::FromUnixNanos(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                      std::chrono::system_clock::now().time_since_epoch())
                                      .count());
}

// After thousands of calls the emulator's clock is ahead by more than an answer takes to arrive.
void TimestampsAheadOfTheWall(Probe& p) {
  p.Quietly(true);
  for (int i = 0; i < 3000; ++i) (void)p.spanner().GetSession(p.a.session());
  bool ahead = false;
  for (int i = 0; i < 20 && !ahead; ++i) {
    const Timestamp commit =
        p.a.Commit({Put(MutationKind::kInsertOrUpdate, {"name"}, {std::string("a")})}).commit;
    ahead = commit > WallClock();
  }
  p.Quietly(false);
  p.Is("ahead of the wall clock", ahead);
}

void RetryInfoOfAborted(Probe& p) {
  p.Insert("x");
  p.Quietly(true);
  p.a.BeginWith("SELECT name FROM locktable WHERE name = 'other'");
  p.b.Begin();
  p.b.Sql("SELECT writer FROM locktable WHERE name = 'x'");
  p.a.Sql("UPDATE locktable SET writer = 'a' WHERE name = 'x'");
  p.a.Commit();
  p.Quietly(false);
  const Outcome& aborted = p.b.Sql("SELECT writer FROM locktable WHERE name = 'x'");
  p.Is("asks for a pause", aborted.details.find("RetryInfo") != std::string::npos);
  p.Is("in a trailer, too", aborted.has_retry_info);
}

}  // namespace

Section Surprises() {
  return {
      .number = 0,
      .title = "surprises",
      .rows = 11,
      .facts =
          {
              {.row = 1,
               .name = "current_timestamp_is_no_truetime",
               .source = "D",
               .says = "CURRENT_TIMESTAMP is a clock that nothing binds to commit timestamps",
               .shown_by = "DatabaseStatement.CurrentTimestampIsAClockOfItsOwn"},
              {.row = 1,
               .name = "age_of_zero_or_less_is_available",
               .source = "C",
               .says = "to spindle an age that is negative, zero or NULL means: the lock is free",
               .shown_by = "SpindleV2CheckTest.AnAgeOfZeroOrLessCountsAsAvailable"},
              {.row = 2,
               .name = "an_age_below_a_millisecond_is_zero",
               .source = "E, C",
               .says = "a difference in milliseconds is cut, so a heartbeat of just now is 0 old",
               .probe =
                   [](Probe& p) {
                     p.a.Sql(
                         "SELECT TIMESTAMP_DIFF(TIMESTAMP '2026-01-01T00:00:00.000999999Z', "
                         "TIMESTAMP '2026-01-01T00:00:00Z', MILLISECOND)");
                   },
               .heard = "[0]"},
              {.row = 2,
               .name = "how_often_an_age_is_zero",
               .source = "E",
               .says = "most reads right after a commit, and some 3 % of a poller's, find age 0",
               .not_covered = "a rate of one machine's speed"},
              {.row = 3,
               .name = "clean_up_after_a_pending_heartbeat",
               .source = "D, E",
               .says = "after writing a pending timestamp the table (documentation) or the column "
                       "(emulator) cannot be read, so spindle's DELETE by prefix fails or works; "
                       "its Commit succeeds",
               .probe =
                   [](Probe& p) {
                     p.Insert("lock");
                     p.Insert("lock_1");
                     p.a.BeginWith(
                         "UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP() WHERE name = "
                         "'lock'");
                     p.a.Sql("DELETE FROM locktable WHERE STARTS_WITH(name, 'lock_')");
                     p.a.Commit();
                   },
               .heard = "1 row | INVALID_ARGUMENT | OK",
               .by_emulators_rules = "1 row | 1 row | OK"},
              {.row = 4,
               .name = "emulators_clock_runs_ahead",
               .source = "E, S",
               .says = "each call moves the emulator's clock by a microsecond, for ever, so that "
                       "commit timestamps and reads are milliseconds ahead of the wall clock",
               .differs = "an artefact; the server's clock is the machine's",
               .probe = TimestampsAheadOfTheWall,
               .heard = "not: ahead of the wall clock",
               .from_emulator = "ahead of the wall clock"},
              {.row = 5,
               .name = "a_failed_inlined_begin_has_no_id",
               .source = "E, N, C",
               .says = "a first statement that carries the begin and fails brings no transaction",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.BeginWith("INSERT INTO locktable (name) VALUES ('a')");
                     p.Is("an id", !p.a.transaction().empty());
                   },
               .heard = "ALREADY_EXISTS | not: an id"},
              {.row = 5,
               .name = "go_then_begins_explicitly",
               .source = "C",
               .says = "Go's client runs the transaction again at once with BeginTransaction",
               .shown_by = "RunnerBeginTest.AnyErrorOfAStatementThatCarriesTheBeginIsMasked"},
              {.row = 5,
               .name = "node_takes_seven_seconds",
               .source = "N",
               .says = "Node's client sends the statement three times with pauses before it begins",
               .not_covered = "another client than ours"},
              {.row = 6,
               .name = "constraint_errors_doom_the_transaction",
               .source = "E, I",
               .says = "after ALREADY_EXISTS every statement and Commit repeats it",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.Begin();
                     p.a.Sql("INSERT INTO locktable (name) VALUES ('a')");
                     p.a.Sql("SELECT 1");
                     p.a.Commit();
                   },
               .heard = "OK | ALREADY_EXISTS | ALREADY_EXISTS | ALREADY_EXISTS"},
              {.row = 6,
               .name = "a_failed_read_does_not",
               .source = "E",
               .says = "a query that fails leaves its transaction alive",
               .probe =
                   [](Probe& p) {
                     p.a.BeginWith("INSERT INTO locktable (name) VALUES ('a')");
                     p.a.Sql("SELECT nothing FROM locktable");
                     p.a.Commit();
                   },
               .heard = "1 row | INVALID_ARGUMENT | OK"},
              {.row = 7,
               .name = "a_deleted_session_leaves_its_lock",
               .source = "E",
               .says = "the emulator keeps the lock of a transaction whose session was deleted; "
                       "nobody can write any more, and in the end it crashes",
               .differs = "a fault; deleting a session releases its locks",
               .probe =
                   [](Probe& p) {
                     p.Insert("x");
                     p.a.BeginWith("UPDATE locktable SET writer = 'a' WHERE name = 'x'");
                     p.a.Delete();
                     p.b.BeginWith("UPDATE locktable SET writer = 'b' WHERE name = 'x'");
                   },
               .heard = "1 row | OK | 1 row",
               .from_emulator = "1 row | OK | ABORTED"},
              {.row = 7,
               .name = "a_dead_client_leaves_its_lock",
               .source = "E, D",
               .says = "the emulator keeps a dead client's lock for ever; Spanner aborts what was "
                       "idle for 10 s",
               .shown_by = "DatabaseWait.AnIdleHolderIsAbortedWhenItIsInTheWay"},
              {.row = 8,
               .name = "an_unknown_id_spoils_the_session",
               .source = "E, S",
               .says = "after a Rollback of an unknown large id the emulator's session takes no "
                       "transaction that it begins",
               .differs = "a fault; an unknown id changes nothing",
               .probe =
                   [](Probe& p) {
                     p.a.Use("999999");
                     p.a.Rollback();
                     p.a.Begin();
                     p.a.Sql("SELECT 1");
                   },
               .heard = "OK | OK | [1]",
               .from_emulator = "NOT_FOUND | OK | FAILED_PRECONDITION"},
              {.row = 9,
               .name = "multiplexed_sessions_are_refused",
               .source = "N",
               .says = "this emulator answers a request for a multiplexed session with a regular "
                       "one, at which Node's client gives up",
               .differs = "the model has multiplexed sessions, as Spanner has",
               .probe =
                   [](Probe& p) {
                     const auto heard = p.spanner().CreateSession(p.database(), true);
                     p.Hear(heard.status);
                     p.Is("multiplexed", heard.reply.multiplexed());
                   },
               .heard = "OK | multiplexed",
               .from_emulator = "OK | not: multiplexed"},
              {.row = 10,
               .name = "retry_info",
               .source = "E, I",
               .says = "Spanner says how long to pause after ABORTED; the emulator does not",
               .probe = RetryInfoOfAborted,
               .heard = "ABORTED | asks for a pause | in a trailer, too",
               .by_emulators_rules = "ABORTED | not: asks for a pause | not: in a trailer, too"},
              {.row = 11,
               .name = "deadlines_do_not_stop_a_commit",
               .source = "E, S",
               .says = "a Commit whose client has given up is carried out all the same",
               .shown_by = "ServerWaitsTest.ServesOnWhenTheClientHasGone"},
          },
  };
}

}  // namespace whorl::facts
