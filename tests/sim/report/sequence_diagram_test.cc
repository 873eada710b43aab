// A diagram is pasted into a ticket and read there by people who have nothing else of the run: it has
// to be valid whatever the names are, short, and about what mattered.
#include "sim/report/sequence_diagram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "sim/judge/run.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::sequence_diagram_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> DiagramOf(const Scenario& scenario) {
  SequenceDiagram diagram(scenario);
  const RunResult result = RunScenario(scenario, scenario.seed, &diagram);
  std::vector<std::string> lines;
  std::istringstream text(diagram.Text(result));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// The statements that a diagram consists of, strictly: a text has no character that Mermaid could
// take for syntax, except references to characters and breaks of lines.
bool IsStatement(const std::string& line) {
  static const std::string kText = "([A-Za-z0-9_ .,:+'()=!?/\\x80-\\xff-]|#[0-9]+;|<br/>)*";
  static const std::string kWho = "(n[0-9]+|spanner|resource)";
  static const std::regex kStatement("sequenceDiagram|participant " + kWho + " as " + kText +
                                     "|Note over " + kWho + "(," + kWho + ")?: " + kText + "|" +
                                     kWho + "(->>|-x|--x)" + kWho + ": " + kText);
  return std::regex_match(line, kStatement);
}

TEST(SequenceDiagramTest, TellsTakeoverFaultViolationAndRefusedWrite) {
  const std::vector<std::string> lines = DiagramOf(ScenarioOf(kStaleTokenByAPause));
  EXPECT_EQ(lines.front(), "sequenceDiagram");
  EXPECT_THAT(lines, Contains("participant n0 as a"));
  EXPECT_THAT(lines, Contains(testing::MatchesRegex("n1->>spanner.*takeover_update.*by b")));
  EXPECT_THAT(lines, Contains(testing::StartsWith("Note over n0: 20.000809 fault pause")));
  EXPECT_THAT(lines, Contains(testing::MatchesRegex("n0-xresource: .*stale write refused")));
  EXPECT_THAT(lines, Contains(HasSubstr("!! single_leader_belief violated")));
  for (const std::string& line : lines) EXPECT_TRUE(IsStatement(line)) << line;
}

TEST(SequenceDiagramTest, HasAtMostSixtyLinesAndSaysHowMuchIsLeftOut) {
  Scenario scenario = ScenarioOf(R"({"version": 1, "about": "a test", "protocol": "spindle_v2",
    "lease": "5s", "nodes": ["a", "b", "c", "d", "e"], "duration": "600s", "seed": 4,
    "faults": [{"at": "15s", "do": "pause", "node": "leader", "for": "16s", "every": "30s",
                "times": 19}]})");
  const std::vector<std::string> lines = DiagramOf(scenario);
  EXPECT_LE(lines.size(), SequenceDiagram::kMaxLines);
  EXPECT_GT(lines.size(), SequenceDiagram::kMaxLines - 3);
  EXPECT_THAT(lines.back(), testing::MatchesRegex(".*: [0-9,]+ changes of less weight left out.*"));
  EXPECT_THAT(lines, Contains(HasSubstr("violated")));
}

// A short run is told whole, and claims nothing else.
TEST(SequenceDiagramTest, AShortRunIsWhole) {
  const std::vector<std::string> lines = DiagramOf(ScenarioOf(kStaleTokenByAPause));
  for (const std::string& line : lines) EXPECT_THAT(line, Not(HasSubstr("left out")));
}

TEST(SequenceDiagramTest, NoNameBecomesSyntax) {
  EXPECT_EQ(MermaidText("end"), "#101;nd");
  EXPECT_EQ(MermaidText("the End; loop"), "the #69;nd#59; loop");
  EXPECT_EQ(MermaidText("send ends"), "send ends");
  EXPECT_EQ(MermaidText("#35;<br/>%%{@"), "#35;35#59;#60;br/#62;#37;#37;#123;#64;");
  EXPECT_EQ(MermaidText("a\nb"), "a#92;x0ab");
  for (const char* name :
       {"end", "a;n1->>spanner: forged", "participant x as y", "@{ \"type\": 1 }",
        "<script>alert(1)</script>", "%% gone", "->>", "#59;"}) {
    Scenario scenario = ScenarioOf(kStaleTokenByAPause);
    scenario.nodes[0].name = name;
    scenario.locks[0] = name;
    scenario.name = name;
    const std::vector<std::string> lines = DiagramOf(scenario);
    const auto participants = std::ranges::count_if(
        lines, [](const std::string& line) { return line.starts_with("participant "); });
    EXPECT_EQ(participants, 4) << name;
    for (const std::string& line : lines) EXPECT_TRUE(IsStatement(line)) << line;
  }
}

}  // namespace
}  // namespace whorl::sim::sequence_diagram_test
