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

// Two clients insert the same key and, as clients do, retry when they are aborted.
void Race(Probe& p) {
  p.a.BeginWith(kInsertA);
  p.b.Begin();
  p.b.Sql(kInsertA);
  p.a.Commit();
  p.b.Commit();
  p.b.BeginWith(kInsertA);
}

}  // namespace

Section Inserts() {
  return {
      .number = 1,
      .title = "insert of an existing key",
      .rows = 17,
      .facts =
          {
              {.row = 1,
               .name = "dml_after_a_begin",
               .source = "E, I",
               .says = "ALREADY_EXISTS at the statement, without details",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.Begin();
                     p.Is("details", !p.a.Sql(kInsertA).details.empty());
                   },
               .heard = "OK | ALREADY_EXISTS | not: details"},
              {.row = 2,
               .name = "everything_after_it",
               .source = "E, I",
               .says = "Commit, other DML and queries repeat the error with its text; Rollback "
                       "works",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.Begin();
                     const std::string first = p.a.Sql(kInsertA).message;
                     p.Is("same text", p.a.Commit().message == first);
                     p.Is("same text", p.a.Sql(kInsertB).message == first);
                     p.Is("same text", p.a.Sql("SELECT 1").message == first);
                     p.a.Rollback();
                   },
               .heard = "OK | ALREADY_EXISTS | ALREADY_EXISTS | same text | ALREADY_EXISTS | same "
                        "text | ALREADY_EXISTS | same text | OK"},
              {.row = 3,
               .name = "dml_with_the_begin",
               .source = "E, I",
               .says = "ALREADY_EXISTS, no id, and no lock is left",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.BeginWith(kInsertA);
                     p.Is("an id", !p.a.transaction().empty());
                     p.b.BeginWith("UPDATE locktable SET writer = 'b' WHERE name = 'a'");
                     p.b.Commit();
                   },
               .heard = "ALREADY_EXISTS | not: an id | 1 row | OK"},
              {.row = 3,
               .name = "streamed_dml_with_the_begin",
               .source = "E",
               .says = "the same by ExecuteStreamingSql",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.Stream({.sql = kInsertA, .selector = BeginReadWrite{}});
                     p.Is("an id", !p.a.transaction().empty());
                   },
               .heard = "ALREADY_EXISTS | not: an id"},
              {.row = 4,
               .name = "batch_dml",
               .source = "E",
               .says = "the call is OK; the error stands in its body, behind the statements before",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.Batch({kInsertB, kInsertA, kInsertB});
                   },
               .heard = "1 row, ALREADY_EXISTS"},
              {.row = 5,
               .name = "twice_in_one_statement",
               .source = "E",
               .says = "ALREADY_EXISTS",
               .probe =
                   [](Probe& p) {
                     p.a.BeginWith("INSERT INTO locktable (name) VALUES ('d'), ('d')");
                   },
               .heard = "ALREADY_EXISTS"},
              {.row = 6,
               .name = "twice_in_one_transaction",
               .source = "E",
               .says = "ALREADY_EXISTS",
               .probe =
                   [](Probe& p) {
                     p.a.BeginWith(kInsertA);
                     p.a.Sql(kInsertA);
                   },
               .heard = "1 row | ALREADY_EXISTS"},
              {.row = 7,
               .name = "mutation_insert",
               .source = "E",
               .says = "ALREADY_EXISTS at Commit, and at a second Commit again",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.Begin();
                     p.a.Commit({Put(MutationKind::kInsert, {"name"}, {std::string("a")})});
                     p.a.Commit();
                   },
               .heard = "OK | ALREADY_EXISTS | ALREADY_EXISTS"},
              {.row = 8,
               .name = "mutation_update_of_nothing",
               .source = "E",
               .says = "NOT_FOUND",
               .probe =
                   [](Probe& p) {
                     p.a.Commit({Put(MutationKind::kUpdate, {"name", "writer"},
                                     {std::string("zzz"), std::string("a")})});
                   },
               .heard = "NOT_FOUND"},
              {.row = 9,
               .name = "mutation_delete_of_nothing_and_upsert",
               .source = "E",
               .says = "both are OK",
               .probe =
                   [](Probe& p) {
                     p.a.Commit({DeleteRow("zzz")});
                     p.a.Commit({Put(MutationKind::kInsertOrUpdate, {"name"}, {std::string("a")})});
                     p.a.Commit({Put(MutationKind::kInsertOrUpdate, {"name"}, {std::string("a")})});
                   },
               .heard = "OK | OK | OK"},
              {.row = 10,
               .name = "insert_or_ignore_and_or_update",
               .source = "E",
               .says = "no row and one row, of one that exists",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.BeginWith("INSERT OR IGNORE INTO locktable (name) VALUES ('a')");
                     p.a.Sql("INSERT OR UPDATE INTO locktable (name, writer) VALUES ('a', 'w')");
                     p.a.Commit();
                   },
               .heard = "0 rows | 1 row | OK"},
              {.row = 11,
               .name = "null_key",
               .source = "E",
               .says = "FAILED_PRECONDITION",
               .probe =
                   [](Probe& p) { p.a.BeginWith("INSERT INTO locktable (name) VALUES (NULL)"); },
               .heard = "FAILED_PRECONDITION"},
              {.row = 12,
               .name = "race",
               .source = "E",
               .says = "of two clients that insert one key and retry, one is OK and one hears "
                       "ALREADY_EXISTS",
               .probe = Race,
               .heard = "1 row | OK | 1 row | OK | ABORTED | ALREADY_EXISTS",
               .by_emulators_rules = "1 row | OK | ABORTED | OK | ABORTED | ALREADY_EXISTS"},
              {.row = 13,
               .name = "dml_needs_a_read_write_transaction",
               .source = "E",
               .says = "INVALID_ARGUMENT, without a transaction and with a single-use one",
               .probe =
                   [](Probe& p) {
                     p.a.Sql(kInsertA);
                     SingleUseReadWriteDml(p);
                   },
               .heard = "INVALID_ARGUMENT | INVALID_ARGUMENT"},
              {.row = 14,
               .name = "unknown_names",
               .source = "E",
               .says = "an unknown table or column is INVALID_ARGUMENT",
               .probe =
                   [](Probe& p) {
                     p.a.Sql("SELECT 1 FROM nosuch");
                     p.a.Sql("SELECT nosuch FROM locktable");
                   },
               .heard = "INVALID_ARGUMENT | INVALID_ARGUMENT"},
              {.row = 15,
               .name = "same_sequence_number",
               .source = "E, P",
               .says = "the same statement under the same number is answered and not run, also "
                       "after Commit",
               .probe =
                   [](Probe& p) {
                     p.a.Begin();
                     p.a.Run({.sql = kInsertA, .sequence = 7});
                     p.a.Run({.sql = kInsertA, .sequence = 7});
                     p.a.Commit();
                     p.a.Run({.sql = kInsertA, .sequence = 7});
                   },
               .heard = "OK | 1 row | 1 row | OK | 1 row"},
              {.row = 16,
               .name = "wrong_sequence_numbers",
               .source = "E",
               .says = "a lower number, or the same of another statement, is INVALID_ARGUMENT",
               .probe =
                   [](Probe& p) {
                     p.a.Begin();
                     p.a.Run({.sql = kInsertA, .sequence = 7});
                     p.a.Run({.sql = kInsertB, .sequence = 6});
                     p.a.Run({.sql = kInsertB, .sequence = 7});
                   },
               .heard = "OK | 1 row | INVALID_ARGUMENT | INVALID_ARGUMENT"},
              {.row = 17,
               .name = "no_sequence_number",
               .source = "E",
               .says = "0 is a number as any other",
               .probe =
                   [](Probe& p) {
                     p.a.Begin();
                     p.a.Run({.sql = kInsertA, .sequence = 0});
                     p.a.Run({.sql = kInsertA, .sequence = 0});
                     p.a.Run({.sql = kInsertB, .sequence = 0});
                   },
               .heard = "OK | 1 row | 1 row | INVALID_ARGUMENT"},
          },
  };
}

}  // namespace whorl::facts
