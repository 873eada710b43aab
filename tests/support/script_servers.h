// Runs scripts through gRPC on whorl's own server and on the official emulator.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "live/emulator_process.h"
#include "spanner_model/server/server.h"
#include "tests/support/grpc_backend.h"
#include "tests/support/raw_spanner.h"
#include "tests/support/scripts.h"

namespace whorl {

inline std::vector<std::string> RunOnServer(const Script& script,
                                            ClientMaker maker = MakeSpannerClient) {
  server::ServerOptions options;
  options.backend.databases = {{.name = kScriptDatabase, .statements = ScriptDdl()}};
  auto server = server::Server::Start(std::move(options));
  EXPECT_TRUE(server.ok()) << server.status().message();
  if (!server.ok()) return {};
  return GrpcBackend(MakeChannel((*server)->address()), kScriptDatabase, std::move(maker))
      .Run(script);
}

// The official emulator has no multiplexed sessions, one lock for a whole database, and keeps the
// locks of a deleted session.
inline std::vector<Script> ScriptsForTheEmulator() {
  std::vector<Script> scripts = AllScripts();
  std::erase_if(scripts, [](const Script& script) {
    return script.sessions == SessionKind::kMultiplexed || script.name.starts_with("Wounded") ||
           script.name == "TheSessionIsGoneBetweenStatements" ||
           script.name == "TheSessionIsGoneAtCommit";
  });
  return scripts;
}

class ScriptEmulatorTest : public testing::TestWithParam<Script> {
 protected:
  static void SetUpTestSuite() { emulator_ = EmulatorProcess::Start(); }
  static void TearDownTestSuite() { emulator_.reset(); }

  void Expect(const std::vector<std::string>& lines, ClientMaker maker = MakeSpannerClient) {
    if (emulator_ == nullptr) GTEST_SKIP() << kNoEmulator;
    RawSpanner admin(emulator_->channel());
    const std::string id = "database" + std::to_string(++databases_);
    ASSERT_TRUE(admin.CreateDatabase(id, ScriptDdl()).ok());
    GrpcBackend backend(emulator_->channel(), RawSpanner::DatabaseName(id), std::move(maker));
    EXPECT_EQ(backend.Run(GetParam()), lines);
  }

  static inline std::unique_ptr<EmulatorProcess> emulator_;
  static inline int databases_ = 0;
};

}  // namespace whorl
