// semaphore: its statements, rounds, beliefs, questions and the stop, as
// protocol/semaphore/README.md has them.
#include "protocol/semaphore/semaphore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/infos.h"
#include "protocol/protocol.h"
#include "tests/protocol/process_under_test.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl::semaphore::semaphore_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// One service under a test's hands (process_under_test.h), with its own verbs.
class Service : public ProcessUnderTest<Config, State> {
 public:
  Service() : ProcessUnderTest(MakeConfig("LeaderElection", "job", "a", Seconds(5))) {}

  const Did& Wakes() { return Fires(kRound); }
  // The reply to the round's UPDATE or query, or to a question's query.
  const Did& Updates(int64_t rows = 1) { return Ends(kRoundRequest, Committed({}, rows)); }
  const Did& QueryNames(const char* service) { return Ends(kRoundRequest, Named(service)); }
  const Did& QueryFindsNobody() { return Ends(kRoundRequest, Found({})); }
  const Did& Fails() { return Ends(kRoundRequest, Failed(Code::kInternal)); }
  const Did& AnswerNames(const char* service, AskId ask = 0) {
    return Ends(AskOf(ask), Named(service));
  }
  const Did& AnswerFindsNobody(AskId ask = 0) { return Ends(AskOf(ask), Found({})); }
  const Did& AnswerFails(AskId ask = 0) { return Ends(AskOf(ask), Failed(Code::kInternal)); }

 private:
  static RequestId AskOf(AskId ask) { return static_cast<RequestId>(kFirstAskRequest + ask); }
  static TransactionResult Named(const char* service) {
    return Found({{service, whorl::At(Seconds(1))}});
  }
  std::string TimerText(TimerId) const override { return "wake"; }
};

class ServiceTest : public testing::Test {
 protected:
  Service service;
};
using SemaphoreConfigTest = ServiceTest;
using SemaphoreRoundTest = ServiceTest;
using SemaphoreQuestionTest = ServiceTest;
using SemaphoreStopTest = ServiceTest;

// Its first round has told it that it leads, at 0.
void Leads(Service& service) {
  service.Starts();
  service.Updates();
  service.QueryNames("a");
}

// --- words -------------------------------------------------------------------------------------

TEST_F(SemaphoreConfigTest, SendsTheArticlesStatements) {
  // The text is what was published: a kinder one would prove nothing about it.
  EXPECT_EQ(service.config.update.text(),
            "UPDATE LeaderElection SET service_id = @serviceId, "
            "last_seen_active = CURRENT_TIMESTAMP() WHERE anchor = 1 AND "
            "((service_id != @serviceId AND last_seen_active < "
            "TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @timeout SECOND)) "
            "OR (service_id = @serviceId))");
  EXPECT_EQ(service.config.query.text(),
            "SELECT service_id, last_seen_active FROM LeaderElection WHERE anchor = 1 AND "
            "last_seen_active >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @timeout SECOND)");
  service.Starts();
  const Transaction& update = service.asked;
  EXPECT_EQ(update.mode, Mode::kReadWrite);
  EXPECT_EQ(update.statements.front().statement.parameters, (std::vector<Value>{"a", 5}));
  service.Updates();
  EXPECT_EQ(service.asked.mode, Mode::kStrongRead);
  EXPECT_EQ(service.Parameters(), (std::vector<Value>{5}));
}

