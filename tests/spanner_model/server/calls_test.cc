// The server's answers to single clients, method by method.
#include <array>
#include <set>

#include "tests/spanner_model/server/testing.h"

namespace whorl::server::calls_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class ServerCallsTest : public testing::Test {
 protected:
  ServerCallsTest() : server_(StartOrThrow(TestOptions())), client_(*server_) {}

  void Put(const std::string& key, int64_t value) {
    const Response commit = client_.Put(key, value);
    ASSERT_TRUE(commit.status.ok()) << FormatStatus(commit.status);
  }

  // A server with other options than the first one's.
  void Restart(ServerOptions options) {
    server_ = StartOrThrow(std::move(options));
    client_ = TestClient(*server_);
  }
  // To be filled in further, in a session of its own.
  v1::ExecuteSqlRequest Asks(const std::string& sql) {
    v1::ExecuteSqlRequest request;
    request.set_session(client_.OpenSession().str());
    request.set_sql(sql);
    return request;
  }
  grpc::Status MakeSessions(int count, v1::BatchCreateSessionsResponse* reply) {
    grpc::ClientContext context;
    v1::BatchCreateSessionsRequest request;
    request.set_database(TestDatabase());
    request.set_session_count(count);
    return client_.raw().api().BatchCreateSessions(&context, request, reply);
  }

  std::unique_ptr<Server> server_;
  TestClient client_;
};

// A client of an official library that has nothing to commit commits anyway.
TEST_F(ServerCallsTest, ATransactionThatDidNothingNeedsNoPrecommitToken) {
  const SessionName session = client_.OpenSession(true);
  const Response begun =
      client_.Call(BeginTransaction{.session = session, .options = BeginReadWrite{}});
  ASSERT_TRUE(begun.status.ok()) << FormatStatus(begun.status);
  Commit commit{.session = session, .transaction = begun.transaction};
  commit.mutations = {PutRow("a", 1)};
  EXPECT_EQ(client_.Call(commit).status.code, Code::kFailedPrecondition);
  commit.mutations.clear();
  EXPECT_EQ(client_.Call(commit).status.code, Code::kOk);
}

TEST_F(ServerCallsTest, ListsSessions) {
  const SessionName first = client_.OpenSession();
  const SessionName second = client_.OpenSession();
  v1::ListSessionsRequest request;
  request.set_database(std::string(first.view().substr(0, first.view().find("/sessions/"))));
  auto heard = client_.raw().ListSessions(request);
  ASSERT_TRUE(heard.ok()) << heard.status.error_message();
  ASSERT_EQ(heard.reply.sessions_size(), 2);
  EXPECT_EQ(heard.reply.sessions(0).name(), first);
  EXPECT_EQ(heard.reply.sessions(1).name(), second);
  client_.Call(DeleteSession{.session = first});
  EXPECT_EQ(client_.raw().ListSessions(request).reply.sessions_size(), 1);
  request.set_database(request.database() + "-not");
  EXPECT_EQ(client_.raw().ListSessions(request).status.error_code(), grpc::StatusCode::NOT_FOUND);
}

