// The parts of the client that need no server: options, headers and advice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "live/child_process.h"
#include "real_client/admin_client.h"
#include "real_client/connection.h"
#include "real_client/headers.h"
#include "real_client/options.h"
#include "real_client/os.h"
#include "real_client/spanner_client.h"
#include "real_client/transport.h"
#include "tests/support/client_waits.h"
#include "tests/support/transactions.h"

namespace whorl::real_client::client_options_test {
namespace {

using test_transactions::Query;
using test_transactions::ReadWrite;
using test_transactions::RunIn;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

constexpr const char* kDatabase = "projects/p/instances/i/databases/d";

TEST(ClientOptionsTest, ADatabaseIsNamedByItsWholePath) {
  DatabaseName name;
  ASSERT_EQ(ParseDatabaseName(kDatabase, name), Status());
  EXPECT_EQ(name, (DatabaseName{.project = "p", .instance = "i", .database = "d"}));
  EXPECT_EQ(name.Path(), kDatabase);
}

TEST(ClientOptionsTest, AMalformedDatabaseIsRefusedWithTheForm) {
  // The most common mistake is to pass the bare database id.
  for (const char* path :
       {"", "d", "projects/p/instances/i", "projects/p/instances/i/databases/",
        "projects//instances/i/databases/d", "projects/p/instance/i/databases/d",
        "projects/p/instances/i/databases/d/", "/projects/p/instances/i/databases/d",
        "projects/p/instances/i/databases/d/sessions/s"}) {
    std::unique_ptr<SpannerClient> client;
    const Status status = SpannerClient::Create({.database = path}, client);
    EXPECT_EQ(status.code, Code::kInvalidArgument) << path;
    EXPECT_THAT(status.message,
                AllOf(HasSubstr("\"" + std::string(path) + "\""),
                      HasSubstr("projects/PROJECT/instances/INSTANCE/databases/DATABASE")));
    EXPECT_EQ(client, nullptr);
  }
}

TEST(ClientOptionsTest, NumbersThatCannotBeMeantAreRefused) {
  std::unique_ptr<SpannerClient> client;
  ClientOptions none = {.database = kDatabase, .connection = {.channels = 0}};
  EXPECT_THAT(SpannerClient::Create(none, client).message, HasSubstr("at least 1, got 0"));
  ClientOptions crossed = {.database = kDatabase, .sessions = RegularSessionPolicy()};
  crossed.sessions.max_sessions = 5;
  EXPECT_THAT(SpannerClient::Create(crossed, client).message, HasSubstr("got 100 to 5"));
}

TEST(ClientOptionsTest, TheEmulatorsAddressTakesThePlaceOfGoogles) {
  // As in Google's clients, but explicit options of the caller stay.
  const ConnectionOptions emulator = Resolve({}, "localhost:9010");
  EXPECT_EQ(emulator.endpoint, "localhost:9010");
  EXPECT_TRUE(std::holds_alternative<Plaintext>(emulator.credentials));
  for (const auto& unset : {std::optional<std::string>(), std::optional<std::string>("")}) {
    const ConnectionOptions google = Resolve({}, unset);
    EXPECT_EQ(google.endpoint, "spanner.googleapis.com:443");
    EXPECT_TRUE(std::holds_alternative<ApplicationDefault>(google.credentials));
  }
  const ConnectionOptions own = Resolve({.endpoint = "own:1", .credentials = Tls{}}, "localhost:9");
  EXPECT_EQ(own.endpoint, "own:1");
  EXPECT_TRUE(std::holds_alternative<Tls>(own.credentials));
}

TEST(ClientHeadersTest, RouteByTheSessionAndNameTheCall) {
  const Headers headers =
      HeadersOf(Commit{.session = std::string(kDatabase) + "/sessions/s"}, kDatabase,
                {.process = 0xab, .client = 2, .channel = 3, .request = 4, .attempt = 5});
  EXPECT_THAT(headers, Contains(Pair("google-cloud-resource-prefix", kDatabase)));
  EXPECT_THAT(headers, Contains(Pair(
                           "x-goog-request-params",
                           "session=projects%2Fp%2Finstances%2Fi%2Fdatabases%2Fd%2Fsessions%2Fs")));
  EXPECT_THAT(headers, Contains(Pair("x-goog-spanner-request-id", "1.00000000000000ab.2.3.4.5")));
  EXPECT_THAT(headers, Contains(Pair("x-goog-api-client", HasSubstr("whorl/"))));
}

TEST(ClientHeadersTest, WhatTheLeaderHasToServeIsRoutedThere) {
  const auto headers = [](const Request& request) { return HeadersOf(request, kDatabase, {}); };
  const auto leader = Contains(Pair("x-goog-spanner-route-to-leader", "true"));
  const auto anybody = Not(Contains(Key("x-goog-spanner-route-to-leader")));
  EXPECT_THAT(headers(ExecuteSql{.transaction = BeginReadWrite{}}), leader);
  EXPECT_THAT(headers(ExecuteSql{.transaction = TransactionId("t")}), leader);
  EXPECT_THAT(headers(BeginTransaction{}), leader);
  EXPECT_THAT(headers(Commit{}), leader);
  EXPECT_THAT(headers(Rollback{}), leader);
  EXPECT_THAT(headers(CreateSession{}), leader);
  EXPECT_THAT(headers(ExecuteSql{.transaction = SingleUseRead{}}), anybody);
  EXPECT_THAT(headers(DeleteSession{}), anybody);
  EXPECT_THAT(headers(CreateSession{}),
              Contains(Pair("x-goog-request-params", RoutingParameter("database", kDatabase))));
}

TEST(ClientTransportTest, DmlIsToldFromQueriesByItsVerb) {
  // DML has one answer, a query a stream.
  for (const char* dml : {"INSERT t (a) VALUES (1)", " \n insert into t", "Update t", "DELETE t"}) {
    EXPECT_FALSE(IsQuery(dml)) << dml;
  }
  for (const char* query : {"SELECT 1", "", "WITH x AS (SELECT 1) SELECT 1", "@{hint} UPDATE t"}) {
    EXPECT_TRUE(IsQuery(query)) << query;
  }
}

TEST(ClientOsTest, ClockGoesOnAndDrawsStayInRange) {
  const LocalInstant before = MonotonicNow();
  EXPECT_LE(before, MonotonicNow());
  EXPECT_GT(before, LocalInstant{});
  OsEntropy entropy;
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const int64_t drawn = entropy.Between(purposes::kCallBackoff, -5, 5);
    EXPECT_GE(drawn, -5);
    EXPECT_LE(drawn, 5);
    differs |= drawn != entropy.Between(purposes::kCallBackoff, -5, 5);
  }
  EXPECT_TRUE(differs);
}

// --- advice --------------------------------------------------------------------------------------

TEST(ClientAdviceTest, TellsWhatToDoAboutTheUsualMistakes) {
  const ConnectionOptions google;
  const auto advice = [&](Code code, const char* text) {
    return Advise(Error(code, text), google, kDatabase).message;
  };
  EXPECT_THAT(
      advice(Code::kUnauthenticated, "x"),
      AllOf(HasSubstr("gcloud auth application-default login"),
            HasSubstr("GOOGLE_APPLICATION_CREDENTIALS"), HasSubstr("SPANNER_EMULATOR_HOST")));
  EXPECT_THAT(advice(Code::kPermissionDenied, "x"), HasSubstr("roles/spanner.databaseUser"));
  EXPECT_THAT(advice(Code::kPermissionDenied, "Role not found: locker"), HasSubstr("CREATE ROLE"));
  EXPECT_THAT(advice(Code::kPermissionDenied,
                     "Role locker does not have required privileges on table fenced_locks."),
              AllOf(HasSubstr("whorl lock doctor"), Not(HasSubstr("databaseUser"))));
  EXPECT_THAT(advice(Code::kNotFound, "Instance not found: y"),
              HasSubstr("gcloud spanner instances create"));
  EXPECT_THAT(advice(Code::kUnavailable, "Getting metadata from plugin failed with error: z"),
              HasSubstr("gcloud auth application-default login"));
  EXPECT_EQ(advice(Code::kNotFound, "Table not found: t"), "Table not found: t");
  EXPECT_EQ(Advise(Status(), google, kDatabase), Status());
}

TEST(ClientAdviceTest, NobodyAtTheEmulatorsAddressIsSaidSo) {
  ClientOptions options = {.database = kDatabase,
                           .connection = {.endpoint = "127.0.0.1:" + std::to_string(FreePort()),
                                          .credentials = Plaintext{}}};
  options.sessions.ask_timeout = Seconds(2);
  std::unique_ptr<SpannerClient> client;
  ASSERT_EQ(SpannerClient::Create(options, client), Status());
  const TransactionResult result = RunIn(*client, Query("SELECT 1"));
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_THAT(FormatStatus(result.status), HasSubstr("is the emulator running?"));
}

TEST(ClientAdviceTest, AKeyThatIsNoneIsSaidSo) {
  ClientOptions options = {.database = kDatabase,
                           .connection = {.credentials = Tls{.credentials_json = "{}"}}};
  std::unique_ptr<SpannerClient> client;
  ASSERT_EQ(SpannerClient::Create(options, client), Status());
  const TransactionResult result =
      RunIn(*client, ReadWrite({{.sql = Sql::Intern("DELETE t WHERE true")}}));
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_THAT(FormatStatus(result.status), HasSubstr("gcloud iam service-accounts keys create"));
}

TEST(AdminClientTest, RefusesNamesThatAreNone) {
  AdminClient admin({.endpoint = "127.0.0.1:1", .credentials = Plaintext{}});
  const auto keep = [](Status& into) {
    return [&into](Status status) { into = std::move(status); };
  };
  Status status;
  admin.CreateInstance({.path = "i"}, keep(status));
  EXPECT_THAT(status.message, HasSubstr("projects/PROJECT/instances/INSTANCE"));
  admin.CreateDatabase("d", {}, keep(status));
  EXPECT_THAT(status.message, HasSubstr("databases/DATABASE"));
  admin.CreateDatabase("projects/p/instances/i/databases/a`b", {}, keep(status));
  EXPECT_EQ(status.code, Code::kInvalidArgument);
}

TEST(AdminClientTest, ThatIsDestroyedAnswersWhatIsUnderWay) {
  // Here the call is between two attempts to reach a server that is not there.
  Answered<Status> answered;
  {
    AdminClient admin(
        {.endpoint = "127.0.0.1:" + std::to_string(FreePort()), .credentials = Plaintext{}});
    admin.DropDatabase(kDatabase, answered.Callback());
  }
  EXPECT_TRUE(answered.IsThere());
  EXPECT_EQ(answered.Wait().code, Code::kCancelled);
}

}  // namespace
}  // namespace whorl::real_client::client_options_test
