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

void SessionCalls(Probe& p) {
  google::spanner::v1::BatchCreateSessionsRequest request;
  request.set_database(p.database());
  request.set_session_count(3);
  const auto heard =
      Ask(p, p.spanner().api(), &RawSpanner::Api::Stub::BatchCreateSessions, request);
  p.Is("3 sessions", heard.session_size() == 3);
  p.Hear(p.spanner().GetSession(p.a.session()).status);
}

}  // namespace

Section UnknownOutcomes() {
  Section fact{.number = 10, .title = "unknown outcomes, and how clients retry", .rows = 9};
  fact(1, "deadline_of_a_commit", "E",
       "a Commit that ran out of time was applied, and sent again it says so")
      .ShownBy("RunnerOutcomeTest.IsKnownWhenTheResentCommitIsAnswered");
  fact(2, "cancelled_commit", "E", "may or may not have been applied")
      .ShownBy("RunnerCancelTest.OfACommitIsUnknown");
  fact(3, "deadline_tells_nothing", "D, P",
       "DEADLINE_EXCEEDED, CANCELLED and UNKNOWN of a Commit leave it open")
      .ShownBy("RunnerOutcomeTest.IsUnknownExactlyWhenACommitsAnswerLeavesItOpen");
  fact(4, "timeouts_and_backoffs_of_calls", "P",
       "Commit and streams 1 h, other calls 30 s; UNAVAILABLE is sent again")
      .ShownBy("RunnerPolicyTest.GosIsWhatWasReadInItsSources");
  fact(5, "gos_pause_after_aborted", "C",
       "is RetryInfo's, or else grows by 3/10 from 20 ms to 32 s")
      .ShownBy("RunnerAbortedTest.TheBackoffGrowsByThreeTenthsToItsCap");
  fact(5, "gos_retry_info", "C", "comes before its own pause")
      .ShownBy("RunnerAbortedTest.RetryInfoDecidesThePause");
  fact(5, "gos_lost_session", "C", "is replaced and the transaction runs again")
      .ShownBy("RunnerSessionLostTest.AtTheFirstStatementTheTransactionBeginsExplicitlyOnAnother");
  fact(6, "spindle_has_no_deadline", "C", "so ABORTED is retried without end")
      .ShownBy("RunnerAbortedTest.IsRetriedWithoutEnd");
  fact(7, "cpp_client", "C", "gives up after 10 minutes, and begins explicitly to roll back")
      .NotCovered("another client than ours");
  fact(8, "node_client", "N", "pauses for powers of two of seconds after ABORTED")
      .NotCovered("another client than ours");
  fact(9, "own_insert_seen_as_anothers", "I, C",
       "after a lost answer the retried INSERT can hear ALREADY_EXISTS of its own row, which "
       "spindle takes for a loss")
      .ShownBy("SpindleV2FirstInsertTest.AnUnknownOutcomeIsAnErrorToo");
  return fact;
}