// One group that fails is no matter of the others.
TEST_F(ServerCallsTest, WritesGroupsOfMutations) {
  Put("b", 1);
  v1::BatchWriteRequest request;
  request.set_session(client_.OpenSession().str());
  const auto add = [&request](const Mutation& mutation) {
    const v1::CommitRequest commit =
        wire::Encode(Commit{.transaction = SingleUseWrite{}, .mutations = {mutation}});
    *request.add_mutation_groups()->mutable_mutations() = commit.mutations();
  };
  add(PutRow("a", 1));
  Mutation again = PutRow("b", 2);
  again.kind = MutationKind::kInsert;
  add(again);
  Mutation wrong = PutRow("c", 3);
  wrong.table = "none";
  add(wrong);
  const auto heard = client_.raw().BatchWrite(request);
  ASSERT_TRUE(heard.ok()) << heard.status.error_message();
  std::map<int32_t, int32_t> codes;
  for (const v1::BatchWriteResponse& response : heard.reply) {
    ASSERT_EQ(response.indexes_size(), 1);
    codes[response.indexes(0)] = response.status().code();
    EXPECT_EQ(response.has_commit_timestamp(), response.status().code() == 0);
  }
  EXPECT_EQ(codes, (std::map<int32_t, int32_t>{{0, 0},
                                               {1, static_cast<int>(Code::kAlreadyExists)},
                                               {2, static_cast<int>(Code::kNotFound)}}));
  EXPECT_THAT(client_.Query("SELECT k, v FROM t"),
              ElementsAre(Row{"a", int64_t{1}}, Row{"b", int64_t{1}}));
  request.clear_mutation_groups();
  EXPECT_EQ(client_.raw().BatchWrite(request).status.error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ServerCallsTest, AStatementIsDescribedWithoutBeingRun) {
  Put("a", 1);
  v1::ExecuteSqlRequest request = Asks("SELECT k, v FROM t WHERE ts > @since AND k = @k");
  request.set_query_mode(v1::ExecuteSqlRequest::PLAN);
  const auto query = client_.raw().ExecuteSql(request);
  ASSERT_TRUE(query.ok()) << query.status.error_message();
  EXPECT_EQ(query.reply.rows_size(), 0);
  ASSERT_EQ(query.reply.metadata().row_type().fields_size(), 2);
  EXPECT_EQ(query.reply.metadata().row_type().fields(1).type().code(), v1::INT64);
  ASSERT_EQ(query.reply.metadata().undeclared_parameters().fields_size(), 2);
  EXPECT_EQ(query.reply.metadata().undeclared_parameters().fields(0).name(), "k");
  EXPECT_EQ(query.reply.metadata().undeclared_parameters().fields(1).type().code(), v1::TIMESTAMP);
  EXPECT_EQ(query.reply.stats().query_plan().plan_nodes_size(), 1);
  request.set_sql("DELETE FROM t WHERE v = @v");
  request.mutable_transaction()->mutable_begin()->mutable_read_write();
  const auto dml = client_.raw().ExecuteSql(request);
  ASSERT_TRUE(dml.ok()) << dml.status.error_message();
  EXPECT_FALSE(dml.reply.metadata().transaction().id().empty());
  EXPECT_EQ(dml.reply.stats().row_count_exact(), 0);
  const Response commit = client_.Call(
      Commit{.session = request.session(), .transaction = dml.reply.metadata().transaction().id()});
  EXPECT_TRUE(commit.status.ok()) << FormatStatus(commit.status);
  request.set_sql("SELECT nothing FROM t");
  EXPECT_EQ(client_.raw().ExecuteSql(request).status.error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  request.set_sql("SELECT k FROM t");
  request.clear_transaction();
  request.set_query_mode(v1::ExecuteSqlRequest::PROFILE);
  const auto profiled = client_.raw().ExecuteSql(request);
  ASSERT_TRUE(profiled.ok()) << profiled.status.error_message();
  EXPECT_EQ(profiled.reply.rows_size(), 1);  // nothing was deleted
  EXPECT_EQ(profiled.reply.stats().query_stats().fields().at("rows_returned").string_value(), "1");
}

// A client whose stream broke goes on behind the last part that had a token.
TEST_F(ServerCallsTest, AStreamIsResumedBehindItsToken) {
  ServerOptions options = TestOptions();
  options.backend.stream_part_bytes = 64;
  Restart(std::move(options));
  for (int i = 0; i < 40; ++i) Put(std::to_string(i), i);
  v1::ExecuteSqlRequest request = Asks("SELECT k, v FROM t");
  const auto whole = client_.raw().ExecuteStreamingSql(request);
  ASSERT_TRUE(whole.ok());
  ASSERT_GT(whole.reply.size(), 3u);
  // What is written in between is not seen: it is the same stream.
  Put("zz", 1);
  for (size_t broken = 0; broken + 1 < whole.reply.size(); ++broken) {
    const std::string& token = whole.reply[broken].resume_token();
    EXPECT_EQ(token.empty(), whole.reply[broken].chunked_value());
    if (token.empty()) continue;
    request.set_resume_token(token);
    const auto rest = client_.raw().ExecuteStreamingSql(request);
    ASSERT_TRUE(rest.ok()) << rest.status.error_message();
    ASSERT_EQ(rest.reply.size(), whole.reply.size() - broken - 1);
    for (size_t i = 0; i < rest.reply.size(); ++i) {
      EXPECT_EQ(rest.reply[i].SerializeAsString(), whole.reply[broken + 1 + i].SerializeAsString());
    }
  }
  for (const char* wrong : {"x", "1", "1 x", " 1", "1 9999"}) {
    request.set_resume_token(wrong);
    EXPECT_FALSE(client_.raw().ExecuteStreamingSql(request).ok()) << wrong;
  }
}

// Else clients that read much would fill the server's memory.
TEST_F(ServerCallsTest, StreamsAreKeptUpToSoManyBytes) {
  ServerOptions options = TestOptions();
  options.backend.stream_part_bytes = 1'000;
  options.backend.most_stream_bytes = 10'000;
  Restart(std::move(options));
  for (int i = 0; i < 3; ++i) Put(std::string(900, static_cast<char>('a' + i)), i);
  const auto read = [&](int rows, const std::string& token) {
    v1::ExecuteSqlRequest request = Asks("SELECT k, k FROM t LIMIT " + std::to_string(rows));
    request.set_resume_token(token);
    return client_.raw().ExecuteStreamingSql(request);
  };
  const auto token_of = [&](int rows) {
    for (const v1::PartialResultSet& part : read(rows, "").reply) {
      if (!part.resume_token().empty()) return part.resume_token();
    }
    return std::string();
  };
  const std::string first = token_of(3);
  ASSERT_NE(first, "");
  EXPECT_TRUE(read(3, first).ok());
  const std::string second = token_of(3);
  EXPECT_FALSE(read(3, first).ok());
  EXPECT_TRUE(read(3, second).ok());
  for (int i = 3; i < 6; ++i) Put(std::string(900, static_cast<char>('a' + i)), i);
  EXPECT_EQ(token_of(6), "");  // too long for any
}

// A commit timestamp is unique in its split only, so tokens of two splits may be equal (S7 of spindle).
TEST_F(ServerCallsTest, SplitsGiveTimestampsByThemselves) {
  for (const bool divided : {false, true}) {
    ServerOptions options = TestOptions();
    options.clock =
        std::make_shared<VirtualClock>(Timestamp::FromUnixNanos(1'800'000'000'000'000'000));
    options.backend.commit_wait = CommitWait::kNone;
    if (divided) options.backend.splits = {{.table = "t", .key = "m"}};
    Restart(std::move(options));
    std::vector<std::optional<Timestamp>> commits;
    for (const char* key : {"a", "z", "b"}) {
      commits.push_back(client_.Put(key, 1).commit_timestamp);
      ASSERT_TRUE(commits.back());
    }
    EXPECT_EQ(commits[0] == commits[1], divided);
    EXPECT_LT(*commits[0], *commits[2]);
  }
}

TEST_F(ServerCallsTest, AServerWithoutMultiplexedSessionsGivesRegularOnes) {
  ServerOptions options = TestOptions();
  options.backend.sessions = SessionKinds::kOnlyRegular;
  Restart(std::move(options));
  EXPECT_FALSE(client_.raw().CreateSession(TestDatabase(), true).reply.multiplexed());
}

TEST_F(ServerCallsTest, AServerWithoutRegularSessionsRefusesThem) {
  ServerOptions options = TestOptions();
  options.backend.sessions = SessionKinds::kOnlyMultiplexed;
  Restart(std::move(options));
  EXPECT_TRUE(client_.raw().CreateSession(TestDatabase(), true).reply.multiplexed());
  const auto refused = client_.raw().CreateSession(TestDatabase(), false);
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(refused.status.error_message(), HasSubstr("multiplexed"));
  v1::BatchCreateSessionsResponse reply;
  EXPECT_EQ(MakeSessions(1, &reply).error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

// Rows keep their values in the columns that stay, whatever becomes of others.
TEST_F(ServerCallsTest, RowsOutliveAChangeOfColumns) {
  Put("a", 7);
  database_admin::UpdateDatabaseDdlRequest request;
  request.set_database(TestDatabase());
  for (const char* statement :
       {"ALTER TABLE t ADD COLUMN w STRING(MAX)", "ALTER TABLE t DROP COLUMN v",
        "ALTER TABLE t ADD COLUMN v INT64", "CREATE INDEX by_w ON t(w)"}) {
    request.add_statements(statement);
  }
  grpc::ClientContext context;
  google::longrunning::Operation operation;
  ASSERT_TRUE(client_.raw().databases().UpdateDatabaseDdl(&context, request, &operation).ok());
  EXPECT_THAT(client_.Query("SELECT k, w, v FROM t@{FORCE_INDEX=by_w}"),
              ElementsAre(Row{"a", Null{}, Null{}}));
  EXPECT_THAT(client_.Query("SELECT k FROM t WHERE ts IS NOT NULL"), SizeIs(1));
  v1::ReadRequest read;
  read.set_session(client_.OpenSession().str());
  read.set_table("t");
  read.set_index("by_w");
  read.add_columns("k");
  read.mutable_key_set()->set_all(true);
  EXPECT_EQ(client_.raw().Read(read).status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(ServerCallsTest, PartitionedDmlCommitsByItself) {
  Put("a", 1);
  Put("b", 2);
  const SessionName session = client_.OpenSession();
  const auto begin = [&] {
    v1::BeginTransactionRequest request;
    request.set_session(session.str());
    request.mutable_options()->mutable_partitioned_dml();
    return client_.raw().BeginTransaction(request).reply.id();
  };
  const auto execute = [&](const std::string& id, const std::string& sql) {
    v1::ExecuteSqlRequest request;
    request.set_session(session.str());
    request.mutable_transaction()->set_id(id);
    request.set_sql(sql);
    request.set_seqno(1);
    return client_.raw().ExecuteSql(request);
  };
  const auto updated = execute(begin(), "UPDATE t SET v = v + 10 WHERE true");
  ASSERT_TRUE(updated.ok()) << updated.status.error_message();
  EXPECT_TRUE(updated.reply.stats().has_row_count_lower_bound());
  EXPECT_EQ(updated.reply.stats().row_count_lower_bound(), 2);
  EXPECT_THAT(client_.Query("SELECT v FROM t"), ElementsAre(Row{int64_t{11}}, Row{int64_t{12}}));
  for (const char* sql : {"SELECT v FROM t", "INSERT INTO t (k) VALUES ('c')",
                          "DELETE FROM t WHERE true THEN RETURN k"}) {
    EXPECT_EQ(execute(begin(), sql).status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << sql;
  }
  v1::CommitRequest commit;
  commit.set_session(session.str());
  commit.set_transaction_id(begin());
  EXPECT_EQ(client_.raw().Commit(commit).status.error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(ServerCallsTest, CommitsWhatAStatementWroteAndReadsItBack) {
  const SessionName session = client_.OpenSession();
  const Response insert = client_.Execute(session, BeginReadWrite{}, InsertRow("a", 7));
  ASSERT_TRUE(insert.status.ok()) << FormatStatus(insert.status);
  EXPECT_EQ(insert.result.row_count, 1);
  ASSERT_THAT(insert.transaction, SizeIs(14));
  const Response commit =
      client_.Call(Commit{.session = session, .transaction = insert.transaction});
  ASSERT_TRUE(commit.status.ok()) << FormatStatus(commit.status);

  const Statement select = {.sql = Sql::Intern("SELECT k, v, ts FROM t")};
  const Row row = {std::string("a"), int64_t{7}, commit.commit_timestamp};
  EXPECT_THAT(client_.Call(ExecuteSql{.session = session, .statement = select}).result.rows,
              ElementsAre(row));
  EXPECT_THAT(client_.Stream(ExecuteSql{.session = session, .statement = select}).result.rows,
              ElementsAre(row));
  const Read read = {
      .session = session, .table = "t", .columns = {"k", "v", "ts"}, .keys = {.all = true}};
  EXPECT_THAT(client_.Call(read).result.rows, ElementsAre(row));
  EXPECT_THAT(client_.Stream(read).result.rows, ElementsAre(row));
}

// A client knows columns and types only from the metadata.
TEST_F(ServerCallsTest, NamesTheColumnsAndTypesOfAResult) {
  const auto heard = client_.raw().ExecuteSql(Asks("SELECT k, v + 1, ts AS moment FROM t"));
  ASSERT_TRUE(heard.ok()) << heard.status.error_message();
  const auto& fields = heard.reply.metadata().row_type().fields();
  ASSERT_EQ(fields.size(), 3);
  EXPECT_EQ(fields[0].name() + "," + fields[1].name() + "," + fields[2].name(), "k,,moment");
  EXPECT_EQ(fields[0].type().code(), v1::STRING);
  EXPECT_EQ(fields[1].type().code(), v1::INT64);
  EXPECT_EQ(fields[2].type().code(), v1::TIMESTAMP);
  EXPECT_FALSE(heard.reply.has_stats());
}

// Google's clients leave the types of strings to the server.
TEST_F(ServerCallsTest, InfersTheTypesOfParametersWithoutOne) {
  Put("a", 1);
  v1::ExecuteSqlRequest request = Asks("SELECT k FROM t WHERE v = @v AND ts > @t");
  auto& fields = *request.mutable_params()->mutable_fields();
  fields["v"].set_string_value("1");
  fields["t"].set_string_value("2020-01-01T00:00:00Z");
  const auto heard = client_.raw().ExecuteSql(request);
  ASSERT_TRUE(heard.ok()) << heard.status.error_message();
  EXPECT_EQ(heard.reply.rows_size(), 1);
  const auto& undeclared = heard.reply.metadata().undeclared_parameters().fields();
  ASSERT_EQ(undeclared.size(), 2);
  EXPECT_EQ(undeclared[0].name(), "t");
  EXPECT_EQ(undeclared[0].type().code(), v1::TIMESTAMP);
  EXPECT_EQ(undeclared[1].type().code(), v1::INT64);
}

// As on the emulator, declared types determine undeclared ones.
TEST_F(ServerCallsTest, InfersTypesBesideDeclaredOnes) {
  v1::ExecuteSqlRequest request = Asks("SELECT COALESCE(@a, @b)");
  (*request.mutable_params()->mutable_fields())["a"].set_number_value(1.5);
  (*request.mutable_params()->mutable_fields())["b"].set_null_value({});
  (*request.mutable_param_types())["A"].set_code(v1::FLOAT64);
  const auto heard = client_.raw().ExecuteSql(request);
  ASSERT_TRUE(heard.ok()) << heard.status.error_message();
  const auto& undeclared = heard.reply.metadata().undeclared_parameters().fields();
  ASSERT_EQ(undeclared.size(), 1);
  EXPECT_EQ(undeclared[0].name(), "b");
  EXPECT_EQ(undeclared[0].type().code(), v1::FLOAT64);
  EXPECT_EQ(heard.reply.rows(0).values(0).number_value(), 1.5);
}

TEST_F(ServerCallsTest, CutsLargeResultsIntoPartsThatMakeTheWhole) {
  ServerOptions options = TestOptions();
  options.backend.stream_part_bytes = 64;
  Restart(std::move(options));
  for (int i = 0; i < 50; ++i) Put("key " + std::to_string(100 + i), i);
  const ExecuteSql call = {.session = client_.OpenSession(),
                           .statement = {.sql = Sql::Intern("SELECT k, v FROM t ORDER BY k")}};
  const auto heard = client_.raw().ExecuteStreamingSql(wire::Encode(call));
  EXPECT_THAT(heard.reply, SizeIs(testing::Gt(10)));
  const Response response = client_.Stream(call);
  ASSERT_THAT(response.result.rows, SizeIs(50));
  EXPECT_EQ(response.result.rows[49], (Row{std::string("key 149"), int64_t{49}}));
}

// Clients compare the count, the columns of each written row, with Spanner's limit.
TEST_F(ServerCallsTest, CountsMutationsWhenAsked) {
  v1::CommitRequest request = wire::Encode(Commit{.session = client_.OpenSession(),
                                                  .transaction = SingleUseWrite{},
                                                  .mutations = {PutRow("a", 1), PutRow("b", 2)}});
  EXPECT_FALSE(client_.raw().Commit(request).reply.has_commit_stats());
  request.set_return_commit_stats(true);
  EXPECT_EQ(client_.raw().Commit(request).reply.commit_stats().mutation_count(), 6);
}

// An INSERT's listed columns, an UPDATE's with its key, one for a deletion, whether of a row, a key or all.
TEST_F(ServerCallsTest, CountsMutationsOfDmlAndDeletions) {
  const auto count = [&](std::vector<std::string> statements, std::vector<Mutation> mutations) {
    ExecuteBatchDml batch{.session = client_.OpenSession(), .transaction = BeginReadWrite{}};
    for (const std::string& sql : statements) {
      batch.statements.push_back({.sql = Sql::Intern(sql)});
    }
    batch.sequence_number = 1;
    Commit commit{.session = batch.session, .transaction = SingleUseWrite{}};
    if (!statements.empty()) {
      const Response begun = client_.Call(batch);
      EXPECT_TRUE(begun.result.status.ok()) << FormatStatus(begun.result.status);
      commit.transaction = begun.transaction;
    }
    commit.mutations = std::move(mutations);
    v1::CommitRequest request = wire::Encode(commit);
    request.set_return_commit_stats(true);
    return client_.raw().Commit(request).reply.commit_stats().mutation_count();
  };
  EXPECT_EQ(count({"INSERT INTO t (k, v) VALUES ('a', 1), ('b', 2)"}, {}), 4);
  EXPECT_EQ(count({"UPDATE t SET v = 3 WHERE TRUE", "UPDATE t SET v = 4 WHERE k = 'a'"}, {}), 6);
  EXPECT_EQ(count({"UPDATE t SET v = 5 WHERE k = 'a'"}, {PutRow("c", 1)}),
            2 + static_cast<int64_t>(PutRow("c", 1).columns.size()));
  EXPECT_EQ(count({"DELETE FROM t WHERE k != 'a'"}, {}), 2);
  Mutation gone{.kind = MutationKind::kDelete, .table = "t"};
  gone.keys.all = true;
  EXPECT_EQ(count({}, {gone}), 1);
  gone.keys = {.keys = {{std::string("x")}, {std::string("y")}}};
  EXPECT_EQ(count({}, {gone}), 2);
}

TEST_F(ServerCallsTest, RefusesMoreMutationsThanSpanner) {
  Mutation rows{.kind = MutationKind::kInsertOrUpdate, .table = "t", .columns = {"k", "v"}};
  for (int i = 0; i < 40'000; ++i) rows.rows.push_back({std::to_string(i), int64_t{i}});
  Commit commit{
      .session = client_.OpenSession(), .transaction = SingleUseWrite{}, .mutations = {rows}};
  EXPECT_EQ(client_.Call(commit).status.code, Code::kOk);
  const Response updated = client_.Execute(commit.session, BeginReadWrite{},
                                           {.sql = Sql::Intern("UPDATE t SET v = 1 WHERE TRUE")});
  ASSERT_TRUE(updated.status.ok()) << FormatStatus(updated.status);
  commit.transaction = updated.transaction;
  commit.mutations = {PutRow("one more", 1)};
  const Status refused = client_.Call(commit).status;
  EXPECT_EQ(refused.code, Code::kInvalidArgument);
  EXPECT_THAT(refused.message.str(), HasSubstr("too many mutations"));
  commit.mutations.clear();
  EXPECT_EQ(client_.Call(commit).status.code, Code::kOk);
}

// More groups than are under way at once.
TEST_F(ServerCallsTest, WritesEachOfManyGroups) {
  v1::BatchWriteRequest request;
  request.set_session(client_.OpenSession().str());
  for (int i = 0; i < 500; ++i) {
    const v1::CommitRequest commit =
        wire::Encode(Commit{.mutations = {PutRow(std::to_string(i), i)}});
    *request.add_mutation_groups()->mutable_mutations() = commit.mutations();
  }
  const auto heard = client_.raw().BatchWrite(request);
  ASSERT_TRUE(heard.ok()) << heard.status.error_message();
  std::set<int> groups;
  for (const v1::BatchWriteResponse& part : heard.reply) {
    EXPECT_EQ(part.status().code(), 0);
    groups.insert(part.indexes().begin(), part.indexes().end());
  }
  EXPECT_THAT(groups, SizeIs(500));
  EXPECT_EQ(client_.Query("SELECT COUNT(*) FROM t"), (std::vector<Row>{{int64_t{500}}}));
}

// A long text is planned before the server's lock is taken, for the schema of that moment.
TEST_F(ServerCallsTest, ALongTextIsAnsweredLikeAShortOne) {
  Put("a", 7);
  for (const size_t length : {size_t{0}, 2 * kLongRequest}) {
    SCOPED_TRACE(length);
    const std::string comment = "/*" + std::string(length, 'x') + "*/ ";
    v1::ExecuteSqlRequest request = Asks(comment + "SELECT v + @more AS sum FROM t WHERE k = @key");
    auto& parameters = *request.mutable_params()->mutable_fields();
    parameters["more"].set_string_value("35");
    parameters["key"].set_string_value("a");
    for (int i = 0; i < 2; ++i) {
      const auto heard = client_.raw().ExecuteSql(request);
      ASSERT_TRUE(heard.ok()) << heard.status.error_message();
      ASSERT_THAT(heard.reply.rows(), SizeIs(1));
      EXPECT_EQ(heard.reply.rows(0).values(0).string_value(), "42");
      EXPECT_THAT(heard.reply.metadata().undeclared_parameters().fields(), SizeIs(2));
    }
    request.set_sql(comment + "SELECT nosuch FROM t");
    EXPECT_THAT(client_.raw().ExecuteSql(request).status.error_message(),
                HasSubstr("Unrecognized name: nosuch"));
  }
}

TEST_F(ServerCallsTest, ReturnsTheReadTimestampWhenAskedFor) {
  ExecuteSql call = {.session = client_.OpenSession(), .statement = SelectValue("a")};
  EXPECT_FALSE(client_.Call(call).read_timestamp.has_value());
  call.transaction = SingleUseRead{.return_read_timestamp = true};
  EXPECT_TRUE(client_.Call(call).read_timestamp.has_value());
}

// --- errors --------------------------------------------------------------------------------------

TEST_F(ServerCallsTest, SaysWhichDatabaseOfASessionIsNotThere) {
  const std::string missing = RawSpanner::DatabaseName("missing");
  const auto read = client_.raw().GetSession(missing + "/sessions/s");
  EXPECT_EQ(read.status.error_message(), "Database not found: " + missing);
}

TEST_F(ServerCallsTest, RefusesWhatIsNoSessionName) {
  for (const std::string& name :
       {std::string("garbage"), TestDatabase(), TestDatabase() + "/sessions/",
        TestDatabase() + "/sessions/a/b", std::string("/"), std::string(1, '\0')}) {
    EXPECT_EQ(client_.raw().GetSession(name).status.error_code(),
              grpc::StatusCode::INVALID_ARGUMENT)
        << name;
  }
  EXPECT_EQ(client_.raw().GetSession("").status.error_message(),
            "No value provided for required field: GetSessionRequest.name");
}

TEST_F(ServerCallsTest, RefusesTransactionsThatAreNotThere) {
  const SessionName session = client_.OpenSession();
  for (const TransactionId& id :
       {TransactionId("1"), TransactionId(std::string(14, '\0')), TransactionId("x")}) {
    EXPECT_EQ(client_.Call(Commit{.session = session, .transaction = id}).status.code,
              Code::kNotFound);
    EXPECT_TRUE(client_.Call(Rollback{.session = session, .transaction = id}).status.ok());
  }
}

TEST_F(ServerCallsTest, NamesTheMethodThatItDoesNotHave) {
  grpc::ClientContext context;
  v1::PartitionResponse response;
  const grpc::Status status =
      client_.raw().api().PartitionQuery(&context, v1::PartitionQueryRequest(), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(status.error_message(), HasSubstr("/google.spanner.v1.Spanner/PartitionQuery"));
}

TEST_F(ServerCallsTest, ServesAsManySessionsAsAreAskedForAtOnce) {
  v1::BatchCreateSessionsResponse response;
  ASSERT_TRUE(MakeSessions(25, &response).ok());
  ASSERT_EQ(response.session_size(), 25);
  for (const v1::Session& session : response.session()) {
    EXPECT_TRUE(client_.Call(GetSession{.session = session.name()}).status.ok());
  }
  v1::BatchCreateSessionsResponse none;
  ASSERT_TRUE(MakeSessions(0, &none).ok());
  EXPECT_EQ(none.session_size(), 0);
  EXPECT_EQ(MakeSessions(-1, &none).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

// --- precommit tokens ----------------------------------------------------------------------------

// A Commit on a multiplexed session needs the newest token; otherwise nothing is committed.
TEST_F(ServerCallsTest, AsksForThePrecommitTokenOnAMultiplexedSession) {
  const SessionName session = client_.OpenSession(/*multiplexed=*/true);
  const Response first = client_.Execute(session, BeginReadWrite{}, InsertRow("a", 1));
  ASSERT_TRUE(first.status.ok()) << FormatStatus(first.status);
  ASSERT_THAT(first.precommit_token, Not(IsEmpty()));
  const Response second = client_.Execute(session, first.transaction, InsertRow("b", 2), 2);
  EXPECT_GT(second.precommit_sequence, first.precommit_sequence);

  Commit commit = {.session = session, .transaction = first.transaction};
  EXPECT_EQ(client_.Call(commit).status.code, Code::kFailedPrecondition);
  commit.precommit_token = first.precommit_token;
  commit.precommit_sequence = first.precommit_sequence;
  const Response again = client_.Call(commit);
  ASSERT_TRUE(again.status.ok()) << FormatStatus(again.status);
  EXPECT_EQ(again.precommit_token, second.precommit_token);
  commit.precommit_token = again.precommit_token;
  commit.precommit_sequence = again.precommit_sequence;
  const Response done = client_.Call(commit);
  ASSERT_TRUE(done.status.ok()) << FormatStatus(done.status);
  EXPECT_THAT(done.precommit_token, IsEmpty());
  EXPECT_EQ(client_.Call(commit).commit_timestamp, done.commit_timestamp) << "Commit is idempotent";
}

// What libraries and migration tools send. Who meets a statement that the model lacks has to learn of
// another way, whatever the statement is.
TEST_F(ServerCallsTest, EveryRefusalOfAStatementSaysWhatHelps) {
  constexpr auto kQueries = std::to_array<const char*>(
      {"SELECT a.k FROM t a JOIN t b ON a.k=b.k",
       "SELECT k FROM (SELECT k FROM t)",
       "WITH x AS (SELECT k FROM t) SELECT * FROM x",
       "SELECT k FROM t UNION ALL SELECT k FROM t",
       "SELECT v, COUNT(*) FROM t GROUP BY v HAVING COUNT(*)>0",
       "SELECT CASE WHEN v>1 THEN 'x' ELSE 'y' END FROM t",
       "SELECT k FROM t WHERE EXISTS (SELECT 1 FROM t u WHERE u.k=t.k)",
       "SELECT k FROM t WHERE 'x' IN UNNEST(['x'])",
       "SELECT ARRAY(SELECT k FROM t)",
       "SELECT x FROM UNNEST([1,2]) AS x",
       "SELECT REPLACE(k,'a','b'), UPPER(k), SUBSTR(k,1,1), LENGTH(k), FORMAT('%d', v) FROM t",
       "SELECT FARM_FINGERPRINT(k) FROM t",
       "SELECT k FROM t ORDER BY v DESC LIMIT 1 OFFSET 1",
       "SELECT k FROM t WHERE k LIKE 'a%' AND v BETWEEN 0 AND 5",
       "SELECT STRUCT(k, v) FROM t WHERE FALSE",
       "SELECT t.* FROM t TABLESAMPLE RESERVOIR (1 ROWS)",
       "SELECT EXTRACT(YEAR FROM ts), FORMAT_TIMESTAMP('%F', ts), UNIX_MILLIS(ts) FROM t",
       "SELECT k FROM t FOR UPDATE",
       "SELECT k FROM t QUALIFY v > 1",
       "SELECT k FROM t WINDOW w AS (ORDER BY k)",
       "SELECT k, ROW_NUMBER() OVER (ORDER BY k) FROM t",
       "SELECT * EXCEPT (v) FROM t",
       "SELECT k FROM t, t u",
       "SELECT k FROM t CROSS JOIN t u",
       "FROM t |> SELECT k",
       "(SELECT k FROM t)",
       "SELECT ChangeRecord FROM READ_cs(start_timestamp => CURRENT_TIMESTAMP())",
       "SELECT @{a=1} k FROM t",
       "SELECT JSON_VALUE(JSON '{}', '$.a')",
       "SELECT k FROM t WHERE (k, v) = ('a', 1)",
       "SELECT k FROM t AS OF TIMESTAMP CURRENT_TIMESTAMP()",
       "SELECT table_name FROM information_schema.tables t WHERE NOT EXISTS (SELECT 1 FROM "
       "information_schema.columns c WHERE c.table_name=t.table_name)"});
  constexpr auto kChanges = std::to_array<const char*>(
      {"INSERT INTO t (k,v) SELECT CONCAT(k,'x'), v FROM (SELECT k, v FROM t)",
       "INSERT OR IGNORE INTO t (k,v) VALUES ('a',9)",
       "INSERT INTO t (k) VALUES ('q') ON CONFLICT DO NOTHING",
       "INSERT INTO t (k) VALUES (GENERATE_UUID())",
       "UPDATE t SET v=(SELECT MAX(v) FROM t) WHERE k='a'",
       "UPDATE t SET v=1 FROM t u WHERE t.k=u.k",
       "DELETE FROM t WHERE k IN (SELECT k FROM (SELECT k FROM t))",
       "MERGE INTO t USING t u ON t.k=u.k WHEN MATCHED THEN DELETE", "GRAPH g MATCH (n) RETURN n"});
  const auto check = [](const Status& status, const std::string& sql) {
    if (status.ok()) return;
    EXPECT_THAT(status.message.str(), HasSubstr("whorl proxy puts the same faults before a server"))
        << sql;
  };
  const SessionName session = client_.OpenSession();
  for (const char* sql : kQueries) {
    const Statement statement = {.sql = Sql::Intern(sql)};
    check(client_.Call(ExecuteSql{.session = session, .statement = statement}).status, sql);
    check(client_.Stream(ExecuteSql{.session = session, .statement = statement}).status, sql);
  }
  for (const char* sql : kChanges) {
    const Statement statement = {.sql = Sql::Intern(sql)};
    check(client_.Execute(client_.OpenSession(), BeginReadWrite{}, statement).status, sql);
    const Response batch = client_.Call(ExecuteBatchDml{.session = client_.OpenSession(),
                                                        .transaction = BeginReadWrite{},
                                                        .statements = {statement},
                                                        .sequence_number = 1});
    check(batch.status.ok() ? batch.result.status : batch.status, sql);
  }
  int database = 0;
  for (
      const char* ddl :
      {"CREATE TABLE c (k STRING(64) NOT NULL, n INT64) PRIMARY KEY (k, n), INTERLEAVE IN PARENT t "
       "ON DELETE CASCADE",
       "CREATE TABLE c (k INT64, CONSTRAINT q CHECK (k > 0)) PRIMARY KEY (k)",
       "CREATE TABLE c (k INT64 DEFAULT (1)) PRIMARY KEY (k)",
       "CREATE TABLE c (k INT64, g INT64 AS (k+1) STORED) PRIMARY KEY (k)",
       "CREATE TABLE c (k INT64 PRIMARY KEY, n INT64)",
       "CREATE SEQUENCE sq OPTIONS (sequence_kind='bit_reversed_positive')",
       "CREATE VIEW vw SQL SECURITY INVOKER AS SELECT t.k FROM t", "CREATE CHANGE STREAM cs FOR t",
       "ALTER TABLE t ALTER COLUMN v STRING(20)",
       "ALTER DATABASE `d` SET OPTIONS (version_retention_period='2d')",
       "CREATE TABLE c (k INT64, ts TIMESTAMP) PRIMARY KEY (k), ROW DELETION POLICY "
       "(OLDER_THAN(ts, "
       "INTERVAL 1 DAY))",
       "CREATE SEARCH INDEX s ON t(k)", "CREATE ROLE r", "GRANT SELECT ON TABLE t TO ROLE r",
       "CREATE PROPERTY GRAPH g NODE TABLES (t)", "CREATE MODEL m REMOTE OPTIONS (endpoint='x')"}) {
    const grpc::Status made =
        client_.raw().CreateDatabase("d" + std::to_string(++database), {kTestTable, ddl});
    if (made.ok()) continue;
    EXPECT_THAT(made.error_message(), HasSubstr("whorl proxy puts the same faults before")) << ddl;
  }
  // What is only wrong is not sent elsewhere.
  const Response unknown = client_.Call(
      ExecuteSql{.session = session, .statement = {.sql = Sql::Intern("SELECT z FROM t")}});
  EXPECT_EQ(unknown.status.code, Code::kInvalidArgument);
  EXPECT_THAT(unknown.status.message.str(), Not(HasSubstr("whorl proxy")));
}

}  // namespace
}  // namespace whorl::server::calls_test
