// One script, two ways of running it: the runner's retries, its unknown outcomes and the loss of
// its session are the same through a simulated network and through gRPC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "live/emulator_process.h"
#include "spanner_model/server/server.h"
#include "tests/support/grpc_backend.h"
#include "tests/support/raw_spanner.h"
#include "tests/support/scripted_network.h"
#include "tests/support/scripts.h"
#include "tests/support/simulated_backend.h"

namespace whorl::two_backends_test {
namespace {

std::string NameOf(const testing::TestParamInfo<Script>& script) {
  const bool regular = script.param.sessions == SessionKind::kRegular;
  return script.param.name + (regular ? "OnRegular" : "OnMultiplexed");
}

class TwoBackendsTest : public testing::TestWithParam<Script> {
 protected:
  static std::vector<std::string> Expected() {
    const Script& script = GetParam();
    return script.sessions == SessionKind::kRegular ? LinesOnRegular(script.expected)
                                                    : script.expected;
  }
};

TEST_P(TwoBackendsTest, BySimulation) {
  EXPECT_EQ(SimulatedBackend(ScriptDdl()).Run(GetParam()), Expected());
}

// On whorl's own server.
TEST_P(TwoBackendsTest, ByGrpc) {
  server::ServerOptions options;
  options.backend.databases = {{.name = kScriptDatabase, .statements = ScriptDdl()}};
  auto server = server::Server::Start(std::move(options));
  ASSERT_TRUE(server.ok()) << server.status().message();
  GrpcBackend grpc(MakeChannel((*server)->address()), kScriptDatabase);
  EXPECT_EQ(grpc.Run(GetParam()), Expected());
}

INSTANTIATE_TEST_SUITE_P(Scripts, TwoBackendsTest, testing::ValuesIn(AllScripts()), NameOf);

// On the official emulator, for the scripts that it can serve: it has no multiplexed sessions, one
// lock for a whole database, and keeps the locks of a deleted session.
class TwoBackendsEmulatorTest : public testing::TestWithParam<Script> {
 protected:
  static void SetUpTestSuite() { emulator_ = EmulatorProcess::Start(); }
  static void TearDownTestSuite() { emulator_.reset(); }

  static inline std::unique_ptr<EmulatorProcess> emulator_;
  static inline int databases_ = 0;
};

TEST_P(TwoBackendsEmulatorTest, ByGrpc) {
  if (emulator_ == nullptr) GTEST_SKIP() << kNoEmulator;
  RawSpanner admin(emulator_->channel());
  const std::string id = "database" + std::to_string(++databases_);
  ASSERT_TRUE(admin.CreateDatabase(id, ScriptDdl()).ok());
  GrpcBackend grpc(emulator_->channel(), RawSpanner::DatabaseName(id));
  EXPECT_EQ(grpc.Run(GetParam()), LinesOnRegular(GetParam().expected));
}

std::vector<Script> ScriptsForTheEmulator() {
  std::vector<Script> scripts = AllScripts();
  std::erase_if(scripts, [](const Script& script) {
    return script.sessions == SessionKind::kMultiplexed || script.name.starts_with("Wounded") ||
           script.name == "TheSessionIsGoneBetweenStatements" ||
           script.name == "TheSessionIsGoneAtCommit";
  });
  return scripts;
}

INSTANTIATE_TEST_SUITE_P(Scripts, TwoBackendsEmulatorTest,
                         testing::ValuesIn(ScriptsForTheEmulator()), NameOf);

}  // namespace
}  // namespace whorl::two_backends_test
