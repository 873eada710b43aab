// Section 1: INSERT of a key that exists, and sequence numbers of DML.
#include "tests/facts/facts.h"
#include "tests/facts/probe.h"

namespace whorl::facts {
namespace {

constexpr const char* kInsertB = "INSERT INTO locktable (name) VALUES ('b')";

void SingleUseReadWriteDml(Probe& p) {
  google::spanner::v1::ExecuteSqlRequest request;
  request.set_session(p.a.session());
  request.mutable_transaction()->mutable_single_use()->mutable_read_write();
  request.set_sql(kInsertA);
  request.set_seqno(1);
  p.Hear(p.spanner().ExecuteSql(request).status);
}

}  // namespace

Section Inserts() {
  Section fact{.number = 1, .title = "insert of an existing key", .rows = 17};
  fact(1, "dml_after_a_begin", "E, I", "ALREADY_EXISTS at the statement, without details")
      .Probed("OK | ALREADY_EXISTS | not: details", [](Probe& p) {
        p.Insert("a");
        p.a.Begin();
        p.Is("details", !p.a.Sql(kInsertA).details.empty());
      });
  fact(2, "everything_after_it", "E, I",
       "Commit, other DML and queries repeat the error with its text; Rollback works")
      .Probed(
          "OK | ALREADY_EXISTS | ALREADY_EXISTS | same text | ALREADY_EXISTS | same text | "
          "ALREADY_EXISTS | same text | OK",
          [](Probe& p) {
            p.Insert("a");
            p.a.Begin();
            const std::string first = p.a.Sql(kInsertA).message;
            p.Is("same text", p.a.Commit().message == first);
            p.Is("same text", p.a.Sql(kInsertB).message == first);
            p.Is("same text", p.a.Sql("SELECT 1").message == first);
            p.a.Rollback();
          });
  fact(3, "dml_with_the_begin", "E, I", "ALREADY_EXISTS, no id, and no lock is left")
      .Probed("ALREADY_EXISTS | not: an id | 1 row | OK", [](Probe& p) {
        p.Insert("a");
        p.a.BeginWith(kInsertA);
        p.Is("an id", !p.a.transaction().empty());
        p.b.BeginWith("UPDATE locktable SET writer = 'b' WHERE name = 'a'");
        p.b.Commit();
      });
  fact(3, "streamed_dml_with_the_begin", "E", "the same by ExecuteStreamingSql")
      .Probed("ALREADY_EXISTS | not: an id", [](Probe& p) {
        p.Insert("a");
        p.a.Stream({.sql = kInsertA, .selector = BeginReadWrite{}});
        p.Is("an id", !p.a.transaction().empty());
      });
  fact(4, "batch_dml", "E",
       "the call is OK; the error stands in its body, behind the statements before")
      .Probed("1 row, ALREADY_EXISTS", [](Probe& p) {
        p.Insert("a");
        p.a.Batch({kInsertB, kInsertA, kInsertB});
      });
  fact(5, "twice_in_one_statement", "E", "ALREADY_EXISTS").Probed("ALREADY_EXISTS", [](Probe& p) {
    p.a.BeginWith("INSERT INTO locktable (name) VALUES ('d'), ('d')");
  });
  fact(6, "twice_in_one_transaction", "E", "ALREADY_EXISTS")
      .Probed("1 row | ALREADY_EXISTS", [](Probe& p) {
        p.a.BeginWith(kInsertA);
        p.a.Sql(kInsertA);
      });
  fact(7, "mutation_insert", "E", "ALREADY_EXISTS at Commit, and at a second Commit again")
      .Probed("OK | ALREADY_EXISTS | ALREADY_EXISTS", [](Probe& p) {
        p.Insert("a");
        p.a.Begin();
        p.a.Commit({Put(MutationKind::kInsert, {"name"}, {std::string("a")})});
        p.a.Commit();
      });
  fact(8, "mutation_update_of_nothing", "E", "NOT_FOUND").Probed("NOT_FOUND", [](Probe& p) {
    p.a.Commit(
        {Put(MutationKind::kUpdate, {"name", "writer"}, {std::string("zzz"), std::string("a")})});
  });
  fact(9, "mutation_delete_of_nothing_and_upsert", "E", "both are OK")
      .Probed("OK | OK | OK", [](Probe& p) {
        p.a.Commit({DeleteRow("zzz")});
        p.a.Commit({Put(MutationKind::kInsertOrUpdate, {"name"}, {std::string("a")})});
        p.a.Commit({Put(MutationKind::kInsertOrUpdate, {"name"}, {std::string("a")})});
      });
  fact(10, "insert_or_ignore_and_or_update", "E", "no row and one row, of one that exists")
      .Probed("0 rows | 1 row | OK", [](Probe& p) {
        p.Insert("a");
        p.a.BeginWith("INSERT OR IGNORE INTO locktable (name) VALUES ('a')");
        p.a.Sql("INSERT OR UPDATE INTO locktable (name, writer) VALUES ('a', 'w')");
        p.a.Commit();
      });
  fact(11, "null_key", "E", "FAILED_PRECONDITION").Probed("FAILED_PRECONDITION", [](Probe& p) {
    p.a.BeginWith("INSERT INTO locktable (name) VALUES (NULL)");
  });
  fact(12, "race", "E",
       "of two clients that insert one key and retry, one is OK and one hears ALREADY_EXISTS")
      .Probed({.model = "1 row | OK | 1 row | OK | ABORTED | ALREADY_EXISTS",
               .by_emulators_rules = "1 row | OK | ABORTED | OK | ABORTED | ALREADY_EXISTS"},
              [](Probe& p) {
                // Two clients insert the same key and, as clients do, retry when they are aborted.
                p.a.BeginWith(kInsertA);
                p.b.Begin();
                p.b.Sql(kInsertA);
                p.a.Commit();
                p.b.Commit();
                p.b.BeginWith(kInsertA);
              });
  fact(13, "dml_needs_a_read_write_transaction", "E",
       "INVALID_ARGUMENT, without a transaction and with a single-use one")
      .Probed("INVALID_ARGUMENT | INVALID_ARGUMENT", [](Probe& p) {
        p.a.Sql(kInsertA);
        SingleUseReadWriteDml(p);
      });
  fact(14, "unknown_names", "E", "an unknown table or column is INVALID_ARGUMENT")
      .Probed("INVALID_ARGUMENT | INVALID_ARGUMENT", [](Probe& p) {
        p.a.Sql("SELECT 1 FROM nosuch");
        p.a.Sql("SELECT nosuch FROM locktable");
      });
  fact(15, "same_sequence_number", "E, P",
       "the same statement under the same number is answered and not run, also after Commit")
      .Probed("OK | 1 row | 1 row | OK | 1 row", [](Probe& p) {
        p.a.Begin();
        p.a.Run({.sql = kInsertA, .sequence = 7});
        p.a.Run({.sql = kInsertA, .sequence = 7});
        p.a.Commit();
        p.a.Run({.sql = kInsertA, .sequence = 7});
      });
  fact(16, "wrong_sequence_numbers", "E",
       "a lower number, or the same of another statement, is INVALID_ARGUMENT")
      .Probed("OK | 1 row | INVALID_ARGUMENT | INVALID_ARGUMENT", [](Probe& p) {
        p.a.Begin();
        p.a.Run({.sql = kInsertA, .sequence = 7});
        p.a.Run({.sql = kInsertB, .sequence = 6});
        p.a.Run({.sql = kInsertB, .sequence = 7});
      });
  fact(17, "no_sequence_number", "E", "0 is a number as any other")
      .Probed("OK | 1 row | 1 row | INVALID_ARGUMENT", [](Probe& p) {
        p.a.Begin();
        p.a.Run({.sql = kInsertA, .sequence = 0});
        p.a.Run({.sql = kInsertA, .sequence = 0});
        p.a.Run({.sql = kInsertB, .sequence = 0});
      });
  return fact;
}

}  // namespace whorl::facts
