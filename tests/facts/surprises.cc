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

}  // namespace

Section Surprises() {
  Section fact{.number = 0, .title = "surprises", .rows = 11};
  fact(1, "current_timestamp_is_no_truetime", "D",
       "CURRENT_TIMESTAMP is a clock that nothing binds to commit timestamps")
      .ShownBy("DatabaseStatement.CurrentTimestampIsAClockOfItsOwn");
  fact(1, "age_of_zero_or_less_is_available", "C",
       "to spindle an age that is negative, zero or NULL means: the lock is free")
      .ShownBy("SpindleV2CheckTest.AnAgeOfZeroOrLessCountsAsAvailable");
  fact(2, "an_age_below_a_millisecond_is_zero", "E, C",
       "a difference in milliseconds is cut, so a heartbeat of just now is 0 old")
      .Probed("[0]", [](Probe& p) {
        p.a.Sql(
            "SELECT TIMESTAMP_DIFF(TIMESTAMP '2026-01-01T00:00:00.000999999Z', "
            "TIMESTAMP '2026-01-01T00:00:00Z', MILLISECOND)");
      });
  fact(2, "how_often_an_age_is_zero", "E",
       "most reads right after a commit, and some 3 % of a poller's, find age 0")
      .NotCovered("a rate of one machine's speed");
  fact(3, "clean_up_after_a_pending_heartbeat", "D, E",
       "after writing a pending timestamp the table (documentation) or the column (emulator) "
       "cannot be read, so spindle's DELETE by prefix fails or works; its Commit succeeds")
      .Probed(
          {.model = "1 row | INVALID_ARGUMENT | OK", .by_emulators_rules = "1 row | 1 row | OK"},
          [](Probe& p) {
            p.Insert("lock");
            p.Insert("lock_1");
            p.a.BeginWith(
                "UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP() WHERE name = "
                "'lock'");
            p.a.Sql("DELETE FROM locktable WHERE STARTS_WITH(name, 'lock_')");
            p.a.Commit();
          });
  fact(4, "emulators_clock_runs_ahead", "E, S",
       "each call moves the emulator's clock by a microsecond, for ever, so that commit "
       "timestamps and reads are milliseconds ahead of the wall clock")
      .Differs("an artefact; the server's clock is the machine's")
      .Probed({.model = "not: ahead of the wall clock", .from_emulator = "ahead of the wall clock"},
              [](Probe& p) {
                // After thousands of calls the emulator's clock is ahead by more than an answer
                // takes to arrive.
                p.Quietly(true);
                for (int i = 0; i < 3000; ++i) (void)p.spanner().GetSession(p.a.session());
                bool ahead = false;
                for (int i = 0; i < 20 && !ahead; ++i) {
                  const Timestamp commit =
                      p.a.Commit({Put(MutationKind::kInsertOrUpdate, {"name"}, {std::string("a")})})
                          .commit;
                  ahead = commit > WallClock();
                }
                p.Quietly(false);
                p.Is("ahead of the wall clock", ahead);
              });
  fact(5, "a_failed_inlined_begin_has_no_id", "E, N, C",
       "a first statement that carries the begin and fails brings no transaction")
      .Probed("ALREADY_EXISTS | not: an id", [](Probe& p) {
        p.Insert("a");
        p.a.BeginWith("INSERT INTO locktable (name) VALUES ('a')");
        p.Is("an id", !p.a.transaction().empty());
      });
  fact(5, "go_then_begins_explicitly", "C",
       "Go's client runs the transaction again at once with BeginTransaction")
      .ShownBy("RunnerBeginTest.AnyErrorOfAStatementThatCarriesTheBeginIsMasked");
  fact(5, "node_takes_seven_seconds", "N",
       "Node's client sends the statement three times with pauses before it begins")
      .NotCovered("another client than ours");
  fact(6, "constraint_errors_doom_the_transaction", "E, I",
       "after ALREADY_EXISTS every statement and Commit repeats it")
      .Probed("OK | ALREADY_EXISTS | ALREADY_EXISTS | ALREADY_EXISTS", [](Probe& p) {
        p.Insert("a");
        p.a.Begin();
        p.a.Sql("INSERT INTO locktable (name) VALUES ('a')");
        p.a.Sql("SELECT 1");
        p.a.Commit();
      });
  fact(6, "a_failed_read_does_not", "E", "a query that fails leaves its transaction alive")
      .Probed("1 row | INVALID_ARGUMENT | OK", [](Probe& p) {
        p.a.BeginWith("INSERT INTO locktable (name) VALUES ('a')");
        p.a.Sql("SELECT nothing FROM locktable");
        p.a.Commit();
      });
  fact(7, "a_deleted_session_leaves_its_lock", "E",
       "the emulator keeps the lock of a transaction whose session was deleted; nobody can "
       "write any more, and in the end it crashes")
      .Differs("a fault; deleting a session releases its locks")
      .Probed({.model = "1 row | OK | 1 row", .from_emulator = "1 row | OK | ABORTED"},
              [](Probe& p) {
                p.Insert("x");
                p.a.BeginWith("UPDATE locktable SET writer = 'a' WHERE name = 'x'");
                p.a.Delete();
                p.b.BeginWith("UPDATE locktable SET writer = 'b' WHERE name = 'x'");
              });
  fact(7, "a_dead_client_leaves_its_lock", "E, D",
       "the emulator keeps a dead client's lock for ever; Spanner aborts what was idle for 10 s")
      .ShownBy("DatabaseWait.AnIdleHolderIsAbortedWhenItIsInTheWay");
  fact(8, "an_unknown_id_spoils_the_session", "E, S",
       "after a Rollback of an unknown large id the emulator's session takes no transaction "
       "that it begins")
      .Differs("a fault; an unknown id changes nothing")
      .Probed({.model = "OK | OK | [1]", .from_emulator = "NOT_FOUND | OK | FAILED_PRECONDITION"},
              [](Probe& p) {
                p.a.Use("999999");
                p.a.Rollback();
                p.a.Begin();
                p.a.Sql("SELECT 1");
              });
  fact(9, "multiplexed_sessions_are_refused", "N",
       "this emulator answers a request for a multiplexed session with a regular one, at which "
       "Node's client gives up")
      .Differs("the model has multiplexed sessions, as Spanner has")
      .Probed({.model = "OK | multiplexed", .from_emulator = "OK | not: multiplexed"},
              [](Probe& p) {
                const auto heard = p.spanner().CreateSession(p.database(), true);
                p.Hear(heard.status);
                p.Is("multiplexed", heard.reply.multiplexed());
              });
  fact(10, "retry_info", "E, I",
       "Spanner says how long to pause after ABORTED; the emulator does not")
      .Probed({.model = "ABORTED | asks for a pause | in a trailer, too",
               .by_emulators_rules = "ABORTED | not: asks for a pause | not: in a trailer, too"},
              [](Probe& p) {
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
              });
  fact(11, "deadlines_do_not_stop_a_commit", "E, S",
       "a Commit whose client has given up is carried out all the same")
      .ShownBy("ServerWaitsTest.ServesOnWhenTheClientHasGone");
  return fact;
}

}  // namespace whorl::facts
