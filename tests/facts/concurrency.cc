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

}  // namespace

Section Concurrency() {
  Section fact{.number = 6, .title = "concurrency", .rows = 17};
  fact(1, "what_a_lock_covers", "E, S, D",
       "the emulator has one lock for the database; Spanner locks cells")
      .Probed({.model = "1 row | 1 row | OK", .by_emulators_rules = "1 row | ABORTED | OK"},
              [](Probe& p) {
                InsertXY(p);
                p.a.BeginWith(kUpdateX);
                p.b.BeginWith(kUpdateY);
                p.a.Commit();
              });
  fact(1, "existence_and_ranges", "D",
       "Spanner locks the existence of rows and the ranges of scans, too")
      .ShownBy("DatabaseLock.AnInsertIsInTheWayOfAReadOfItsRange");
  fact(2, "what_takes_no_lock", "E, S", "BeginTransaction and a statement without a table")
      .Probed("OK | [1] | 1 row | OK | 1 row | OK", [](Probe& p) {
        p.Insert("x");
        p.a.Begin();
        p.a.Sql("SELECT 1");
        p.b.BeginWith(kUpdateX);
        p.b.Commit();
        p.a.Sql(kUpdateX);
        p.a.Commit();
      });
  fact(2, "write_locks_come_at_commit", "D",
       "in Spanner an uncommitted UPDATE is in no reader's way until Commit")
      .Probed({.model = "1 row | OK | [NULL] | OK | ABORTED",
               .by_emulators_rules = "1 row | OK | ABORTED | OK | ABORTED"},
              [](Probe& p) {
                p.Insert("x");
                p.a.BeginWith(kUpdateX);
                p.b.Begin();
                p.b.Sql(kSelectX);
                p.a.Commit();
                p.b.Sql(kSelectX);
              });
  fact(3, "a_select_locks", "E, D",
       "in the emulator a query shuts out writers of other rows; in Spanner it shares what it "
       "reads")
      .Probed({.model = "[NULL] | 1 row | OK", .by_emulators_rules = "[NULL] | ABORTED | OK"},
              [](Probe& p) {
                InsertXY(p);
                p.a.BeginWith(kSelectX);
                p.b.BeginWith(kUpdateY);
                p.a.Commit();
              });
  fact(4, "dml_locks_what_it_reads", "D", "shared while it runs, and what it writes at Commit")
      .ShownBy("DatabaseLock.AWriterOfAnotherColumnIsNotInAReadersWay");
  fact(5, "blind_mutations", "E, D",
       "lock at Commit only: transactions of nothing else do not conflict")
      .Probed("OK | OK | OK | OK", [](Probe& p) {
        const Mutation put = Put(MutationKind::kInsertOrUpdate, {"name"}, {std::string("x")});
        p.a.Begin();
        p.b.Begin();
        p.a.Commit({put});
        p.b.Commit({put});
      });
  fact(5, "blind_writers_of_one_cell_in_parallel", "D",
       "two may commit at the same time, ordered by their timestamps")
      .Differs("writers of one row queue: their order is that of timestamps either way")
      .ShownBy("DatabaseLock.TwoCommitsOfOneRowFollowEachOther");
  fact(6, "commit_timestamps_in_keys", "D", "have a lock mode of their own")
      .NotCovered("the model takes no commit timestamps in keys");
  fact(7, "readers_share", "D", "shared locks of readers do not conflict")
      .ShownBy("DatabaseLock.TwoReadersOfOneCellDoNotWait");
  fact(7, "reader_and_writer_conflict", "D", "a reader's and a writer's do")
      .ShownBy("DatabaseLock.AReaderWaitsForACommitThatIsNotYetVisible");
  fact(8, "emulator_aborts_who_comes", "E, S", "in the emulator nobody waits: who comes is ABORTED")
      .ShownBy("DatabaseEmulator.WhoComesWhileTheLockIsHeldIsAborted");
  fact(8, "emulators_coin", "E, S",
       "unless a flag forbids it, one time in five the holder is aborted instead")
      .Differs(
          "the emulator's coin is not modelled: chance is the driver's, and the emulator is run "
          "without it");
  fact(8, "older_wounds_younger", "D",
       "in Spanner an older transaction aborts a younger one in its way")
      .ShownBy("DatabaseLock.AnOlderCommitWoundsAYoungerReader");
  fact(8, "younger_waits", "D", "and a younger one waits")
      .ShownBy("DatabaseLock.AYoungerCommitWaitsForAnOlderReader");
  fact(8, "age", "D", "counts from the first read, query or Commit")
      .ShownBy("DatabaseLock.AgeCountsFromTheFirstStatementNotFromTheBegin");
  fact(9, "when_aborted_is_heard", "E, D",
       "who comes hears it at its statement (emulator), a victim at its next call")
      .Probed({.model = "[NULL] | OK | [NULL] | 1 row | OK | ABORTED",
               .by_emulators_rules = "[NULL] | OK | ABORTED | 1 row | OK | ABORTED"},
              [](Probe& p) {
                InsertXY(p);
                p.a.BeginWith(kSelectX);
                p.b.Begin();
                p.b.Sql(kSelectX);
                p.a.Sql(kUpdateX);
                p.a.Commit();
                p.b.Sql(kSelectX);
              });
  fact(9, "aborted_at_any_time", "P", "a Commit may be ABORTED for no reason that a client sees")
      .Differs("the model aborts for a reason only; scenarios inject the rest")
      .ShownBy("RunnerAbortedTest.ACommitThatIsAbortedRunsTheWholeTransactionAgain");
  fact(10, "texts_of_aborted", "E, I",
       "the emulator names the other transaction, Spanner the key range")
      .NotCovered("texts are no API");
  fact(11, "details_of_aborted", "E, C, I",
       "Spanner's carry RetryInfo in the details and in a trailer, the emulator's do not")
      .Probed({.model = "ABORTED | RetryInfo | trailer",
               .by_emulators_rules = "ABORTED | not: RetryInfo | not: trailer"},
              [](Probe& p) {
                AbortB(p);
                const Outcome& aborted = p.b.Commit();
                p.Is("RetryInfo", aborted.details.find("RetryInfo") != std::string::npos);
                p.Is("trailer", aborted.has_retry_info);
              });
  fact(12, "after_aborted", "E",
       "statements, repeated ones and Commit are ABORTED again; Rollback is OK")
      .Probed("ABORTED | ABORTED | ABORTED | OK", [](Probe& p) {
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
      });
  fact(12, "a_retry_keeps_its_age", "D, P", "on a regular session by itself")
      .ShownBy("DatabaseSession.ARegularOneKeepsTheAgeOfAnAbortedAttempt");
  fact(12, "a_retry_hands_its_age_on", "D, P",
       "on a multiplexed one by the id of the aborted attempt")
      .ShownBy("DatabaseLock.ARetryInheritsTheAgeOfTheAbortedAttempt");
  fact(13, "a_strong_read_does_not_wait_for_dml", "E, D", "it sees what was committed before")
      .Probed("1 row | [NULL] | OK | [w]", [](Probe& p) {
        p.Insert("x");
        p.a.BeginWith(kUpdateX);
        p.b.Sql(kSelectX);
        p.a.Commit();
        p.b.Sql(kSelectX);
      });
  fact(14, "optimistic", "D, P", "takes no locks before Commit, which checks what was read")
      .ShownBy("DatabaseOptimistic.LocksNothingBeforeItsCommit");
  fact(14, "repeatable_read", "D, P", "reads a snapshot and checks writes alone")
      .Differs("not modelled until a protocol asks for it; refused as UNIMPLEMENTED");
  fact(15, "schema_change", "E, S",
       "the emulator refuses it while a transaction holds its lock (without its coin; with it, "
       "the transaction may be aborted instead)")
      .Differs("it goes through, as Spanner's do, and aborts what is under way")
      .Probed(
          {.model = "1 row | OK | ABORTED", .from_emulator = "1 row | FAILED_PRECONDITION | OK"},
          [](Probe& p) {
            p.Insert("x");
            p.a.BeginWith(kUpdateX);
            google::spanner::admin::database::v1::UpdateDatabaseDdlRequest request;
            request.set_database(p.database());
            request.add_statements("CREATE TABLE other (id INT64) PRIMARY KEY (id)");
            grpc::ClientContext context;
            google::longrunning::Operation operation;
            p.Hear(p.spanner().databases().UpdateDatabaseDdl(&context, request, &operation));
            p.a.Commit();
          });
  fact(16, "a_second_transaction_of_a_session", "E, D",
       "the first is over: by the emulator its id is refused, by Spanner one may be active")
      .Probed({.model = "OK | [NULL] | OK | [NULL] | ABORTED",
               .by_emulators_rules = "OK | [NULL] | OK | [NULL] | FAILED_PRECONDITION"},
              [](Probe& p) {
                p.Insert("x");
                p.a.Begin();
                const TransactionId first = p.a.transaction();
                p.a.Sql(kSelectX);
                p.a.Begin();
                p.a.Sql(kSelectX);
                p.a.Use(first);
                p.a.Sql(kSelectX);
              });
  fact(16, "a_second_transaction_begun_by_its_statement", "E",
       "where statements carried the begins, the emulator has forgotten the first")
      .Differs("the id is known and over, however it began")
      .Probed({.model = "[NULL] | [NULL] | ABORTED",
               .by_emulators_rules = "[NULL] | [NULL] | FAILED_PRECONDITION",
               .from_emulator = "[NULL] | [NULL] | NOT_FOUND"},
              [](Probe& p) {
                p.Insert("x");
                p.a.BeginWith(kSelectX);
                const TransactionId first = p.a.transaction();
                p.a.BeginWith(kSelectX);
                p.a.Use(first);
                p.a.Sql(kSelectX);
              });
  fact(16, "many_on_a_multiplexed_session", "D", "are active at a time")
      .ShownBy("DatabaseSession.AMultiplexedOneHasMany");
  fact(17, "locks_for_the_world_outside", "D", "Spanner's own locks are not to guard anything else")
      .NotCovered("advice; it is why lock protocols exist");
  return fact;
}

}  // namespace whorl::facts
