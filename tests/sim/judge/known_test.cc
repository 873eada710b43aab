// What is known of a violation: promise, circumstances, assumptions, findings of the page.
#include "sim/judge/known.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "tests/support/sim_testing.h"

namespace whorl::sim::known_test {
namespace {

using testing::ElementsAre;

Scenario OfProtocol(const std::string& protocol, const std::string& more = "") {
  return ScenarioOf(R"({"version": 1, "about": "a test", "protocol": ")" + protocol +
                    R"(", "nodes": [{"name": "a"}, {"name": "b"}], "duration": "60s")" + more +
                    "}");
}

TEST(Known, APromiseIsBrokenWhereNothingExcusesIt) {
  const KnownOfViolation known =
      KnownOf(OfProtocol("fenced_lease"), Invariant::kSingleLeaderBelief, Promise::kPromised);
  EXPECT_TRUE(known.IsPromiseBroken());
  EXPECT_EQ(PromiseText(known), "promised");
  EXPECT_EQ(FindingsText(known), "");
}

TEST(Known, AnAssumptionThatTheScenarioBreaksExcusesIt) {
  const KnownOfViolation known = KnownOf(
      OfProtocol("fenced_lease",
                 R"(, "faults": [{"at": "1s", "do": "clock", "node": "a", "rate_ppm": 50000}])"),
      Invariant::kLeaseRespected, Promise::kPromised);
  EXPECT_FALSE(known.IsPromiseBroken());
  EXPECT_EQ(PromiseText(known),
            "promised, but beyond its assumptions: a node's clocks run faster or slower than "
            "assumed");
}

TEST(Known, ACircumstanceInWhichItIsNotPromisedIsNamed) {
  const Scenario released =
      OfProtocol("fenced_lease", R"(, "faults": [{"at": "1s", "do": "release_row"}])");
  KnownOfViolation known = KnownOf(released, Invariant::kSingleLeaderBelief, Promise::kNotPromised);
  EXPECT_FALSE(known.IsPromiseBroken());
  EXPECT_EQ(PromiseText(known),
            "not promised where an operator releases a row by force, until the longest lease has "
            "passed since");
  known = KnownOf(released, Invariant::kSingleLeaderBelief, Promise::kPromised);
  EXPECT_TRUE(known.IsPromiseBroken()) << "it was later than that";
  EXPECT_EQ(PromiseText(known), "promised");
}

TEST(Known, FindingsThatTheScenarioRulesOutAreLeftOut) {
  const Scenario plain = OfProtocol("spindle_v3");
  EXPECT_THAT(KnownOf(plain, Invariant::kSingleLeaderBelief, Promise::kNotPromised).findings,
              ElementsAre("V1", "V2"));
  Scenario shared = plain;
  for (NodeSpec& node : shared.nodes) node.id = "twin";
  const KnownOfViolation known = KnownOf(shared, Invariant::kLeaseRespected, Promise::kNotPromised);
  EXPECT_THAT(known.findings, ElementsAre("V4"));
  EXPECT_EQ(FindingsText(known), "V4, see protocol/spindle_v3/README.md");
  EXPECT_EQ(FindingsText(KnownOf(plain, Invariant::kSingleLeaderBelief, Promise::kNotPromised)),
            "V1 or V2, see protocol/spindle_v3/README.md");
}

// --- the pages -----------------------------------------------------------------------------------

using Findings = std::map<std::string, std::set<std::string>>;

std::string Section(const std::string& page, const std::string& title) {
  std::ifstream stream(WHORL_SOURCE_DIR "/" + page);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const size_t begin = text.find("\n## " + title + "\n");
  if (begin == std::string::npos) return {};
  return text.substr(begin + 1, text.find("\n## ", begin + 1) - begin);
}

// The page's table: each id, and the invariants that it breaks. What costs time only is left out.
Findings FindingsOfPage(const std::string& page) {
  Findings findings;
  std::istringstream lines(Section(page, "Findings"));
  const std::regex row(R"(\| (\w+) \| .* \| ([^|]*) \| [^|]* \|)");
  const std::regex name("`(\\w+)`");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    const std::string breaks = match[2];
    for (std::sregex_iterator it(breaks.begin(), breaks.end(), name), end; it != end; ++it) {
      findings[match[1]].insert((*it)[1]);
    }
  }
  return findings;
}

TEST(Known, FindingsAreThoseOfThePages) {
  size_t count = 0;
  for (const ProtocolInfo& protocol : Protocols()) {
    Findings known;
    for (const KnownFinding& finding : protocol.findings) {
      for (const Invariant invariant : finding.breaks) {
        known[std::string(finding.id)].insert(std::string(WordOf(invariant)));
      }
    }
    EXPECT_EQ(known, FindingsOfPage(std::string(protocol.page))) << protocol.page;
    count += known.size();
  }
  EXPECT_GT(count, 25U);
}

using Limits = std::multiset<std::tuple<std::string, std::string, std::string>>;

// The page's table of what is not promised: invariant, circumstance, for how long.
Limits LimitsOfPage(const std::string& page) {
  Limits limits;
  std::istringstream lines(Section(page, "Promises"));
  const std::regex row(R"(\| `(\w+)` \| ([^|]*) \| ([^|]*) \|)");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, row)) limits.emplace(match[1], match[2], match[3]);
  }
  return limits;
}

TEST(Known, LimitsArePromisedByThePages) {
  size_t count = 0;
  for (const ProtocolInfo& protocol : Protocols()) {
    Limits known;
    for (const PromiseLimit& limit : protocol.promise_limits) {
      known.emplace(WordOf(limit.invariant), WordOf(limit.circumstance), WordOf(limit.void_for));
    }
    EXPECT_EQ(known, LimitsOfPage(std::string(protocol.page))) << protocol.page;
    count += known.size();
  }
  EXPECT_GT(count, 15U);
}

}  // namespace
}  // namespace whorl::sim::known_test
