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

void CommitTwice(Probe& p) {
  p.a.BeginWith(kInsertA);
  const Timestamp first = p.a.Commit().commit;
  p.Is("same timestamp", p.a.Commit().commit == first);
}

void CommitTwiceWithOtherMutations(Probe& p) {
  p.a.Begin();
  const Timestamp first = p.a.Commit({UpsertA()}).commit;
  p.Is("same timestamp",
       p.a.Commit({Put(MutationKind::kInsert, {"name"}, {std::string("b")})}).commit == first);
  p.b.Sql("SELECT name FROM locktable");
}

void CommitAgainAfterANewerTransaction(Probe& p) {
  p.a.BeginWith(kInsertA);
  const TransactionId id = p.a.transaction();
  p.a.Commit();
  p.a.BeginWith("SELECT 1 FROM locktable");
  p.a.Commit();
  p.a.Use(id);
  p.a.Commit();
}

void SingleUseTwice(Probe& p) {
  const Timestamp first = p.a.Commit({UpsertA()}).commit;
  p.Is("a later timestamp", p.a.Commit({UpsertA()}).commit > first);
}

void IdsOfNobody(Probe& p) {
  p.a.Use("99999");
  p.a.Commit();
  p.b.BeginWith(kInsertA);
  p.c.Use(p.b.transaction());
  p.c.Commit();
}

void CommitOfNoTransaction(Probe& p) {
  google::spanner::v1::CommitRequest request;
  request.set_session(p.a.session());
  p.Hear(p.spanner().Commit(request).status);
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

void CommitStats(Probe& p) {
  auto request = SingleUseCommit(p);
  request.set_return_commit_stats(true);
  const auto heard = p.spanner().Commit(request);
  p.Hear(heard.status);
  p.Is("stats", heard.reply.has_commit_stats());
}

void MaxCommitDelay(Probe& p) {
  auto request = SingleUseCommit(p);
  request.mutable_max_commit_delay()->set_nanos(100'000'000);
  p.Hear(p.spanner().Commit(request).status);
  request.mutable_max_commit_delay()->set_nanos(501'000'000);
  p.Hear(p.spanner().Commit(request).status);
}

void DeletedSession(Probe& p) {
  p.a.session();
  p.Quietly(true);
  p.a.Delete();
  p.Quietly(false);
  const Outcome& outcome = p.a.Sql("SELECT 1");
  p.Is("by its name", outcome.message == "Session not found: " + p.a.session());
  p.Is("ResourceInfo", outcome.details.find("google.rpc.ResourceInfo") != std::string::npos);
}

void NoSuchPlace(Probe& p) {
  const auto database = p.spanner().CreateSession(RawSpanner::DatabaseName("nosuch"));
  p.Hear(database.status);
  p.Is("database", database.status.error_message().starts_with("Database not found: "));
  const auto instance =
      p.spanner().CreateSession("projects/test-project/instances/nosuch/databases/d");
  p.Hear(instance.status);
  p.Is("instance", instance.status.error_message().starts_with("Instance not found: "));
}

}  // namespace

Section CommitReplay() {
  return {
      .number = 7,
      .title = "Commit sent again",
      .rows = 13,
      .facts =
          {
              {.row = 1,
               .name = "twice",
               .source = "E, S, P",
               .says = "is OK, with the same timestamp",
               .probe = CommitTwice,
               .heard = "1 row | OK | OK | same timestamp"},
              {.row = 2,
               .name = "with_other_mutations",
               .source = "E",
               .says = "is OK, too, and they are ignored",
               .probe = CommitTwiceWithOtherMutations,
               .heard = "OK | OK | OK | same timestamp | [a]"},
              {.row = 3,
               .name = "after_a_newer_transaction",
               .source = "E",
               .says = "the emulator has forgotten the outcome once the session used a newer one",
               .probe = CommitAgainAfterANewerTransaction,
               .heard = "1 row | OK | [1] | OK | OK",
               .by_emulators_rules = "1 row | OK | [1] | OK | FAILED_PRECONDITION"},
              {.row = 4,
               .name = "single_use_twice",
               .source = "E, P",
               .says = "is executed twice",
               .probe = SingleUseTwice,
               .heard = "OK | OK | a later timestamp"},
              {.row = 5,
               .name = "statement_after_commit",
               .source = "E",
               .says = "FAILED_PRECONDITION",
               .probe =
                   [](Probe& p) {
                     p.a.BeginWith(kInsertA);
                     p.a.Commit();
                     p.a.Sql("SELECT name FROM locktable");
                   },
               .heard = "1 row | OK | FAILED_PRECONDITION"},
              {.row = 6,
               .name = "rollback_after_commit",
               .source = "E",
               .says = "FAILED_PRECONDITION",
               .probe =
                   [](Probe& p) {
                     p.a.BeginWith(kInsertA);
                     p.a.Commit();
                     p.a.Rollback();
                   },
               .heard = "1 row | OK | FAILED_PRECONDITION"},
              {.row = 7,
               .name = "commit_after_rollback",
               .source = "E",
               .says = "FAILED_PRECONDITION",
               .probe =
                   [](Probe& p) {
                     p.a.BeginWith(kInsertA);
                     p.a.Rollback();
                     p.a.Commit();
                   },
               .heard = "1 row | OK | FAILED_PRECONDITION"},
              {.row = 8,
               .name = "commit_of_an_unknown_id",
               .source = "E",
               .says = "NOT_FOUND, and so is the id of another session",
               .probe = IdsOfNobody,
               .heard = "NOT_FOUND | 1 row | NOT_FOUND"},
              {.row = 8,
               .name = "commit_of_garbage",
               .source = "E",
               .says = "the emulator does not know what to say of an id that is no number",
               .differs = "ids are opaque: what is unknown is NOT_FOUND",
               .probe =
                   [](Probe& p) {
                     p.a.Use("garbage");
                     p.a.Commit();
                   },
               .heard = "NOT_FOUND",
               .from_emulator = "UNKNOWN"},
              {.row = 9,
               .name = "rollback_of_an_unknown_id",
               .source = "E, P",
               .says = "OK by the protos; NOT_FOUND in the emulator",
               .differs = "as the protos say",
               .probe =
                   [](Probe& p) {
                     p.a.Use("99999");
                     p.a.Rollback();
                   },
               .heard = "OK",
               .from_emulator = "NOT_FOUND"},
              {.row = 10,
               .name = "commit_of_no_transaction",
               .source = "E",
               .says = "INVALID_ARGUMENT",
               .probe = CommitOfNoTransaction,
               .heard = "INVALID_ARGUMENT"},
              {.row = 11,
               .name = "commit_of_a_read_only_transaction",
               .source = "E",
               .says = "FAILED_PRECONDITION",
               .probe =
                   [](Probe& p) {
                     p.a.Begin(BeginReadOnly{});
                     p.a.Sql("SELECT name FROM locktable");
                     p.a.Commit();
                   },
               .heard = "OK | no row | FAILED_PRECONDITION"},
              {.row = 12,
               .name = "commit_stats",
               .source = "E",
               .says = "the emulator returns none",
               .differs = "they are asked for, so they are returned",
               .probe = CommitStats,
               .heard = "OK | stats",
               .from_emulator = "OK | not: stats"},
              {.row = 13,
               .name = "max_commit_delay",
               .source = "D",
               .says = "from 0 to 500 ms; the emulator takes any",
               .differs = "as documented",
               .probe = MaxCommitDelay,
               .heard = "OK | INVALID_ARGUMENT",
               .from_emulator = "OK | OK"},
          },
  };
}

