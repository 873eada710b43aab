// The client against the official emulator: what all clients do (emulator_client_testing.h), its end,
// and admin calls. Skipped if there is no emulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "real_client/admin_client.h"
#include "real_client/spanner_client.h"
#include "tests/real_client/emulator_client_testing.h"

namespace whorl::real_client::client_emulator_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::unique_ptr<TransactionClient> Multiplexed(ClientOptions options) {
  std::unique_ptr<SpannerClient> client;
  EXPECT_EQ(SpannerClient::Create(std::move(options), client), Status());
  return client;
}
std::unique_ptr<TransactionClient> Regular(ClientOptions options) {
  options.sessions = RegularSessionPolicy();
  options.sessions.min_sessions = 1;
  options.sessions.max_sessions = 8;
  return Multiplexed(std::move(options));
}

const auto kSessions = testing::Values(EmulatorClientCase{"Multiplexed", Multiplexed},
                                       EmulatorClientCase{"Regular", Regular});

class ClientEmulatorTest : public EmulatorClientTest {};

TEST_P(ClientEmulatorTest, ACancelledTransactionSaysSo) {
  // The emulator cannot delay a call, so the cancellation may come too late.
  Answered<TransactionResult> answered;
  const TransactionClient::RunId run =
      client_->Run(ReadWrite({Insert("c"), Select("c")}), answered.Callback());
  client_->Cancel(run);
  const TransactionResult result = answered.Wait();
  if (result.outcome != Outcome::kCommitted) {
    EXPECT_EQ(result.status.code, Code::kCancelled);
  }
  EXPECT_EQ(Run(ReadWrite({Insert("d")})).outcome, Outcome::kCommitted) << "no lock is left";
}

TEST_P(ClientEmulatorTest, AStoppedServerEndsAReadByItsTimeout) {
  // UNAVAILABLE is retried up to the policy's timeout, not for ever.
  ClientOptions options = {
      .database = database_,
      .connection = {.endpoint = emulator_->address(), .credentials = Plaintext{}}};
  options.retry.query_timeout = Seconds(2);
  options.sessions.ask_timeout = Seconds(2);
  client_ = Multiplexed(options);
  ExpectCommitted(Run(Query(Select("a"))));
  emulator_->process().Kill();
  const TransactionResult result = Run(Query(Select("a")));
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_EQ(result.status.code, Code::kDeadlineExceeded) << FormatStatus(result.status);
  emulator_ = EmulatorProcess::Start();  // for the tests that come after
}

INSTANTIATE_TEST_SUITE_P(Sessions, EmulatorClientTest, kSessions, NameOfEmulatorCase);
INSTANTIATE_TEST_SUITE_P(Sessions, ClientEmulatorTest, kSessions, NameOfEmulatorCase);

// --- admin calls ---------------------------------------------------------------------------------

// The outcome of an admin call, as text.
template <typename F>
std::string Does(F call) {
  Answered<Status> answered;
  call(answered.Callback());
  return FormatStatus(answered.Wait());
}

TEST(AdminEmulatorTest, MakesChangesAndDropsTables) {
  constexpr const char* kInstance = "projects/test-project/instances/test-instance";
  const std::string database = std::string(kInstance) + "/databases/locks";
  constexpr const char* kTable =
      "CREATE TABLE locktable (\n  name STRING(MAX) NOT NULL,\n) PRIMARY KEY(name)";
  const auto emulator = EmulatorProcess::Start();
  if (emulator == nullptr) GTEST_SKIP() << kNoEmulator;
  AdminClient admin({.endpoint = emulator->address(), .credentials = Plaintext{}});
  const auto ddl = [&] {
    Answered<std::vector<std::string>> answered;
    admin.GetDdl(database, [done = answered.Callback()](Status status, auto statements) {
      EXPECT_EQ(status, Status());
      done(std::move(statements));
    });
    return answered.Wait();
  };
  const auto updates = [&](const std::string& statement) {
    return Does([&](auto done) { admin.UpdateDdl(database, {statement}, done); });
  };
  EXPECT_EQ(Does([&](auto done) { admin.CreateInstance({.path = kInstance}, done); }), "OK");
  EXPECT_EQ(Does([&](auto done) { admin.CreateDatabase(database, {kTable}, done); }), "OK");
  EXPECT_THAT(ddl(), ElementsAre(kTable));
  EXPECT_EQ(updates("DROP TABLE locktable"), "OK");
  EXPECT_THAT(ddl(), SizeIs(0));
  EXPECT_THAT(updates("CREATE NONSENSE"), HasSubstr("INVALID_ARGUMENT"));
  EXPECT_EQ(Does([&](auto done) { admin.DropDatabase(database, done); }), "OK");
  EXPECT_THAT(Does([&](auto done) {
                admin.GetDdl(database, [done](Status status, auto) { done(std::move(status)); });
              }),
              HasSubstr("NOT_FOUND"));
}

}  // namespace
}  // namespace whorl::real_client::client_emulator_test
