// The credentials and the server that a client finds in its environment. gRPC reads the environment
// once, so each case runs in its own process (gtest's threadsafe death tests), which prints the
// outcome and exits.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "real_client/spanner_client.h"
#include "spanner_model/server/server.h"
#include "tests/support/service_account.h"
#include "tests/support/test_certificate.h"
#include "tests/support/transactions.h"

namespace whorl::real_client::client_credentials_test {
namespace {

constexpr const char* kDatabase = "projects/test-project/instances/test-instance/databases/locks";

// A folder that is removed when the process ends.
class Scratch {
 public:
  Scratch() {
    std::string name = std::filesystem::temp_directory_path() / "whorl_credentials.XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove_all(path_); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void Set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

server::ServerOptions WithDatabase() {
  server::ServerOptions options;
  options.backend.databases = {{.name = kDatabase}};
  return options;
}

// Runs a query with the credentials found, and returns the outcome as text.
std::string Query(const ConnectionOptions& connection) {
  std::unique_ptr<SpannerClient> client;
  ClientOptions options = {.database = kDatabase, .connection = connection};
  options.sessions.ask_timeout = Seconds(5);
  const Status made = SpannerClient::Create(std::move(options), client);
  const TransactionResult result =
      test_transactions::RunIn(*client, test_transactions::Query("SELECT 1"));
  client.reset();
  return std::string(WordOf(result.outcome)) + " " + FormatStatus(made) + " " +
         FormatStatus(result.status);
}

[[noreturn]] void SayAndExit(const std::string& text) {
  std::cerr << text << "\n";
  std::_Exit(0);
}

class ClientCredentialsDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

std::string UseKeyFile() {
  const TestCertificate own = MakeTestCertificate();
  const Scratch scratch;
  Set("GOOGLE_APPLICATION_CREDENTIALS", scratch.Write("key.json", MakeServiceAccountKey()));
  Set("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", scratch.Write("roots.pem", own.certificate_pem));
  unsetenv("SPANNER_EMULATOR_HOST");
  server::ServerOptions options = WithDatabase();
  options.tls = {.certificate_chain_pem = own.certificate_pem,
                 .private_key_pem = own.private_key_pem};
  auto server = server::Server::Start(std::move(options));
  return Query({.endpoint = (*server)->address()});
}

std::string UseNothing() {
  const Scratch scratch;
  Set("HOME", scratch.path());
  unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
  unsetenv("SPANNER_EMULATOR_HOST");
  return Query({.endpoint = "127.0.0.1:1"});
}

// What `gcloud auth application-default login --impersonate-service-account` stores.
std::string UseImpersonation() {
  const Scratch scratch;
  Set("GOOGLE_APPLICATION_CREDENTIALS",
      scratch.Write("adc.json", R"({"type": "impersonated_service_account"})"));
  unsetenv("SPANNER_EMULATOR_HOST");
  return Query({.endpoint = "127.0.0.1:1"});
}

std::string UseEmulatorHost() {
  auto server = server::Server::Start(WithDatabase());
  Set("SPANNER_EMULATOR_HOST", (*server)->address());
  return Query({});
}

TEST_F(ClientCredentialsDeathTest, AKeyFileIsFoundByGooglesVariableAndUsedOverTls) {
  // As on a machine outside of Google's cloud.
  EXPECT_EXIT(SayAndExit(UseKeyFile()), testing::ExitedWithCode(0), "committed OK OK");
}

TEST_F(ClientCredentialsDeathTest, WithoutAnyThePersonIsToldWhatToDo) {
  // Every user's first run. (On Google's machines the client uses the machine's account.)
  EXPECT_EXIT(SayAndExit(UseNothing()), testing::ExitedWithCode(0),
              "aborted OK (UNAUTHENTICATED: .*gcloud auth application-default login|"
              "DEADLINE_EXCEEDED: no session)");
}

TEST_F(ClientCredentialsDeathTest, CredentialsThatGrpcDoesNotKnowAreToldAsWhatTheyAre) {
  EXPECT_EXIT(SayAndExit(UseImpersonation()), testing::ExitedWithCode(0),
              "UNAUTHENTICATED: .*adc.json are of type .impersonated_service_account., which gRPC "
              "cannot use");
}

TEST_F(ClientCredentialsDeathTest, TheEmulatorsVariableNeedsNone) {
  // As Google's clients find it.
  EXPECT_EXIT(SayAndExit(UseEmulatorHost()), testing::ExitedWithCode(0), "committed OK OK");
}

}  // namespace
}  // namespace whorl::real_client::client_credentials_test
