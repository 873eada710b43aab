// One script, two ways of running it: the runner's retries, its unknown outcomes and the loss of
// its session are the same through a simulated network and through gRPC.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/script_servers.h"
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
TEST_P(TwoBackendsTest, ByGrpc) { EXPECT_EQ(RunOnServer(GetParam()), Expected()); }

INSTANTIATE_TEST_SUITE_P(Scripts, TwoBackendsTest, testing::ValuesIn(AllScripts()), NameOf);

using TwoBackendsEmulatorTest = ScriptEmulatorTest;

TEST_P(TwoBackendsEmulatorTest, ByGrpc) { Expect(LinesOnRegular(GetParam().expected)); }

INSTANTIATE_TEST_SUITE_P(Scripts, TwoBackendsEmulatorTest,
                         testing::ValuesIn(ScriptsForTheEmulator()), NameOf);

}  // namespace
}  // namespace whorl::two_backends_test