Section Sessions() {
  return {
      .number = 8,
      .title = "sessions, and what expires",
      .rows = 7,
      .facts =
          {
              {.row = 1,
               .name = "deleted_session",
               .source = "E, C",
               .says = "NOT_FOUND in words that clients look for, with ResourceInfo",
               .probe = DeletedSession,
               .heard = "NOT_FOUND | by its name | ResourceInfo"},
              {.row = 2,
               .name = "no_such_database_or_instance",
               .source = "E",
               .says = "NOT_FOUND, each in its words",
               .probe = NoSuchPlace,
               .heard = "NOT_FOUND | database | NOT_FOUND | instance"},
              {.row = 3,
               .name = "deleted_twice",
               .source = "E",
               .says = "is OK both times",
               .probe =
                   [](Probe& p) {
                     p.a.Delete();
                     p.a.Delete();
                   },
               .heard = "OK | OK"},
              {.row = 3,
               .name = "deletion_ends_what_runs",
               .source = "P",
               .says = "deleting a session cancels what runs in it",
               .shown_by = "DatabaseSession.ACallThatWaitsIsToldThatItsSessionIsGone"},
              {.row = 4,
               .name = "idle_session",
               .source = "S, D, P",
               .says = "is gone after 1 h without use, a multiplexed one after 28 days",
               .shown_by = "DatabaseSession.AnIdleOneExpiresAndUseKeepsItAlive"},
              {.row = 4,
               .name = "old_session",
               .source = "D",
               .says = "Spanner may also delete one that is more than 28 days old",
               .differs = "sessions do not end by age: no run lasts so long"},
              {.row = 5,
               .name = "idle_transaction",
               .source = "D",
               .says = "Spanner may abort one that was idle for 10 s; the emulator never does",
               .shown_by = "DatabaseWait.AnIdleHolderIsAbortedWhenItIsInTheWay"},
              {.row = 5,
               .name = "use_keeps_it_alive",
               .source = "D",
               .says = "any statement does",
               .shown_by = "DatabaseWait.AHolderIsNotIdleBeforeTheLimitNorAfterEachStatement"},
              {.row = 6,
               .name = "transactions_of_a_session",
               .source = "S, D",
               .says = "one is active on a regular session; the emulator remembers 32",
               .shown_by = "DatabaseSession.ARegularOneHasOneReadWriteTransaction"},
              {.row = 7,
               .name = "commit_without_a_precommit_token",
               .source = "P",
               .says = "on a multiplexed session FAILED_PRECONDITION",
               .probe =
                   [](Probe& p) {
                     p.m.BeginWith(kInsertA);
                     p.m.ForgetToken();
                     p.m.Commit();
                   },
               .heard = "1 row | FAILED_PRECONDITION",
               .from_emulator = kNotAsked},
              {.row = 7,
               .name = "commit_with_its_token",
               .source = "P",
               .says = "the newest token commits",
               .probe =
                   [](Probe& p) {
                     p.m.BeginWith(kInsertA);
                     p.m.Commit();
                   },
               .heard = "1 row | OK"},
              {.row = 7,
               .name = "commit_answered_by_a_token",
               .source = "P, S",
               .says = "an answer with a token has not committed",
               .shown_by =
                   "DatabasePrecommitToken.AnOldOneIsAnsweredByTheNewOneAndMutationsAreKept"},
          },
  };
}

}  // namespace whorl::facts