Section CallSequences() {
  Section fact{.number = 11,
               .title = "calls that clients make, and the least that a server has to have",
               .rows = 19};
  fact(1, "admin_calls", "N",
       "a database is made with its tables in one call, which is done at once")
      .Probed("OK | done | OK | ready | OK", [](Probe& p) {
        const Operation made =
            MakeDatabase(p, "made", "CREATE TABLE t (id INT64) PRIMARY KEY (id)");
        p.Is("done", made.done());
        database_admin::GetDatabaseRequest get;
        get.set_name(RawSpanner::DatabaseName("made"));
        const auto database =
            Ask(p, p.spanner().databases(), &RawSpanner::Databases::Stub::GetDatabase, get);
        p.Is("ready", database.state() == database_admin::Database::READY);
        Drop(p, "made");
      });
  fact(2, "opening_and_closing", "N",
       "sessions are made one at a time or in batches, and deleted in the end")
      .Probed("OK | 3 sessions | OK", SessionCalls);
  fact(3, "single_query", "N",
       "is a stream with an empty bound, a sequence number and empty options")
      .Probed("OK | a row | as of a time", [](Probe& p) {
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
      });
  fact(4, "insert", "N", "a statement that begins, then Commit with the newest token")
      .Probed("1 row | OK", [](Probe& p) {
        p.m.Stream({.sql = kInsertA, .selector = BeginReadWrite{}});
        p.m.Commit();
      });
  fact(5, "insert_of_an_existing_key", "N",
       "costs Node's client three statements and a begin, some 7 s")
      .NotCovered("another client than ours");
  fact(6, "heartbeat", "N, C", "the first statement carries the begin, the second its id")
      .ShownBy("RunnerTest.LaterStatementsUseTheIdAndTheNextSequenceNumber");
  fact(7, "token_as_a_parameter", "N", "a time with nine digits and type TIMESTAMP")
      .Probed("1 row | OK | [2026-01-02T03:04:05.60507Z]", [](Probe& p) {
        p.Insert("a");
        p.a.BeginWith("UPDATE locktable SET token = @t WHERE name = 'a'",
                      {Time("t", "2026-01-02T03:04:05.605070000Z")});
        p.a.Commit();
        p.a.Use("");
        p.a.Sql("SELECT token FROM locktable");
      });
  fact(8, "upsert", "N", "a begin with one of the mutations brings the token for Commit")
      .Probed({.model = "OK | a token | OK", .from_emulator = kNotAsked}, [](Probe& p) {
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
      });
  fact(9, "headers", "N", "name the database, route to the leader, and number the request")
      .ShownBy("ClientHeadersTest.RouteByTheSessionAndNameTheCall");
  fact(10, "gos_calls", "C", "DML is a unary ExecuteSql, the first with the begin")
      .ShownBy("RunnerTest.TheFirstStatementCarriesTheBegin");
  fact(10, "gos_second_commit", "C",
       "a Commit that is answered by a token is sent exactly once more")
      .ShownBy("RunnerPrecommitTest.ACommitAnsweredByATokenHasNotCommittedAndIsSentOnceMore");
  fact(11, "gos_masked_begin", "C", "a losing first INSERT costs four calls")
      .ShownBy("RunnerBeginTest.TheLosingInsertCostsFourCalls");
  fact(11, "gos_rollback", "C",
       "follows an error of the body, and neither a failed Commit nor a begin without an id")
      .ShownBy("RunnerRollbackTest.HoweverItGoesTheTransactionHadNoEffect");
  fact(12, "cpp_calls", "C", "a pool of regular sessions, kept alive by SELECT 1")
      .ShownBy("RegularPoolTest.KeepsIdleSessionsAliveBeforeTheHourIsOver");
  fact(13, "least_of_the_spanner_service", "N, C", "sessions, statements, reads, begins and ends")
      .Probed("OK | 3 sessions | OK | 1 row | OK | [a]", [](Probe& p) {
        SessionCalls(p);
        p.a.Stream({.sql = kInsertA, .selector = BeginReadWrite{}});
        p.a.Commit();
        p.a.Use("");
        p.a.Read({"name"});
      });
  fact(13, "what_the_spanner_service_can_do_without", "E", "partitions are UNIMPLEMENTED")
      .ShownBy("ServerCallsTest.NamesTheMethodThatItDoesNotHave");
  fact(14, "least_of_instances", "N", "making, finding, and the configurations")
      .Probed("OK | OK | configs", [](Probe& p) {
        instance_admin::GetInstanceRequest get;
        get.set_name(kInstance);
        Ask(p, p.spanner().instances(), &RawSpanner::Instances::Stub::GetInstance, get);
        instance_admin::ListInstanceConfigsRequest list;
        list.set_parent(kProject);
        const auto configs = Ask(p, p.spanner().instances(),
                                 &RawSpanner::Instances::Stub::ListInstanceConfigs, list);
        p.Is("configs", !configs.instance_configs().empty());
      });
  fact(15, "least_of_databases", "N",
       "making, finding, listing, changing, dropping; the DDL is printed anew")
      .Probed("OK | OK | printed anew", [](Probe& p) {
        database_admin::ListDatabasesRequest list;
        list.set_parent(kInstance);
        Ask(p, p.spanner().databases(), &RawSpanner::Databases::Stub::ListDatabases, list);
        database_admin::GetDatabaseDdlRequest get;
        get.set_database(p.database());
        const auto ddl =
            Ask(p, p.spanner().databases(), &RawSpanner::Databases::Stub::GetDatabaseDdl, get);
        p.Is("printed anew", ddl.statements_size() == 1 &&
                                 ddl.statements(0).starts_with(
                                     "CREATE TABLE locktable (\n  name STRING(MAX) NOT NULL,"));
      });
  fact(16, "least_of_operations", "N", "GetOperation, for those that are not done")
      .ShownBy("ServerAdminTest.AnswersAgainWithTheOperationThatIsDone");
  fact(17, "operations_are_done", "E", "at once, and named after their database")
      .Probed("OK | done | named after its database", [](Probe& p) {
        const Operation made = ChangeSchema(p, "CREATE TABLE other (id INT64) PRIMARY KEY (id)");
        p.Is("done", made.done());
        p.Is("named after its database", made.name().starts_with(p.database() + "/operations/"));
      });
  fact(18, "refusals_of_ddl", "E",
       "an instance or database that exists is ALREADY_EXISTS, a table FAILED_PRECONDITION, a "
       "wrong text INVALID_ARGUMENT")
      .Probed("ALREADY_EXISTS | ALREADY_EXISTS | FAILED_PRECONDITION | INVALID_ARGUMENT",
              [](Probe& p) {
                MakeInstance(p, "test-instance");
                MakeDatabase(p, p.database().substr(p.database().rfind('/') + 1), "");
                ChangeSchema(p, "CREATE TABLE locktable (id INT64) PRIMARY KEY (id)");
                ChangeSchema(p, "CREATE TABLE");
              });
  fact(18, "unnamed_columns_and_undeclared_parameters", "E",
       "a column without a name has the empty one; a parameter without a type is told in the "
       "metadata")
      .Probed("[1] | no name | no row | undeclared parameter", [](Probe& p) {
        const Outcome unnamed = p.a.Sql("SELECT 1");
        p.Is("no name", unnamed.metadata.row_type().fields(0).name().empty());
        const Outcome undeclared =
            p.a.Sql("SELECT name FROM locktable WHERE name = @n", {Text("n", "a", std::nullopt)});
        p.Is("undeclared parameter",
             undeclared.metadata.undeclared_parameters().fields_size() == 1 &&
                 undeclared.metadata.undeclared_parameters().fields(0).name() == "n");
      });
  fact(19, "last_statement", "E", "the emulator ignores it: later statements run")
      .Probed("[1] | 1 row | 1 row", [](Probe& p) {
        p.a.BeginWith("SELECT 1");
        p.a.Run({.sql = kInsertA, .last_statement = true});
        p.a.Sql("INSERT INTO locktable (name) VALUES ('b')");
      });
  fact(19, "statements_after_the_last", "P", "are to be refused")
      .Differs("nobody here says which statement is the last, so it is ignored");
  return fact;
}

}  // namespace whorl::facts
