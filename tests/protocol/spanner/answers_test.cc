// What each call may answer: the table in code is the one on the page of rules.
#include "protocol/spanner/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "sim/scenario/faults/kinds.h"

namespace whorl::answers_test {
namespace {

using testing::Contains;

std::string ListOf(CodeSet codes) {
  std::string list;
  for (const Code code : AllOf<Code>()) {
    if (!codes.Has(code)) continue;
    if (!list.empty()) list += ", ";
    list += WordOf(code);
  }
  return list;
}

// Who writes rules reads the page.
TEST(AnswersTest, AreTheTableOnThePageOfRules) {
  std::vector<std::string> rows;
  std::ifstream page(std::string(WHORL_SOURCE_DIR) + "/live/rules/README.md");
  for (std::string line; std::getline(page, line);) rows.push_back(line);
  EXPECT_THAT(rows, Contains("| any call, before it is served | " + ListOf(AnyCall()) + " |"));
  for (const CallAnswers& answers : AnswersOfCalls()) {
    const std::string codes = ListOf(answers.codes);
    EXPECT_THAT(rows, Contains("| `" + std::string(answers.method) + "`, too | " +
                               (codes.empty() ? "nothing else" : codes) + " |"));
  }
  EXPECT_THAT(rows, Contains("| any call that was served | " + ListOf(OutcomeUnknown()) + " |"));
  EXPECT_THAT(rows, Contains("| a `Commit` that comes again, perhaps after it was applied | " +
                             ListOf(CommitAgain()) + " |"));
}

// Spanner never says ABORTED of what is committed, of a read outside of a read-write transaction, or to a
// Rollback (its proto): a client that is shown one would be right to break.
TEST(AnswersTest, AbortedIsOfReadWriteTransactionsThatAreNotCommitted) {
  EXPECT_TRUE(MayAnswer("Commit", Code::kAborted, true));
  EXPECT_TRUE(MayAnswer("ExecuteStreamingSql", Code::kAborted, true));
  EXPECT_FALSE(MayAnswer("ExecuteStreamingSql", Code::kAborted, false));
  EXPECT_FALSE(MayAnswer("Rollback", Code::kAborted, true));
  EXPECT_FALSE(MayAnswer("CreateSession", Code::kAborted, true));
  EXPECT_FALSE(MayAnswer("GetDatabase", Code::kAborted, true));
  EXPECT_FALSE(OutcomeUnknown().Has(Code::kAborted));
  EXPECT_FALSE(CommitAgain().Has(Code::kAborted));
}

// DML that broke a constraint dooms its transaction, which then answers a read with that error: so does the
// emulator.
TEST(AnswersTest, AReadRepeatsTheErrorOfItsTransaction) {
  EXPECT_TRUE(MayAnswer("Read", Code::kAlreadyExists, true));
  EXPECT_TRUE(MayAnswer("StreamingRead", Code::kAlreadyExists, true));
  EXPECT_FALSE(MayAnswer("BeginTransaction", Code::kAlreadyExists, true));
}

TEST(AnswersTest, NoCallIsAnsweredByDataLoss) {
  for (const CallAnswers& answers : AnswersOfCalls()) {
    EXPECT_FALSE(MayAnswer(answers.method, Code::kDataLoss, true)) << answers.method;
    EXPECT_TRUE(MayAnswer(answers.method, Code::kUnavailable, true)) << answers.method;
  }
}

// Scenarios' `error` has every code that Spanner can answer, and those that it never answers.
TEST(AnswersTest, ScenariosHaveEveryCodeButOk) {
  std::set<Code> codes;
  for (const sim::ErrorCode code : AllOf<sim::ErrorCode>()) codes.insert(sim::CodeOf(code));
  EXPECT_EQ(codes.size(), kCountOf<Code> - 1);
  EXPECT_FALSE(codes.contains(Code::kOk));
}

}  // namespace
}  // namespace whorl::answers_test
