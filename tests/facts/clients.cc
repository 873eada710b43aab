// Sections 10 and 11: unknown outcomes, the calls that clients send, and the answers that a server
// must give.
#include <string>

#include "tests/facts/facts.h"
#include "tests/facts/probe.h"

namespace whorl::facts {
namespace {

namespace database_admin = google::spanner::admin::database::v1;
namespace instance_admin = google::spanner::admin::instance::v1;
using Operation = google::longrunning::Operation;

constexpr const char* kProject = "projects/test-project";
constexpr const char* kInstance = "projects/test-project/instances/test-instance";

// One call of the admin services.
template <typename Reply, typename Stub, typename Request>
Reply Ask(Probe& p, Stub& stub,
          grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
          const Request& request) {
  grpc::ClientContext context;
  Reply reply;
  p.Hear((stub.*method)(&context, request, &reply));
  return reply;
}

Operation MakeDatabase(Probe& p, const std::string& id, const std::string& statement) {
  database_admin::CreateDatabaseRequest request;
  request.set_parent(kInstance);
  request.set_create_statement("CREATE DATABASE `" + id + "`");
  if (!statement.empty()) request.add_extra_statements(statement);
  return Ask(p, p.spanner().databases(), &RawSpanner::Databases::Stub::CreateDatabase, request);
}

Operation ChangeSchema(Probe& p, const std::string& statement) {
  database_admin::UpdateDatabaseDdlRequest request;
  request.set_database(p.database());
  request.add_statements(statement);
  return Ask(p, p.spanner().databases(), &RawSpanner::Databases::Stub::UpdateDatabaseDdl, request);
}

void Drop(Probe& p, const std::string& id) {
  database_admin::DropDatabaseRequest request;
  request.set_database(RawSpanner::DatabaseName(id));
  Ask(p, p.spanner().databases(), &RawSpanner::Databases::Stub::DropDatabase, request);
}

Operation MakeInstance(Probe& p, const std::string& id) {
  instance_admin::CreateInstanceRequest request;
  request.set_parent(kProject);
  request.set_instance_id(id);
  request.mutable_instance()->set_config(
      std::string(kProject).append("/instanceConfigs/emulator-config"));
  request.mutable_instance()->set_display_name(id);
  request.mutable_instance()->set_node_count(1);
  return Ask(p, p.spanner().instances(), &RawSpanner::Instances::Stub::CreateInstance, request);
}

void AdminCalls(Probe& p) {
  const Operation made = MakeDatabase(p, "made", "CREATE TABLE t (id INT64) PRIMARY KEY (id)");
  p.Is("done", made.done());
  database_admin::GetDatabaseRequest get;
  get.set_name(RawSpanner::DatabaseName("made"));
  const auto database =
      Ask(p, p.spanner().databases(), &RawSpanner::Databases::Stub::GetDatabase, get);
  p.Is("ready", database.state() == database_admin::Database::READY);
  Drop(p, "made");
}

void InstanceCalls(Probe& p) {
  instance_admin::GetInstanceRequest get;
  get.set_name(kInstance);
  Ask(p, p.spanner().instances(), &RawSpanner::Instances::Stub::GetInstance, get);
  instance_admin::ListInstanceConfigsRequest list;
  list.set_parent(kProject);
  const auto configs =
      Ask(p, p.spanner().instances(), &RawSpanner::Instances::Stub::ListInstanceConfigs, list);
  p.Is("configs", !configs.instance_configs().empty());
}

void DatabaseCalls(Probe& p) {
  database_admin::ListDatabasesRequest list;
  list.set_parent(kInstance);
  Ask(p, p.spanner().databases(), &RawSpanner::Databases::Stub::ListDatabases, list);
  database_admin::GetDatabaseDdlRequest get;
  get.set_database(p.database());
  const auto ddl =
      Ask(p, p.spanner().databases(), &RawSpanner::Databases::Stub::GetDatabaseDdl, get);
  p.Is("printed anew",
       ddl.statements_size() == 1 &&
           ddl.statements(0).starts_with("CREATE TABLE locktable (\n  name STRING(MAX) NOT NULL,"));
}

void Operations(Probe& p) {
  const Operation made = ChangeSchema(p, "CREATE TABLE other (id INT64) PRIMARY KEY (id)");
  p.Is("done", made.done());
  p.Is("named after its database", made.name().starts_with(p.database() + "/operations/"));
}

void SessionCalls(Probe& p) {
  google::spanner::v1::BatchCreateSessionsRequest request;
  request.set_database(p.database());
  request.set_session_count(3);
  const auto heard =
      Ask(p, p.spanner().api(), &RawSpanner::Api::Stub::BatchCreateSessions, request);
  p.Is("3 sessions", heard.session_size() == 3);
  p.Hear(p.spanner().GetSession(p.a.session()).status);
}

void Refusals(Probe& p) {
  MakeInstance(p, "test-instance");
  MakeDatabase(p, p.database().substr(p.database().rfind('/') + 1), "");
  ChangeSchema(p, "CREATE TABLE locktable (id INT64) PRIMARY KEY (id)");
  ChangeSchema(p, "CREATE TABLE");
}

void UnnamedColumnsAndParameters(Probe& p) {
  const Outcome unnamed = p.a.Sql("SELECT 1");
  p.Is("no name", unnamed.metadata.row_type().fields(0).name().empty());
  const Outcome undeclared =
      p.a.Sql("SELECT name FROM locktable WHERE name = @n", {Text("n", "a", std::nullopt)});
  p.Is("undeclared parameter",
       undeclared.metadata.undeclared_parameters().fields_size() == 1 &&
           undeclared.metadata.undeclared_parameters().fields(0).name() == "n");
}

void NodesQuery(Probe& p) {
  p.Insert("a");
  google::spanner::v1::ExecuteSqlRequest request;
  request.set_session(p.a.session());
  request.set_sql("SELECT name FROM locktable");
  request.mutable_transaction()
      ->mutable_single_use()
      ->mutable_read_only()
      ->set_return_read_timestamp(true);
  request.set_seqno(1);
  request.mutable_query_options();
  request.mutable_request_options();
  const auto heard = p.spanner().ExecuteStreamingSql(request);
  p.Hear(heard.status);
  p.Is("a row", heard.reply.size() == 1 && heard.reply[0].values_size() == 1);
  p.Is("as of a time",
       !heard.reply.empty() && heard.reply[0].metadata().transaction().has_read_timestamp());
}

void NodesUpsert(Probe& p) {
  google::spanner::v1::BeginTransactionRequest begin;
  begin.set_session(p.m.session());
  begin.mutable_options()->mutable_read_write();
  auto& key = *begin.mutable_mutation_key()->mutable_insert_or_update();
  key.set_table("locktable");
  key.add_columns("name");
  key.add_values()->add_values()->set_string_value("a");
  const auto begun = p.spanner().BeginTransaction(begin);
  p.Hear(begun.status);
  p.Is("a token", begun.reply.has_precommit_token());
  google::spanner::v1::CommitRequest commit;
  commit.set_session(p.m.session());
  commit.set_transaction_id(begun.reply.id());
  *commit.add_mutations() = begin.mutation_key();
  if (begun.reply.has_precommit_token()) {
    *commit.mutable_precommit_token() = begun.reply.precommit_token();
  }
  p.Hear(p.spanner().Commit(commit).status);
}

void LastStatement(Probe& p) {
  p.a.BeginWith("SELECT 1");
  p.a.Run({.sql = kInsertA, .last_statement = true});
  p.a.Sql("INSERT INTO locktable (name) VALUES ('b')");
}

}  // namespace

Section UnknownOutcomes() {
  return {
      .number = 10,
      .title = "unknown outcomes, and how clients retry",
      .rows = 9,
      .facts =
          {
              {.row = 1,
               .name = "deadline_of_a_commit",
               .source = "E",
               .says = "a Commit that ran out of time was applied, and sent again it says so",
               .shown_by = "RunnerOutcomeTest.IsKnownWhenTheResentCommitIsAnswered"},
              {.row = 2,
               .name = "cancelled_commit",
               .source = "E",
               .says = "may or may not have been applied",
               .shown_by = "RunnerCancelTest.OfACommitIsUnknown"},
              {.row = 3,
               .name = "deadline_tells_nothing",
               .source = "D, P",
               .says = "DEADLINE_EXCEEDED, CANCELLED and UNKNOWN of a Commit leave it open",
               .shown_by = "RunnerOutcomeTest.IsUnknownExactlyWhenACommitsAnswerLeavesItOpen"},
              {.row = 4,
               .name = "timeouts_and_backoffs_of_calls",
               .source = "P",
               .says = "Commit and streams 1 h, other calls 30 s; UNAVAILABLE is sent again",
               .shown_by = "RunnerPolicyTest.GosIsWhatWasReadInItsSources"},
              {.row = 5,
               .name = "gos_pause_after_aborted",
               .source = "C",
               .says = "is RetryInfo's, or else grows by 3/10 from 20 ms to 32 s",
               .shown_by = "RunnerAbortedTest.TheBackoffGrowsByThreeTenthsToItsCap"},
              {.row = 5,
               .name = "gos_retry_info",
               .source = "C",
               .says = "comes before its own pause",
               .shown_by = "RunnerAbortedTest.RetryInfoDecidesThePause"},
              {.row = 5,
               .name = "gos_lost_session",
               .source = "C",
               .says = "is replaced and the transaction runs again",
               .shown_by = "RunnerSessionLostTest."
                           "AtTheFirstStatementTheTransactionBeginsExplicitlyOnAnother"},
              {.row = 6,
               .name = "spindle_has_no_deadline",
               .source = "C",
               .says = "so ABORTED is retried without end",
               .shown_by = "RunnerAbortedTest.IsRetriedWithoutEnd"},
              {.row = 7,
               .name = "cpp_client",
               .source = "C",
               .says = "gives up after 10 minutes, and begins explicitly to roll back",
               .not_covered = "another client than ours"},
              {.row = 8,
               .name = "node_client",
               .source = "N",
               .says = "pauses for powers of two of seconds after ABORTED",
               .not_covered = "another client than ours"},
              {.row = 9,
               .name = "own_insert_seen_as_anothers",
               .source = "I, C",
               .says = "after a lost answer the retried INSERT can hear ALREADY_EXISTS of its own "
                       "row, which spindle takes for a loss",
               .shown_by = "SpindleV2FirstInsertTest.AnUnknownOutcomeIsAnErrorToo"},
          },
  };
}

Section CallSequences() {
  return {
      .number = 11,
      .title = "calls that clients make, and the least that a server has to have",
      .rows = 19,
      .facts =
          {
              {.row = 1,
               .name = "admin_calls",
               .source = "N",
               .says = "a database is made with its tables in one call, which is done at once",
               .probe = AdminCalls,
               .heard = "OK | done | OK | ready | OK"},
              {.row = 2,
               .name = "opening_and_closing",
               .source = "N",
               .says = "sessions are made one at a time or in batches, and deleted in the end",
               .probe = SessionCalls,
               .heard = "OK | 3 sessions | OK"},
              {.row = 3,
               .name = "single_query",
               .source = "N",
               .says = "is a stream with an empty bound, a sequence number and empty options",
               .probe = NodesQuery,
               .heard = "OK | a row | as of a time"},
              {.row = 4,
               .name = "insert",
               .source = "N",
               .says = "a statement that begins, then Commit with the newest token",
               .probe =
                   [](Probe& p) {
                     p.m.Stream({.sql = kInsertA, .selector = BeginReadWrite{}});
                     p.m.Commit();
                   },
               .heard = "1 row | OK"},
              {.row = 5,
               .name = "insert_of_an_existing_key",
               .source = "N",
               .says = "costs Node's client three statements and a begin, some 7 s",
               .not_covered = "another client than ours"},
              {.row = 6,
               .name = "heartbeat",
               .source = "N, C",
               .says = "the first statement carries the begin, the second its id",
               .shown_by = "RunnerTest.LaterStatementsUseTheIdAndTheNextSequenceNumber"},
              {.row = 7,
               .name = "token_as_a_parameter",
               .source = "N",
               .says = "a time with nine digits and type TIMESTAMP",
               .probe =
                   [](Probe& p) {
                     p.Insert("a");
                     p.a.BeginWith("UPDATE locktable SET token = @t WHERE name = 'a'",
                                   {Time("t", "2026-01-02T03:04:05.605070000Z")});
                     p.a.Commit();
                     p.a.Use("");
                     p.a.Sql("SELECT token FROM locktable");
                   },
               .heard = "1 row | OK | [2026-01-02T03:04:05.60507Z]"},
              {.row = 8,
               .name = "upsert",
               .source = "N",
               .says = "a begin with one of the mutations brings the token for Commit",
               .probe = NodesUpsert,
               .heard = "OK | a token | OK",
               .from_emulator = kNotAsked},
              {.row = 9,
               .name = "headers",
               .source = "N",
               .says = "name the database, route to the leader, and number the request",
               .shown_by = "ClientHeadersTest.RouteByTheSessionAndNameTheCall"},
              {.row = 10,
               .name = "gos_calls",
               .source = "C",
               .says = "DML is a unary ExecuteSql, the first with the begin",
               .shown_by = "RunnerTest.TheFirstStatementCarriesTheBegin"},
              {.row = 10,
               .name = "gos_second_commit",
               .source = "C",
               .says = "a Commit that is answered by a token is sent exactly once more",
               .shown_by =
                   "RunnerPrecommitTest.ACommitAnsweredByATokenHasNotCommittedAndIsSentOnceMore"},
              {.row = 11,
               .name = "gos_masked_begin",
               .source = "C",
               .says = "a losing first INSERT costs four calls",
               .shown_by = "RunnerBeginTest.TheLosingInsertCostsFourCalls"},
              {.row = 11,
               .name = "gos_rollback",
               .source = "C",
               .says = "follows an error of the body, and neither a failed Commit nor a begin "
                       "without an id",
               .shown_by = "RunnerRollbackTest.HoweverItGoesTheTransactionHadNoEffect"},
              {.row = 12,
               .name = "cpp_calls",
               .source = "C",
               .says = "a pool of regular sessions, kept alive by SELECT 1",
               .shown_by = "RegularPoolTest.KeepsIdleSessionsAliveBeforeTheHourIsOver"},
              {.row = 13,
               .name = "least_of_the_spanner_service",
               .source = "N, C",
               .says = "sessions, statements, reads, begins and ends",
               .probe =
                   [](Probe& p) {
                     SessionCalls(p);
                     p.a.Stream({.sql = kInsertA, .selector = BeginReadWrite{}});
                     p.a.Commit();
                     p.a.Use("");
                     p.a.Read({"name"});
                   },
               .heard = "OK | 3 sessions | OK | 1 row | OK | [a]"},
              {.row = 13,
               .name = "what_the_spanner_service_can_do_without",
               .source = "E",
               .says = "partitions are UNIMPLEMENTED",
               .shown_by = "ServerCallsTest.NamesTheMethodThatItDoesNotHave"},
              {.row = 14,
               .name = "least_of_instances",
               .source = "N",
               .says = "making, finding, and the configurations",
               .probe = InstanceCalls,
               .heard = "OK | OK | configs"},
              {.row = 15,
               .name = "least_of_databases",
               .source = "N",
               .says = "making, finding, listing, changing, dropping; the DDL is printed anew",
               .probe = DatabaseCalls,
               .heard = "OK | OK | printed anew"},
              {.row = 16,
               .name = "least_of_operations",
               .source = "N",
               .says = "GetOperation, for those that are not done",
               .shown_by = "ServerAdminTest.AnswersAgainWithTheOperationThatIsDone"},
              {.row = 17,
               .name = "operations_are_done",
               .source = "E",
               .says = "at once, and named after their database",
               .probe = Operations,
               .heard = "OK | done | named after its database"},
              {.row = 18,
               .name = "refusals_of_ddl",
               .source = "E",
               .says = "an instance or database that exists is ALREADY_EXISTS, a table "
                       "FAILED_PRECONDITION, a wrong text INVALID_ARGUMENT",
               .probe = Refusals,
               .heard = "ALREADY_EXISTS | ALREADY_EXISTS | FAILED_PRECONDITION | "
                        "INVALID_ARGUMENT"},
              {.row = 18,
               .name = "unnamed_columns_and_undeclared_parameters",
               .source = "E",
               .says = "a column without a name has the empty one; a parameter without a type is "
                       "told in the metadata",
               .probe = UnnamedColumnsAndParameters,
               .heard = "[1] | no name | no row | undeclared parameter"},
              {.row = 19,
               .name = "last_statement",
               .source = "E",
               .says = "the emulator ignores it: later statements run",
               .probe = LastStatement,
               .heard = "[1] | 1 row | 1 row"},
              {.row = 19,
               .name = "statements_after_the_last",
               .source = "P",
               .says = "are to be refused",
               .differs = "nobody here says which statement is the last, so it is ignored"},
          },
  };
}

}  // namespace whorl::facts
