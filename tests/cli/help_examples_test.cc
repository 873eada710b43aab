// The examples in help texts run: they name options and files that exist.
//
// Those of `whorl lock`, `--on`, `--stream` and `--database` are in lock/help_examples_test.cc, since they speak gRPC.

#include "tests/cli/help_examples.h"

#include <regex>

namespace whorl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr size_t kLeastExamples = 35;

class HelpExamplesTest : public HelpExamples {
 protected:
  // Those of the command and of its sub-commands.
  void CheckCommand(const std::string& command) {
    // tests/cli/lock/help_examples_test.cc has these; `play` goes on until a signal comes.
    static const std::regex elsewhere(" (lock|serve|proxy|conform|play)");
    if (std::regex_match(command, elsewhere)) return;
    const std::string help = HelpOf(command);
    for (const std::string& example : ExamplesIn(help)) CheckExample(command, example);
    RemoveWhatExamplesWrote();
    for (const std::string& name : SubCommandsIn(help)) CheckCommand(command + " " + name);
  }

  void CheckExample(const std::string& command, const std::string& example) {
    if (example.starts_with("...")) return;  // says what the reader does meanwhile
    if (example.find(" --stream ") != std::string::npos) return;
    if (example.starts_with("whorl check --database ")) return;
    ++examples_;
    // Real processes are the other program's, with the options that only they have; the scenario has
    // to be there all the same.
    static const std::regex on(" (--on (server|emulator)|--where-possible|--save [^ ]+)");
    const Ended ended = RunExample(std::regex_replace(example, on, ""));
    // Pages need tools that not every machine has.
    if (ended.code == 3 && ended.err.find("built without pages") != std::string::npos) return;
    EXPECT_TRUE(Ran(ended)) << "whorl" << command << " --help shows `" << example
                            << "`, which ends with " << ended.code << ": " << ended.err;
  }
};

// People copy the first thing that they see.
TEST_F(HelpExamplesTest, RunAsTheyStand) {
  CheckCommand("");
  EXPECT_GE(examples_, kLeastExamples);
}

// `./dev replay` passes its arguments on; the others would build.
TEST_F(HelpExamplesTest, OfDevRunOrNameOptionsOfTheirHelp) {
  size_t replayed = 0;
  for (const char* command :
       {"setup", "build", "replay", "test", "bench", "package", "lint", "format"}) {
    const std::string help = Shell(std::string(WHORL_SOURCE_DIR "/dev ") + command + " --help").out;
    const std::string usage = help.substr(0, help.find("Examples:"));
    for (const std::string& example : ExamplesIn(help)) {
      constexpr std::string_view kReplay = "./dev replay";
      if (example.starts_with(kReplay)) {
        ++replayed;
        const bool names_a_path = example.find("scenarios") != std::string::npos;
        const Ended ended =
            RunExample(std::string("whorl replay ") + (names_a_path ? "" : "scenarios ") +
                       example.substr(kReplay.size()));
        EXPECT_TRUE(Ran(ended)) << example << " ends with " << ended.code << ": " << ended.err;
        continue;
      }
      EXPECT_TRUE(example.starts_with(std::string("./dev ") + command)) << example;
      static const std::regex option("--[a-z]+(?![a-z_])");
      for (std::sregex_iterator match(example.begin(), example.end(), option), end; match != end;
           ++match) {
        EXPECT_NE(usage.find(match->str()), std::string::npos)
            << "./dev " << command << " --help does not explain " << match->str();
      }
    }
  }
  EXPECT_GE(replayed, 3U);
}

// --- the test of the tests ---------------------------------------------------------------------

TEST_F(HelpExamplesTest, FailWhereAFileOrAnOptionDoesNotExist) {
  EXPECT_EQ(RunToItsEnd("whorl replay scenarios/no_such_scenario.json").code, 2);
  EXPECT_EQ(RunToItsEnd("whorl replay scenarios/fault_crash.json --no-such-option").code, 2);
  EXPECT_EQ(RunToItsEnd("whorl replay no_such.json | cat").code, 2);
  EXPECT_EQ(RunToItsEnd("whorl replay scenarios/fault_crash.json").code, 0);
  EXPECT_EQ(RunExample("whorl hunt --protocol fenced_lease --promised --for 1h").code, 124);
}

TEST(HelpExamplesReading, FindsExamplesAndSubCommands) {
  const std::string_view help =
      "Subcommands:\n  a      does a,\n         and more\n  b      does b\n\n"
      "More. Examples:\n\n  whorl a x.json    does it\n  whorl b\n\nNot one:\n  whorl c\n";
  EXPECT_THAT(SubCommandsIn(help), ElementsAre("a", "b"));
  EXPECT_THAT(ExamplesIn(help), ElementsAre("whorl a x.json", "whorl b"));
  EXPECT_THAT(ExamplesIn("whorl\n  whorl d\n"), IsEmpty());
}

}  // namespace
}  // namespace whorl
