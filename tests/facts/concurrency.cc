// Section 6: the locks of transactions, and which transactions are aborted or wait.
#include <string>

#include "tests/facts/facts.h"
#include "tests/facts/probe.h"

namespace whorl::facts {
namespace {

constexpr const char* kUpdateX = "UPDATE locktable SET writer = 'w' WHERE name = 'x'";
constexpr const char* kUpdateY = "UPDATE locktable SET writer = 'w' WHERE name = 'y'";
constexpr const char* kSelectX = "SELECT writer FROM locktable WHERE name = 'x'";

void InsertXY(Probe& p) {
  p.Insert("x");
  p.Insert("y");
}

// a's Commit aborts b; the emulator aborts b when it begins.
void AbortB(Probe& p) {
  InsertXY(p);
  p.Quietly(true);
  p.a.BeginWith(kSelectX);
  p.b.Begin();
  p.b.Sql(kSelectX);
  p.a.Sql(kUpdateX);
  p.a.Commit();
  p.Quietly(false);
}

void AfterAborted(Probe& p) {
  InsertXY(p);
  p.Quietly(true);
  p.a.BeginWith(kSelectX);
  p.b.Begin();
  p.b.Run({.sql = kSelectX, .sequence = 1});
  p.a.Sql(kUpdateX);
  p.a.Commit();
  p.Quietly(false);
  p.b.Run({.sql = kUpdateY, .sequence = 2});
  p.b.Run({.sql = kUpdateY, .sequence = 2});
  p.b.Commit();
  p.b.Rollback();
}

void SchemaChange(Probe& p) {
  p.Insert("x");
  p.a.BeginWith(kUpdateX);
  google::spanner::admin::database::v1::UpdateDatabaseDdlRequest request;
  request.set_database(p.database());
  request.add_statements("CREATE TABLE other (id INT64) PRIMARY KEY (id)");
  grpc::ClientContext context;
  google::longrunning::Operation operation;
  p.Hear(p.spanner().databases().UpdateDatabaseDdl(&context, request, &operation));
  p.a.Commit();
}

void SecondTransactionOfASession(Probe& p) {
  p.Insert("x");
  p.a.Begin();
  const TransactionId first = p.a.transaction();
  p.a.Sql(kSelectX);
  p.a.Begin();
  p.a.Sql(kSelectX);
  p.a.Use(first);
  p.a.Sql(kSelectX);
}

}  // namespace

Section Concurrency() {
  return {
      .number = 6,
      .title = "concurrency",
      .rows = 17,
      .facts =
          {
              {.row = 1,
               .name = "what_a_lock_covers",
               .source = "E, S, D",
               .says = "the emulator has one lock for the database; Spanner locks cells",
               .probe =
                   [](Probe& p) {
                     InsertXY(p);
                     p.a.BeginWith(kUpdateX);
                     p.b.BeginWith(kUpdateY);
                     p.a.Commit();
                   },
               .heard = "1 row | 1 row | OK",
               .by_emulators_rules = "1 row | ABORTED | OK"},
              {.row = 1,
               .name = "existence_and_ranges",
               .source = "D",
               .says = "Spanner locks the existence of rows and the ranges of scans, too",
               .shown_by = "DatabaseLock.AnInsertIsInTheWayOfAReadOfItsRange"},
              {.row = 2,
               .name = "what_takes_no_lock",
               .source = "E, S",
               .says = "BeginTransaction and a statement without a table",
               .probe =
                   [](Probe& p) {
                     p.Insert("x");
                     p.a.Begin();
                     p.a.Sql("SELECT 1");
                     p.b.BeginWith(kUpdateX);
                     p.b.Commit();
                     p.a.Sql(kUpdateX);
                     p.a.Commit();
                   },
               .heard = "OK | [1] | 1 row | OK | 1 row | OK"},
              {.row = 2,
               .name = "write_locks_come_at_commit",
               .source = "D",
               .says = "in Spanner an uncommitted UPDATE is in no reader's way until Commit",
               .probe =
                   [](Probe& p) {
                     p.Insert("x");
                     p.a.BeginWith(kUpdateX);
                     p.b.Begin();
                     p.b.Sql(kSelectX);
                     p.a.Commit();
                     p.b.Sql(kSelectX);
                   },
               .heard = "1 row | OK | [NULL] | OK | ABORTED",
               .by_emulators_rules = "1 row | OK | ABORTED | OK | ABORTED"},
              {.row = 3,
               .name = "a_select_locks",
               .source = "E, D",
               .says = "in the emulator a query shuts out writers of other rows; in Spanner it "
                       "shares what it reads",
               .probe =
                   [](Probe& p) {
                     InsertXY(p);
                     p.a.BeginWith(kSelectX);
                     p.b.BeginWith(kUpdateY);
                     p.a.Commit();
                   },
               .heard = "[NULL] | 1 row | OK",
               .by_emulators_rules = "[NULL] | ABORTED | OK"},
              {.row = 4,
               .name = "dml_locks_what_it_reads",
               .source = "D",
               .says = "shared while it runs, and what it writes at Commit",
               .shown_by = "DatabaseLock.AWriterOfAnotherColumnIsNotInAReadersWay"},
              {.row = 5,
               .name = "blind_mutations",
               .source = "E, D",
               .says = "lock at Commit only: transactions of nothing else do not conflict",
               .probe =
                   [](Probe& p) {
                     const Mutation put =
                         Put(MutationKind::kInsertOrUpdate, {"name"}, {std::string("x")});
                     p.a.Begin();
                     p.b.Begin();
                     p.a.Commit({put});
                     p.b.Commit({put});
                   },
               .heard = "OK | OK | OK | OK"},
              {.row = 5,
               .name = "blind_writers_of_one_cell_in_parallel",
               .source = "D",
               .says = "two may commit at the same time, ordered by their timestamps",
               .differs = "writers of one row queue: their order is that of timestamps either way",
               .shown_by = "DatabaseLock.TwoCommitsOfOneRowFollowEachOther"},
              {.row = 6,
               .name = "commit_timestamps_in_keys",
               .source = "D",
               .says = "have a lock mode of their own",
               .not_covered = "the model takes no commit timestamps in keys"},
              {.row = 7,
               .name = "readers_share",
               .source = "D",
               .says = "shared locks of readers do not conflict",
               .shown_by = "DatabaseLock.TwoReadersOfOneCellDoNotWait"},
              {.row = 7,
               .name = "reader_and_writer_conflict",
               .source = "D",
               .says = "a reader's and a writer's do",
               .shown_by = "DatabaseLock.AReaderWaitsForACommitThatIsNotYetVisible"},
              {.row = 8,
               .name = "emulator_aborts_who_comes",
               .source = "E, S",
               .says = "in the emulator nobody waits: who comes is ABORTED",
               .shown_by = "DatabaseEmulator.WhoComesWhileTheLockIsHeldIsAborted"},
              {.row = 8,
               .name = "emulators_coin",
               .source = "E, S",
               .says = "unless a flag forbids it, one time in five the holder is aborted instead",
               .differs = "the emulator's coin is not modelled: chance is the driver's, and the "
                          "emulator is run without it"},
              {.row = 8,
               .name = "older_wounds_younger",
               .source = "D",
               .says = "in Spanner an older transaction aborts a younger one in its way",
               .shown_by = "DatabaseLock.AnOlderCommitWoundsAYoungerReader"},
              {.row = 8,
               .name = "younger_waits",
               .source = "D",
               .says = "and a younger one waits",
               .shown_by = "DatabaseLock.AYoungerCommitWaitsForAnOlderReader"},
              {.row = 8,
               .name = "age",
               .source = "D",
               .says = "counts from the first read, query or Commit",
               .shown_by = "DatabaseLock.AgeCountsFromTheFirstStatementNotFromTheBegin"},
              {.row = 9,
               .name = "when_aborted_is_heard",
               .source = "E, D",
               .says = "who comes hears it at its statement (emulator), a victim at its next call",
               .probe =
                   [](Probe& p) {
                     InsertXY(p);
                     p.a.BeginWith(kSelectX);
                     p.b.Begin();
                     p.b.Sql(kSelectX);
                     p.a.Sql(kUpdateX);
                     p.a.Commit();
                     p.b.Sql(kSelectX);
                   },
               .heard = "[NULL] | OK | [NULL] | 1 row | OK | ABORTED",
               .by_emulators_rules = "[NULL] | OK | ABORTED | 1 row | OK | ABORTED"},
              {.row = 9,
               .name = "aborted_at_any_time",
               .source = "P",
               .says = "a Commit may be ABORTED for no reason that a client sees",
               .differs = "the model aborts for a reason only; scenarios inject the rest",
               .shown_by = "RunnerAbortedTest.ACommitThatIsAbortedRunsTheWholeTransactionAgain"},
              {.row = 10,
               .name = "texts_of_aborted",
               .source = "E, I",
               .says = "the emulator names the other transaction, Spanner the key range",
               .not_covered = "texts are no API"},
              {.row = 11,
               .name = "details_of_aborted",
               .source = "E, C, I",
               .says = "Spanner's carry RetryInfo in the details and in a trailer, the emulator's "
                       "do not",
               .probe =
                   [](Probe& p) {
                     AbortB(p);
                     const Outcome& aborted = p.b.Commit();
                     p.Is("RetryInfo", aborted.details.find("RetryInfo") != std::string::npos);
                     p.Is("trailer", aborted.has_retry_info);
                   },
               .heard = "ABORTED | RetryInfo | trailer",
               .by_emulators_rules = "ABORTED | not: RetryInfo | not: trailer"},
              {.row = 12,
               .name = "after_aborted",
               .source = "E",
               .says = "statements, repeated ones and Commit are ABORTED again; Rollback is OK",
               .probe = AfterAborted,
               .heard = "ABORTED | ABORTED | ABORTED | OK"},
              {.row = 12,
               .name = "a_retry_keeps_its_age",
               .source = "D, P",
               .says = "on a regular session by itself",
               .shown_by = "DatabaseSession.ARegularOneKeepsTheAgeOfAnAbortedAttempt"},
              {.row = 12,
               .name = "a_retry_hands_its_age_on",
               .source = "D, P",
               .says = "on a multiplexed one by the id of the aborted attempt",
               .shown_by = "DatabaseLock.ARetryInheritsTheAgeOfTheAbortedAttempt"},
              {.row = 13,
               .name = "a_strong_read_does_not_wait_for_dml",
               .source = "E, D",
               .says = "it sees what was committed before",
               .probe =
                   [](Probe& p) {
                     p.Insert("x");
                     p.a.BeginWith(kUpdateX);
                     p.b.Sql(kSelectX);
                     p.a.Commit();
                     p.b.Sql(kSelectX);
                   },
               .heard = "1 row | [NULL] | OK | [w]"},
              {.row = 14,
               .name = "optimistic",
               .source = "D, P",
               .says = "takes no locks before Commit, which checks what was read",
               .shown_by = "DatabaseOptimistic.LocksNothingBeforeItsCommit"},
              {.row = 14,
               .name = "repeatable_read",
               .source = "D, P",
               .says = "reads a snapshot and checks writes alone",
               .differs = "not modelled until a protocol asks for it; refused as UNIMPLEMENTED"},
              {.row = 15,
               .name = "schema_change",
               .source = "E, S",
               .says = "the emulator refuses it while a transaction holds its lock (without its "
                       "coin; with it, the transaction may be aborted instead)",
               .differs = "it goes through, as Spanner's do, and aborts what is under way",
               .probe = SchemaChange,
               .heard = "1 row | OK | ABORTED",
               .from_emulator = "1 row | FAILED_PRECONDITION | OK"},
              {.row = 16,
               .name = "a_second_transaction_of_a_session",
               .source = "E, D",
               .says = "the first is over: by the emulator its id is refused, by Spanner one may "
                       "be active",
               .probe = SecondTransactionOfASession,
               .heard = "OK | [NULL] | OK | [NULL] | ABORTED",
               .by_emulators_rules = "OK | [NULL] | OK | [NULL] | FAILED_PRECONDITION"},
              {.row = 16,
               .name = "a_second_transaction_begun_by_its_statement",
               .source = "E",
               .says = "where statements carried the begins, the emulator has forgotten the first",
               .differs = "the id is known and over, however it began",
               .probe =
                   [](Probe& p) {
                     p.Insert("x");
                     p.a.BeginWith(kSelectX);
                     const TransactionId first = p.a.transaction();
                     p.a.BeginWith(kSelectX);
                     p.a.Use(first);
                     p.a.Sql(kSelectX);
                   },
               .heard = "[NULL] | [NULL] | ABORTED",
               .by_emulators_rules = "[NULL] | [NULL] | FAILED_PRECONDITION",
               .from_emulator = "[NULL] | [NULL] | NOT_FOUND"},
              {.row = 16,
               .name = "many_on_a_multiplexed_session",
               .source = "D",
               .says = "are active at a time",
               .shown_by = "DatabaseSession.AMultiplexedOneHasMany"},
              {.row = 17,
               .name = "locks_for_the_world_outside",
               .source = "D",
               .says = "Spanner's own locks are not to guard anything else",
               .not_covered = "advice; it is why lock protocols exist"},
          },
  };
}

}  // namespace whorl::facts
