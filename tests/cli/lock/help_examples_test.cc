// The examples in the help of commands that speak gRPC are valid: they name options and files that
// exist. No Spanner is called: no server listens at the address.

#include "tests/cli/help_examples.h"

namespace whorl {
namespace {

using testing::HasSubstr;
using testing::Not;

class GrpcHelpExamplesTest : public HelpExamples {
 protected:
  // The examples that have `part` in them.
  void Check(const std::string& command, const std::string& help, const std::string& part = "") {
    for (const std::string& example : ExamplesIn(help)) {
      if (example.find(part) == std::string::npos) continue;
      ++examples_;
      const Ended ended = RunExample(
          "export WHORL_DATABASE=projects/my-project/instances/my-instance/databases/my-db "
          "SPANNER_EMULATOR_HOST=127.0.0.1:1\n" +
          example);
      // Bad usage is 2, or of exec 125, which other failures are, too.
      EXPECT_NE(ended.code, 2) << command << ": " << example << ": " << ended.err;
      EXPECT_THAT(ended.err, Not(HasSubstr("--help says"))) << command << ": " << example;
    }
    RemoveWhatExamplesWrote();
  }
};

// People copy the first thing that they see.
TEST_F(GrpcHelpExamplesTest, OfLockAreUnderstood) {
  for (const std::string& name : SubCommandsIn(HelpOf("lock"))) {
    Check("lock " + name, HelpOf("lock " + name));
  }
  EXPECT_GE(examples_, 8U);
}

TEST_F(GrpcHelpExamplesTest, OfConformAreUnderstood) {
  std::filesystem::permissions(Write("node", "#!/bin/sh\nexit 1\n"),
                               std::filesystem::perms::owner_all);
  for (const std::string& example : ExamplesIn(HelpOf("conform"))) {
    ++examples_;
    EXPECT_THAT(RunToItsEnd(example), Complains(3, testing::HasSubstr("ended by itself")))
        << example;
  }
}

// Runs them, with a command that is there, and for half a second.
TEST_F(GrpcHelpExamplesTest, OfServeRun) {
  Write("locks.sql", "CREATE TABLE a (k INT64) PRIMARY KEY (k);");
  Write("faults.json", R"({"faults": [{"do": "abort"}]})");
  std::vector<std::string> examples = ExamplesIn(HelpOf("serve"));
  for (const std::string& example : ExamplesIn(HelpOf("proxy"))) examples.push_back(example);
  for (const std::string& example : examples) {
    ++examples_;
    const Ended ended = RunExample(example.substr(0, example.find(" -- ")) +
                                   (example.find(" -- ") == std::string::npos ? "" : " -- true"));
    EXPECT_TRUE(Ran(ended)) << example << " ends with " << ended.code << ": " << ended.err;
  }
  EXPECT_GE(examples_, 5U);
}

TEST_F(GrpcHelpExamplesTest, OfRealRunsAreUnderstood) {
  for (const char* command : {"replay", "bench takeover"}) {
    Check(command, HelpOf(command), " --on ");
  }
  EXPECT_GE(examples_, 5U);
}

TEST_F(GrpcHelpExamplesTest, OfDatabasesAreUnderstood) {
  Check("check", HelpOf("check"), " --stream ");
  Check("check", HelpOf("check"), " --database ");
  EXPECT_GE(examples_, 2U);
}

// Or the tests above would prove nothing.
TEST_F(GrpcHelpExamplesTest, WhatIsNotUnderstoodIsSeen) {
  EXPECT_THAT(RunToItsEnd("whorl lock exec nightly --no-such-option -- true").err,
              HasSubstr("--help says"));
  EXPECT_EQ(RunToItsEnd("whorl lock init --no-such-option").code, 2);
  EXPECT_EQ(RunToItsEnd("whorl replay no_such.json --on server").code, 2);
}

}  // namespace
}  // namespace whorl
