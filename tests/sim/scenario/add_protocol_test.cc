// The three descriptions of a protocol are compared before anything runs: after a mistake there,
// the checkers would judge something else than what runs.
#include "sim/scenario/add_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "protocol/protocols.h"
#include "sim/scenario/rules.h"

namespace whorl::sim::add_protocol_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A good protocol, of which each test spoils one thing.
class AddProtocolTest : public testing::Test {
 protected:
  void ExpectMistake(const std::string& text) {
    EXPECT_THAT(MistakesIn(info_, rules_), ElementsAre(HasSubstr(text)));
  }

  ProtocolInfo info_ = *FindProtocol("spindle_v3");
  Rules rules_ = RulesOf("spindle_v3");
};

TEST_F(AddProtocolTest, FindsNothingInTheProtocolsOfTheHouse) {
  for (const ProtocolInfo& info : Protocols()) {
    EXPECT_THAT(MistakesIn(info, RulesOf(info.name)), IsEmpty()) << info.name;
  }
}

TEST_F(AddProtocolTest, WantsANameThatScenariosCanWrite) {
  info_.name = rules_.protocol = "My Lock";
  ExpectMistake("small letters");
}

TEST_F(AddProtocolTest, WantsATableThatSpannerTakes) {
  info_.create_table = "CREATE TABLE locktable (name STRNG(MAX)) PRIMARY KEY (name)";
  ExpectMistake("create_table: ");
}

TEST_F(AddProtocolTest, WantsTheColumnsOfTheTable) {
  std::array<ColumnInfo, 3> columns{};
  std::ranges::copy(info_.columns, columns.begin());
  columns[2].name = "holder";
  info_.columns = columns;
  ExpectMistake("column owner of create_table is described otherwise");
  info_.columns = info_.columns.first(2);
  ExpectMistake("create_table has 3 columns, and 2 are described");
}

TEST_F(AddProtocolTest, WantsStepsOfItsOwnWhereStepsAreNamed) {
  rules_.renewing_step = StepName::kBeat;
  ExpectMistake("renewing_step names beat");
}

TEST_F(AddProtocolTest, WantsNoStepThatEveryProtocolHas) {
  const std::array<StepName, 5> steps = {StepName::kLook, StepName::kAcquire, StepName::kHeartbeat,
                                         StepName::kRelease, StepName::kHasLock};
  info_.steps = steps;
  ExpectMistake("has_lock and write");
}

TEST_F(AddProtocolTest, WantsLeasesInOrder) {
  info_.lease_max = Seconds(1);
  ExpectMistake("lease_min <= lease_default <= lease_max");
}

TEST_F(AddProtocolTest, WantsItsOwnRules) {
  rules_.protocol = "fenced_lease";
  ExpectMistake("its rules are of the protocol \"fenced_lease\"");
}

TEST_F(AddProtocolTest, WantsColumnsThatHoldWhatTheRulesReadFromThem) {
  rules_.token_column = 2;
  ExpectMistake("token_column 2");
  rules_.token_column = 3;
  ExpectMistake("token_column 3");
}

TEST_F(AddProtocolTest, WantsEveryFunction) {
  rules_.wedge_bound = nullptr;
  ExpectMistake("wedge_bound");
}

TEST_F(AddProtocolTest, WantsAMachine) {
  info_.make_config = nullptr;
  ExpectMistake("make_config");
}

using AddProtocolDeathTest = AddProtocolTest;

TEST_F(AddProtocolDeathTest, EndsTheProgramWhereANameIsTaken) {
  // A scenario could not say which of the two it means.
  EXPECT_DEATH(AddProtocol(info_, rules_, {}), "protocol spindle_v3: there is one of that name");
}

}  // namespace
}  // namespace whorl::sim::add_protocol_test
