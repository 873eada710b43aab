// The three descriptions of a protocol are compared before anything runs: after a mistake there,
// the checkers would judge something else than what runs.
#include "sim/scenario/add_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/fenced_lease/words.h"
#include "protocol/protocols.h"
#include "protocol/spindle_v3/words.h"
#include "sim/scenario/rules.h"

namespace whorl::sim::add_protocol_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A good protocol; each test spoils one thing of it.
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

TEST_F(AddProtocolTest, NamesTheOneThingThatIsWrong) {
  using Spoils = void (*)(ProtocolInfo&, Rules&);
  const std::vector<std::pair<Spoils, std::string>> all = {
      {[](auto& info, auto& rules) { info.name = rules.protocol = "My Lock"; }, "small letters"},
      {[](auto& info, auto&) {
         info.create_table = "CREATE TABLE locktable (name STRNG(MAX)) PRIMARY KEY (name)";
       },
       "create_table: "},
      {[](auto&, auto& rules) { rules.renewing_step = fenced_lease::steps::kBeat; },
       "renewing_step names beat"},
      {[](auto& info, auto&) { info.lease_max = Seconds(1); },
       "lease_min <= lease_default <= lease_max"},
      {[](auto&, auto& rules) { rules.protocol = "fenced_lease"; },
       "its rules are of the protocol \"fenced_lease\""},
      {[](auto&, auto& rules) { rules.wedge_bound = nullptr; }, "wedge_bound"},
      {[](auto&, auto& rules) { rules.lease_until = {}; }, "one of `renewed` and `until`"},
      {[](auto&, auto& rules) { rules.lease_until = {.renewed = 0}; }, "lease_until.renewed"},
      {[](auto&, auto& rules) { rules.is_released.null_column = 99; }, "is_released"},
      {[](auto&, auto& rules) { rules.lease_used.unit = {}; }, "lease_used"},
      {[](auto& info, auto&) { info.make_config = nullptr; }, "make_config"},
  };
  const std::pair good(info_, rules_);
  for (const auto& [spoils, mistake] : all) {
    SCOPED_TRACE(mistake);
    std::tie(info_, rules_) = good;
    spoils(info_, rules_);
    ExpectMistake(mistake);
  }
}

TEST_F(AddProtocolTest, WantsTheColumnsOfTheTable) {
  std::array<ColumnInfo, 3> columns{};
  std::ranges::copy(info_.columns, columns.begin());
  columns[2].name = "holder";
  info_.columns = columns;
  info_.holder_columns.holder = "holder";
  ExpectMistake("column owner of create_table is described otherwise");
  info_.columns = info_.columns.first(2);
  ExpectMistake("create_table has 3 columns, and 2 are described");
}

// A hunt tells the reader that no run can meet the goal: a word that is misspelt would tell nobody.
TEST_F(AddProtocolTest, WantsGoalsThatScenariosKnowAndAReason) {
  std::array<ImpossibleGoal, 1> goals = {{{.goal = "relase", .why = "it never gives a lock back"}}};
  info_.impossible_goals = goals;
  ExpectMistake("impossible_goals names relase");
  goals[0] = {.goal = "release", .why = ""};
  ExpectMistake("why release is impossible");
}

TEST_F(AddProtocolTest, WantsNoStepThatEveryProtocolHas) {
  const std::array<StepName, 5> steps = {spindle_v3::steps::kLook, spindle_v3::steps::kAcquire,
                                         spindle_v3::steps::kHeartbeat, spindle_v3::steps::kRelease,
                                         steps::kHasLock};
  info_.steps = steps;
  ExpectMistake("has_lock and write");
}

TEST_F(AddProtocolTest, WantsStepsThatScenariosCanWriteEachOnce) {
  // A protocol brings its own words, and a scenario names them.
  const std::array<StepName, 4> spaced = {spindle_v3::steps::kLook, spindle_v3::steps::kAcquire,
                                          spindle_v3::steps::kHeartbeat, StepName{"Give back"}};
  info_.steps = spaced;
  info_.urgent_steps = {};
  rules_.releasing_step = std::nullopt;
  rules_.locking_steps = {};
  ExpectMistake("the step \"Give back\" has to be made of small letters");
  const std::array<StepName, 4> repeated = {spindle_v3::steps::kLook, spindle_v3::steps::kAcquire,
                                            spindle_v3::steps::kHeartbeat,
                                            spindle_v3::steps::kLook};
  info_.steps = repeated;
  ExpectMistake("the step look stands among its steps twice");
}

TEST_F(AddProtocolTest, WantsColumnsThatHoldWhatTheRulesReadFromThem) {
  // The mistake names the column and its type: a number alone says neither.
  const size_t token = *rules_.token_column;
  rules_.token_column = 0;
  ExpectMistake(
      "token_column is the column name, which is STRING; it has to be TIMESTAMP or INT64");
  rules_.token_column = 7;
  ExpectMistake("token_column is 7, and the table has 3 columns");
  rules_.token_column = token;
  rules_.key_column = token;
  ExpectMistake("key_column is the column token, which is TIMESTAMP; it has to be STRING");
}

TEST_F(AddProtocolTest, WantsColumnsThatHoldWhatOperatorsAreShown) {
  info_.holder_columns.lease = "token";
  ExpectMistake("holder_columns.lease is the column token, which is TIMESTAMP; it has to be INT64");
  info_.holder_columns.lease = "expiry";
  ExpectMistake("holder_columns.lease names expiry, which is no column");
}

TEST_F(AddProtocolTest, TakesATokenThatIsAnEpoch) {
  // Many lock tables count their grants instead of keeping a commit timestamp.
  info_.create_table =
      "CREATE TABLE spindle_v3_locks (name STRING(MAX) NOT NULL, token INT64, owner STRING(MAX), "
      "renewed TIMESTAMP) PRIMARY KEY (name)";
  std::array<ColumnInfo, 4> columns{};
  std::ranges::copy(info_.columns, columns.begin());
  columns[3] = {.name = "renewed", .type = Type::kTimestamp};
  rules_.lease_until = {.renewed = 3};
  const size_t token = *rules_.token_column;
  columns[token].type = Type::kInt64;
  info_.columns = columns;
  info_.holder_columns.since = {};
  info_.holder_columns.renewed = {};
  info_.holder_columns.until = {};
  EXPECT_THAT(MistakesIn(info_, rules_), IsEmpty());
}

using AddProtocolDeathTest = AddProtocolTest;

TEST_F(AddProtocolDeathTest, EndsTheProgramWhereANameIsTaken) {
  // A scenario could not say which of the two it means.
  EXPECT_DEATH(AddProtocol(info_, rules_, {}), "protocol spindle_v3: there is one of that name");
}

}  // namespace
}  // namespace whorl::sim::add_protocol_test
