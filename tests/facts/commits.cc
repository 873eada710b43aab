// Sections 7 and 8: resent Commits, ends of transactions, and sessions.
#include <string>

#include "tests/facts/facts.h"
#include "tests/facts/probe.h"

namespace whorl::facts {
namespace {

Mutation UpsertA() {
  return Put(MutationKind::kInsertOrUpdate, {"name", "heartbeat"},
             {std::string("a"), std::string(kCommitTimestamp)});
}

google::spanner::v1::CommitRequest SingleUseCommit(Probe& p) {
  google::spanner::v1::CommitRequest request;
  request.set_session(p.a.session());
  request.mutable_single_use_transaction()->mutable_read_write();
  auto& insert = *request.add_mutations()->mutable_insert_or_update();
  insert.set_table("locktable");
  insert.add_columns("name");
  insert.add_values()->add_values()->set_string_value("a");
  return request;
}

}  // namespace

Section CommitReplay() {
  Section fact{.number = 7, .title = "Commit sent again", .rows = 13};
  fact(1, "twice", "E, S, P", "is OK, with the same timestamp")
      .Probed("1 row | OK | OK | same timestamp", [](Probe& p) {
        p.a.BeginWith(kInsertA);
        const Timestamp first = p.a.Commit().commit;
        p.Is("same timestamp", p.a.Commit().commit == first);
      });
  fact(2, "with_other_mutations", "E", "is OK, too, and they are ignored")
      .Probed("OK | OK | OK | same timestamp | [a]", [](Probe& p) {
        p.a.Begin();
        const Timestamp first = p.a.Commit({UpsertA()}).commit;
        p.Is(
            "same timestamp",
            p.a.Commit({Put(MutationKind::kInsert, {"name"}, {std::string("b")})}).commit == first);
        p.b.Sql("SELECT name FROM locktable");
      });
  fact(3, "after_a_newer_transaction", "E",
       "the emulator has forgotten the outcome once the session used a newer one")
      .Probed({.model = "1 row | OK | [1] | OK | OK",
               .by_emulators_rules = "1 row | OK | [1] | OK | FAILED_PRECONDITION"},
              [](Probe& p) {
                p.a.BeginWith(kInsertA);
                const TransactionId id = p.a.transaction();
                p.a.Commit();
                p.a.BeginWith("SELECT 1 FROM locktable");
                p.a.Commit();
                p.a.Use(id);
                p.a.Commit();
              });
  fact(4, "single_use_twice", "E, P", "is executed twice")
      .Probed("OK | OK | a later timestamp", [](Probe& p) {
        const Timestamp first = p.a.Commit({UpsertA()}).commit;
        p.Is("a later timestamp", p.a.Commit({UpsertA()}).commit > first);
      });
  fact(5, "statement_after_commit", "E", "FAILED_PRECONDITION")
      .Probed("1 row | OK | FAILED_PRECONDITION", [](Probe& p) {
        p.a.BeginWith(kInsertA);
        p.a.Commit();
        p.a.Sql("SELECT name FROM locktable");
      });
  fact(6, "rollback_after_commit", "E", "FAILED_PRECONDITION")
      .Probed("1 row | OK | FAILED_PRECONDITION", [](Probe& p) {
        p.a.BeginWith(kInsertA);
        p.a.Commit();
        p.a.Rollback();
      });
  fact(7, "commit_after_rollback", "E", "FAILED_PRECONDITION")
      .Probed("1 row | OK | FAILED_PRECONDITION", [](Probe& p) {
        p.a.BeginWith(kInsertA);
        p.a.Rollback();
        p.a.Commit();
      });
  fact(8, "commit_of_an_unknown_id", "E", "NOT_FOUND, and so is the id of another session")
      .Probed("NOT_FOUND | 1 row | NOT_FOUND", [](Probe& p) {
        p.a.Use("99999");
        p.a.Commit();
        p.b.BeginWith(kInsertA);
        p.c.Use(p.b.transaction());
        p.c.Commit();
      });
  fact(8, "commit_of_garbage", "E",
       "the emulator does not know what to say of an id that is no number")
      .Differs("ids are opaque: what is unknown is NOT_FOUND")
      .Probed({.model = "NOT_FOUND", .from_emulator = "UNKNOWN"}, [](Probe& p) {
        p.a.Use("garbage");
        p.a.Commit();
      });
  fact(9, "rollback_of_an_unknown_id", "E, P", "OK by the protos; NOT_FOUND in the emulator")
      .Differs("as the protos say")
      .Probed({.model = "OK", .from_emulator = "NOT_FOUND"}, [](Probe& p) {
        p.a.Use("99999");
        p.a.Rollback();
      });
  fact(10, "commit_of_no_transaction", "E", "INVALID_ARGUMENT")
      .Probed("INVALID_ARGUMENT", [](Probe& p) {
        google::spanner::v1::CommitRequest request;
        request.set_session(p.a.session());
        p.Hear(p.spanner().Commit(request).status);
      });
  fact(11, "commit_of_a_read_only_transaction", "E", "FAILED_PRECONDITION")
      .Probed("OK | no row | FAILED_PRECONDITION", [](Probe& p) {
        p.a.Begin(BeginReadOnly{});
        p.a.Sql("SELECT name FROM locktable");
        p.a.Commit();
      });
  fact(12, "commit_stats", "E", "the emulator returns none")
      .Differs("they are asked for, so they are returned")
      .Probed({.model = "OK | stats", .from_emulator = "OK | not: stats"}, [](Probe& p) {
        auto request = SingleUseCommit(p);
        request.set_return_commit_stats(true);
        const auto heard = p.spanner().Commit(request);
        p.Hear(heard.status);
        p.Is("stats", heard.reply.has_commit_stats());
      });
  fact(13, "max_commit_delay", "D", "from 0 to 500 ms; the emulator takes any")
      .Differs("as documented")
      .Probed({.model = "OK | INVALID_ARGUMENT", .from_emulator = "OK | OK"}, [](Probe& p) {
        auto request = SingleUseCommit(p);
        request.mutable_max_commit_delay()->set_nanos(100'000'000);
        p.Hear(p.spanner().Commit(request).status);
        request.mutable_max_commit_delay()->set_nanos(501'000'000);
        p.Hear(p.spanner().Commit(request).status);
      });
  return fact;
}

Section Sessions() {
  Section fact{.number = 8, .title = "sessions, and what expires", .rows = 7};
  fact(1, "deleted_session", "E, C", "NOT_FOUND in words that clients look for, with ResourceInfo")
      .Probed("NOT_FOUND | by its name | ResourceInfo", [](Probe& p) {
        p.a.session();
        p.Quietly(true);
        p.a.Delete();
        p.Quietly(false);
        const Outcome& outcome = p.a.Sql("SELECT 1");
        p.Is("by its name", outcome.message == "Session not found: " + p.a.session());
        p.Is("ResourceInfo", outcome.details.find("google.rpc.ResourceInfo") != std::string::npos);
      });
  fact(2, "no_such_database_or_instance", "E", "NOT_FOUND, each in its words")
      .Probed("NOT_FOUND | database | NOT_FOUND | instance", [](Probe& p) {
        const auto database = p.spanner().CreateSession(RawSpanner::DatabaseName("nosuch"));
        p.Hear(database.status);
        p.Is("database", database.status.error_message().starts_with("Database not found: "));
        const auto instance =
            p.spanner().CreateSession("projects/test-project/instances/nosuch/databases/d");
        p.Hear(instance.status);
        p.Is("instance", instance.status.error_message().starts_with("Instance not found: "));
      });
  fact(3, "deleted_twice", "E", "is OK both times").Probed("OK | OK", [](Probe& p) {
    p.a.Delete();
    p.a.Delete();
  });
  fact(3, "deletion_ends_what_runs", "P", "deleting a session cancels what runs in it")
      .ShownBy("DatabaseSession.ACallThatWaitsIsToldThatItsSessionIsGone");
  fact(4, "idle_session", "S, D, P",
       "is gone after 1 h without use, a multiplexed one after 28 days")
      .ShownBy("DatabaseSession.AnIdleOneExpiresAndUseKeepsItAlive");
  fact(4, "old_session", "D", "Spanner may also delete one that is more than 28 days old")
      .Differs("sessions do not end by age: no run lasts so long");
  fact(5, "idle_transaction", "D",
       "Spanner may abort one that was idle for 10 s; the emulator never does")
      .ShownBy("DatabaseWait.AnIdleHolderIsAbortedWhenItIsInTheWay");
  fact(5, "use_keeps_it_alive", "D", "any statement does")
      .ShownBy("DatabaseWait.AHolderIsNotIdleBeforeTheLimitNorAfterEachStatement");
  fact(6, "transactions_of_a_session", "S, D",
       "one is active on a regular session; the emulator remembers 32")
      .ShownBy("DatabaseSession.ARegularOneHasOneReadWriteTransaction");
  fact(7, "commit_without_a_precommit_token", "P", "on a multiplexed session FAILED_PRECONDITION")
      .Probed({.model = "1 row | FAILED_PRECONDITION", .from_emulator = kNotAsked}, [](Probe& p) {
        p.m.BeginWith(kInsertA);
        p.m.ForgetToken();
        p.m.Commit();
      });
  fact(7, "commit_with_its_token", "P", "the newest token commits")
      .Probed("1 row | OK", [](Probe& p) {
        p.m.BeginWith(kInsertA);
        p.m.Commit();
      });
  fact(7, "commit_answered_by_a_token", "P, S", "an answer with a token has not committed")
      .ShownBy("DatabasePrecommitToken.AnOldOneIsAnsweredByTheNewOneAndMutationsAreKept");
  return fact;
}

}  // namespace whorl::facts