TEST_F(SemaphoreConfigTest, ItsTimeoutIsInWholeSeconds) {
  // @timeout is a number of seconds.
  EXPECT_EQ(MakeConfig("t", "job", "a", Milliseconds(2'900)).timeout, Seconds(2));
  EXPECT_EQ(kTimeoutMin, kPeriod * 2) << "the article: at least twice the period";
}

TEST_F(SemaphoreConfigTest, TheRowOfInitIsExpiredAndNotNull) {
  // With a NULL neither arm of the UPDATE's condition is true, so nobody would ever lead.
  const Row row = InitRow();
  ASSERT_EQ(row.size(), 3U);
  EXPECT_EQ(row[0], Value(1));
  EXPECT_TRUE(std::holds_alternative<std::string>(row[1]));
  EXPECT_LT(std::get<Timestamp>(row[2]), At(Duration{}) - Seconds(365 * 86'400));
  EXPECT_EQ(Info().init_row, row);
}

TEST_F(SemaphoreRoundTest, IsAnUpdateAndAQueryEverySecond) {
  EXPECT_THAT(service.Starts(), ElementsAre("run update"));
  service.Passes(Milliseconds(10));
  EXPECT_THAT(service.Updates(), ElementsAre("run query"));
  EXPECT_FALSE(service.Believes()) << "an UPDATE that changed the row says nothing yet";
  service.Passes(Milliseconds(10));
  EXPECT_THAT(service.QueryNames("a"),
              ElementsAre("note got the lock", "callback 1", "set wake 1s"));
  EXPECT_TRUE(service.Believes());
  EXPECT_THAT(service.Wakes(), ElementsAre("run update"));
}

TEST_F(SemaphoreRoundTest, ThePeriodIsThatOfTheConfiguration) {
  // Exploration on a coarse grid of time needs other numbers than those that ship.
  service.config.constants.period = Seconds(3);
  service.Starts();
  service.Updates();
  EXPECT_THAT(service.QueryNames("b"), ElementsAre("set wake 3s"));
}

TEST_F(SemaphoreRoundTest, TheNextOneBeginsAtOnceWhenOneTookLongerThanThePeriod) {
  service.Starts();
  service.Passes(Milliseconds(1'700));
  service.Updates();
  EXPECT_THAT(service.QueryNames("b"), ElementsAre("set wake 1.7s"));
}

TEST_F(SemaphoreRoundTest, QueriesAlsoWhenTheUpdateFailed) {
  // Who leads is what the query says, and not what became of the UPDATE.
  service.Starts();
  EXPECT_THAT(service.Fails(), ElementsAre("note heartbeat failed", "run query"));
  service.QueryNames("a");
  EXPECT_TRUE(service.Believes());
}

TEST_F(SemaphoreRoundTest, AFailedQueryChangesNothing) {
  // Findings M2 and M3: no clock of its own ends a belief.
  Leads(service);
  service.Wakes();
  service.Fails();
  service.Passes(Seconds(3'600));
  EXPECT_THAT(service.Fails(), ElementsAre("note read failed", "set wake 3601s"));
  EXPECT_TRUE(service.Believes());
  EXPECT_EQ(LeadershipViewOf(service.state).believes_until, std::nullopt);
}

TEST_F(SemaphoreRoundTest, AnotherLeaderEndsTheBeliefAndSoDoesNone) {
  for (const bool another : {true, false}) {
    service = Service();
    Leads(service);
    service.Wakes();
    service.Updates(0);
    another ? service.QueryNames("b") : service.QueryFindsNobody();
    EXPECT_THAT(service.did, ElementsAre("note lost the lock", "callback 0", "set wake 2s"));
    EXPECT_FALSE(service.Believes());
  }
}

TEST_F(SemaphoreRoundTest, OnlyChangesAreToldToTheUser) {
  Leads(service);
  service.Wakes();
  service.Updates();
  EXPECT_THAT(service.QueryNames("a"), ElementsAre("set wake 2s"));
}

TEST_F(SemaphoreQuestionTest, AskingRunsTheQuery) {
  Leads(service);
  EXPECT_THAT(service.Asks(Question::kHasLock), ElementsAre("run has_lock"));
  EXPECT_EQ(service.asked.statements.front().statement.sql, service.config.query);
  EXPECT_THAT(service.AnswerNames("a"), ElementsAre("HasLock yes"))
      << "there is no token to hand out";
  service.Asks(Question::kHasLock2);
  EXPECT_THAT(service.AnswerNames("a"), ElementsAre("HasLock2 yes 'a'"));
}

TEST_F(SemaphoreQuestionTest, ItsAnswerIsAQueryLikeAnyOther) {
  // A process that was told "no" stops believing at once, not in the next round.
  Leads(service);
  service.Asks(Question::kHasLock);
  EXPECT_THAT(service.AnswerNames("b"),
              ElementsAre("note lost the lock", "callback 0", "HasLock no"));
  EXPECT_FALSE(service.Believes());
}

TEST_F(SemaphoreQuestionTest, AnErrorIsNoAnswerAndSaysNothing) {
  Leads(service);
  service.Asks(Question::kHasLock);
  EXPECT_THAT(service.AnswerFails(), ElementsAre("HasLock no"));
  EXPECT_TRUE(service.Believes());
}

TEST_F(SemaphoreQuestionTest, LeaderIsWhomTheQueryNames) {
  Leads(service);
  service.Asks(Question::kLeader, 1);
  service.Asks(Question::kHasLock, 0);
  EXPECT_EQ(service.AnswerNames("b", 1).back(), "1: Leader yes 'b'");
  EXPECT_EQ(service.AnswerFindsNobody(0).back(), "HasLock no");
  service.Asks(Question::kLeader);
  EXPECT_THAT(service.AnswerFindsNobody(), ElementsAre("Leader no"));
  service.Asks(Question::kLeader);
  EXPECT_THAT(service.AnswerFails(), ElementsAre("Leader no 'INTERNAL: lost'"));
  EXPECT_THAT(service.state.asks, IsEmpty());
}

TEST_F(SemaphoreStopTest, GivesNothingBack) {
  Leads(service);
  EXPECT_THAT(service.Stops(), ElementsAre("cancel wake", "callback 0"));
  EXPECT_FALSE(service.Believes());
  EXPECT_FALSE(LeadershipViewOf(service.state).answers);
  EXPECT_THAT(service.Stops(), IsEmpty());
  EXPECT_THAT(service.Asks(Question::kHasLock), ElementsAre("HasLock no"));
}

TEST_F(SemaphoreStopTest, CancelsTheRoundThatIsUnderWay) {
  service.Starts();
  EXPECT_THAT(service.Stops(), ElementsAre("cancel update"));
  EXPECT_THAT(service.Updates(), IsEmpty());
}

TEST_F(SemaphoreStopTest, AnAnswerThatComesLateBringsNoBeliefBack) {
  Leads(service);
  service.Asks(Question::kHasLock);
  service.Stops();
  EXPECT_THAT(service.AnswerNames("a"), ElementsAre("HasLock yes"));
  EXPECT_FALSE(service.Believes());
}

}  // namespace
}  // namespace whorl::semaphore::semaphore_test
