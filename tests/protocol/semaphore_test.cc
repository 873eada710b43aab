// semaphore: its statements, rounds, beliefs, questions and the stop, as
// protocol/semaphore/README.md has them.
#include "protocol/semaphore/semaphore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/protocol.h"
#include "protocol/semaphore/info.h"
#include "protocol/spanner/fingerprint.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl::semaphore::semaphore_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Config MakeTestConfig(std::string id = "a") {
  return MakeConfig("LeaderElection", "job", std::move(id), Seconds(5));
}

// One service under a test's hands: verbs for what happens to it, and one line of text for each
// thing that it does. Time stands still unless a verb moves it; `did` holds what the last verb led
// to.
class Service {
 public:
  explicit Service(Config with = MakeTestConfig()) : config(std::move(with)) {}

  void Starts() { Hears(Started{}); }
  void Stops() { Hears(StopRequested{}); }
  void Passes(Duration time) { now += time; }
  // The timer fires at the time for which it was set.
  void Wakes() {
    ASSERT_TRUE(wake.has_value()) << "no timer is set";
    now = std::max(now, *std::exchange(wake, std::nullopt));
    Hears(TimerFired{.timer = kRound});
  }
  void Asks(Question question, AskId ask = 0) { Hears(Asked{.ask = ask, .question = question}); }

  void Updates(int64_t rows = 1) {
    Ends(kRoundRequest,
         {.outcome = Outcome::kCommitted, .status = {}, .results = {{.row_count = rows}}});
  }
  void QueryNames(const std::string& service) { Ends(kRoundRequest, Named(service)); }
  void QueryFindsNobody() { Ends(kRoundRequest, Nobody()); }
  void Fails() { Ends(kRoundRequest, Failed()); }
  void AnswerNames(const std::string& service, AskId ask = 0) { Ends(AskOf(ask), Named(service)); }
  void AnswerFindsNobody(AskId ask = 0) { Ends(AskOf(ask), Nobody()); }
  void AnswerFails(AskId ask = 0) { Ends(AskOf(ask), Failed()); }

  bool Believes() const { return StandingOf(state).believes; }

  Config config;
  State state;
  ScriptedEntropy entropy;
  LocalInstant now;
  std::vector<std::string> did;
  RunTransaction running;  // asked for last
  std::optional<LocalInstant> wake;

 private:
  static RequestId AskOf(AskId ask) { return static_cast<RequestId>(kFirstAskRequest + ask); }
  static TransactionResult Named(const std::string& service) {
    return {.outcome = Outcome::kCommitted,
            .status = {},
            .results = {{.rows = {{service, At(Seconds(1))}}}}};
  }
  static TransactionResult Nobody() {
    return {.outcome = Outcome::kCommitted, .status = {}, .results = {{.rows = {}}}};
  }
  static TransactionResult Failed() {
    return {.outcome = Outcome::kAborted, .status = Error(Code::kInternal, "lost"), .results = {}};
  }
  void Ends(RequestId request, TransactionResult result) {
    Hears(TransactionEnded{
        .request = request, .step = running.transaction.step, .result = std::move(result)});
  }
  void Hears(const Event& event) {
    did.clear();
    std::vector<Effect> effects;
    Step(config, state, {.monotonic = now, .wall = {}}, entropy, event, effects);
    for (const Effect& effect : effects) did.push_back(Does(effect));
  }
  std::string Does(const Effect& effect) {
    if (const auto* run = std::get_if<RunTransaction>(&effect)) {
      running = *run;
      return "run " + std::string(WordOf(run->transaction.step));
    }
    if (const auto* set = std::get_if<SetTimer>(&effect)) {
      wake = set->at;
      return "wake at " + FormatDuration(set->at - LocalInstant{});
    }
    if (const auto* changed = std::get_if<LeadershipChanged>(&effect)) {
      return changed->leader ? "callback 1" : "callback 0";
    }
    if (const auto* answer = std::get_if<Answer>(&effect)) {
      std::string text = std::string(WordOf(answer->question)) + (answer->yes ? " yes" : " no");
      if (answer->token) text += " with a token";
      if (!answer->text.empty()) text += " '" + answer->text + "'";
      if (answer->number != 0) text += " " + std::to_string(answer->number);
      return text;
    }
    if (const auto* note = std::get_if<Note>(&effect)) {
      return "note " + std::string(WordOf(note->note));
    }
    if (std::holds_alternative<CancelTransaction>(effect)) return "cancel transaction";
    return "cancel timer";
  }
};

// Its first round has told it that it leads, at 0.
void Leads(Service& service) {
  service.Starts();
  service.Updates();
  service.QueryNames("a");
}

// --- words -------------------------------------------------------------------------------------

TEST(SemaphoreConfigTest, SendsTheArticlesStatements) {
  // The text is what was published: a kinder one would prove nothing about it.
  const Config config = MakeTestConfig();
  EXPECT_EQ(config.update.text(),
            "UPDATE LeaderElection SET service_id = @serviceId, "
            "last_seen_active = CURRENT_TIMESTAMP() WHERE anchor = 1 AND "
            "((service_id != @serviceId AND last_seen_active < "
            "TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @timeout SECOND)) "
            "OR (service_id = @serviceId))");
  EXPECT_EQ(config.query.text(),
            "SELECT service_id, last_seen_active FROM LeaderElection WHERE anchor = 1 AND "
            "last_seen_active >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @timeout SECOND)");
  Service service;
  service.Starts();
  const Transaction& update = service.running.transaction;
  EXPECT_EQ(update.mode, Mode::kReadWrite);
  EXPECT_EQ(update.statements.front().statement.parameters,
            (std::vector<Value>{std::string("a"), int64_t{5}}));
  service.Updates();
  EXPECT_EQ(service.running.transaction.mode, Mode::kStrongRead);
  EXPECT_EQ(service.running.transaction.statements.front().statement.parameters,
            (std::vector<Value>{int64_t{5}}));
}

TEST(SemaphoreConfigTest, ItsTimeoutIsInWholeSeconds) {
  // @timeout is a number of seconds.
  EXPECT_EQ(MakeConfig("t", "job", "a", Milliseconds(2'900)).timeout, Seconds(2));
  EXPECT_EQ(kTimeoutMin, kPeriod * 2) << "the article: at least twice the period";
}

TEST(SemaphoreConfigTest, TheRowOfInitIsExpiredAndNotNull) {
  // With a NULL neither arm of the UPDATE's condition is true, so nobody would ever lead.
  const Row row = InitRow();
  ASSERT_EQ(row.size(), 3U);
  EXPECT_EQ(row[0], Value(int64_t{1}));
  EXPECT_TRUE(std::holds_alternative<std::string>(row[1]));
  EXPECT_LT(std::get<Timestamp>(row[2]), At(Duration{}) - Seconds(365 * 86'400));
  EXPECT_EQ(Info().init_row, row);
}

TEST(SemaphoreConfigTest, PromisesNothingOfTokensAndNothingThatOnlyAFenceCanKeep) {
  const ProtocolInfo info = Info();
  EXPECT_THAT(InvariantsThatAre(Promise::kPromised, info),
              ElementsAre(Invariant::kHasLockTruthful, Invariant::kLeaseRespected,
                          Invariant::kIsolation, Invariant::kNoWedge));
  EXPECT_THAT(InvariantsThatAre(Promise::kNotPromised, info),
              ElementsAre(Invariant::kSingleLeaderBelief, Invariant::kSingleWorker));
  EXPECT_FALSE(info.has_tokens);
  EXPECT_FALSE(info.answers_locally);
}

TEST(SemaphoreConfigTest, HostsRunItWithGosRetries) {
  ExpectHostedWithGosRetries<State>("semaphore", 2);
}

TEST(SemaphoreConfigTest, AMissingIdIsDrawnAsAUuid) {
  Service unnamed(MakeTestConfig(""));
  unnamed.entropy.next = {0x0123'4567, 0x89ab'cdef, 0x0fed'cba9, 0x7654'3210};
  unnamed.Starts();
  EXPECT_EQ(unnamed.state.id, "01234567-89ab-4def-8fed-cba976543210");
}

// --- rounds ------------------------------------------------------------------------------------

TEST(SemaphoreRoundTest, IsAnUpdateAndAQueryEverySecond) {
  Service service;
  service.Starts();
  EXPECT_THAT(service.did, ElementsAre("run update"));
  service.Passes(Milliseconds(10));
  service.Updates();
  EXPECT_THAT(service.did, ElementsAre("run query"));
  EXPECT_FALSE(service.Believes()) << "an UPDATE that changed the row says nothing yet";
  service.Passes(Milliseconds(10));
  service.QueryNames("a");
  EXPECT_THAT(service.did, ElementsAre("note got the lock", "callback 1", "wake at 1s"));
  EXPECT_TRUE(service.Believes());
  service.Wakes();
  EXPECT_THAT(service.did, ElementsAre("run update"));
}

TEST(SemaphoreRoundTest, ThePeriodIsThatOfTheConfiguration) {
  // Exploration on a coarse grid of time needs other numbers than those that ship.
  Service service;
  service.config.constants.period = Seconds(3);
  service.Starts();
  service.Updates();
  service.QueryNames("b");
  EXPECT_THAT(service.did, ElementsAre("wake at 3s"));
}

TEST(SemaphoreRoundTest, TheNextOneBeginsAtOnceWhenOneTookLongerThanThePeriod) {
  Service service;
  service.Starts();
  service.Passes(Milliseconds(1'700));
  service.Updates();
  service.QueryNames("b");
  EXPECT_THAT(service.did, ElementsAre("wake at 1.7s"));
}

TEST(SemaphoreRoundTest, QueriesAlsoWhenTheUpdateFailed) {
  // Who leads is what the query says, and not what became of the UPDATE.
  Service service;
  service.Starts();
  service.Fails();
  EXPECT_THAT(service.did, ElementsAre("note heartbeat failed", "run query"));
  service.QueryNames("a");
  EXPECT_TRUE(service.Believes());
}

TEST(SemaphoreRoundTest, AFailedQueryChangesNothing) {
  // Findings M2 and M3: no clock of its own ends a belief.
  Service service;
  Leads(service);
  service.Wakes();
  service.Fails();
  service.Passes(Seconds(3'600));
  service.Fails();
  EXPECT_THAT(service.did, ElementsAre("note read failed", "wake at 3601s"));
  EXPECT_TRUE(service.Believes());
  EXPECT_EQ(StandingOf(service.state).believes_until, std::nullopt);
}

TEST(SemaphoreRoundTest, AnotherLeaderEndsTheBeliefAndSoDoesNone) {
  for (const bool another : {true, false}) {
    Service service;
    Leads(service);
    service.Wakes();
    service.Updates(0);
    another ? service.QueryNames("b") : service.QueryFindsNobody();
    EXPECT_THAT(service.did, ElementsAre("note lost the lock", "callback 0", "wake at 2s"));
    EXPECT_FALSE(service.Believes());
  }
}

TEST(SemaphoreRoundTest, OnlyChangesAreToldToTheUser) {
  Service service;
  Leads(service);
  service.Wakes();
  service.Updates();
  service.QueryNames("a");
  EXPECT_THAT(service.did, ElementsAre("wake at 2s"));
}

// --- questions ---------------------------------------------------------------------------------

TEST(SemaphoreQuestionTest, AskingRunsTheQuery) {
  Service service;
  Leads(service);
  service.Asks(Question::kHasLock);
  EXPECT_THAT(service.did, ElementsAre("run has_lock"));
  EXPECT_EQ(service.running.transaction.statements.front().statement.sql, service.config.query);
  service.AnswerNames("a");
  EXPECT_THAT(service.did, ElementsAre("HasLock yes")) << "there is no token to hand out";
  service.Asks(Question::kHasLock2);
  service.AnswerNames("a");
  EXPECT_THAT(service.did, ElementsAre("HasLock2 yes 'a'"));
}

TEST(SemaphoreQuestionTest, ItsAnswerIsAQueryLikeAnyOther) {
  // Whoever was told "no" does not go on believing until the next round.
  Service service;
  Leads(service);
  service.Asks(Question::kHasLock);
  service.AnswerNames("b");
  EXPECT_THAT(service.did, ElementsAre("note lost the lock", "callback 0", "HasLock no"));
  EXPECT_FALSE(service.Believes());
}

TEST(SemaphoreQuestionTest, AnErrorIsNoAnswerAndSaysNothing) {
  Service service;
  Leads(service);
  service.Asks(Question::kHasLock);
  service.AnswerFails();
  EXPECT_THAT(service.did, ElementsAre("HasLock no"));
  EXPECT_TRUE(service.Believes());
}

TEST(SemaphoreQuestionTest, LeaderIsWhomTheQueryNames) {
  Service service;
  Leads(service);
  service.Asks(Question::kLeader, 1);
  service.Asks(Question::kHasLock, 0);
  service.AnswerNames("b", 1);
  EXPECT_EQ(service.did.back(), "Leader yes 'b'");
  service.AnswerFindsNobody(0);
  EXPECT_EQ(service.did.back(), "HasLock no");
  service.Asks(Question::kLeader, 1);
  service.AnswerFindsNobody(1);
  EXPECT_THAT(service.did, ElementsAre("Leader no"));
  service.Asks(Question::kLeader, 1);
  service.AnswerFails(1);
  EXPECT_EQ(service.did.front().substr(0, 11), "Leader no '");
  EXPECT_THAT(service.state.asks, IsEmpty());
}

TEST(SemaphoreQuestionTest, OfWhatItKnowsItAnswersAtOnce) {
  Service service;
  service.Asks(Question::kHasLock);
  EXPECT_THAT(service.did, ElementsAre("HasLock no")) << "it has not started";
  Leads(service);
  service.Asks(Question::kDuration);
  EXPECT_THAT(service.did, ElementsAre("Duration yes 5000"));
  service.Asks(Question::kIterations);
  EXPECT_THAT(service.did, ElementsAre("Iterations yes 1"));
  service.Asks(Question::kLock);
  EXPECT_THAT(service.did, ElementsAre("Lock no 'semaphore has no blocking Lock()'"));
}

// --- the stop ----------------------------------------------------------------------------------

TEST(SemaphoreStopTest, GivesNothingBack) {
  Service service;
  Leads(service);
  service.Stops();
  EXPECT_THAT(service.did, ElementsAre("cancel timer", "callback 0"));
  EXPECT_FALSE(service.Believes());
  EXPECT_FALSE(StandingOf(service.state).answers);
  service.Stops();
  EXPECT_THAT(service.did, IsEmpty());
  service.Asks(Question::kHasLock);
  EXPECT_THAT(service.did, ElementsAre("HasLock no"));
}

TEST(SemaphoreStopTest, CancelsTheRoundThatIsUnderWay) {
  Service service;
  service.Starts();
  service.Stops();
  EXPECT_THAT(service.did, ElementsAre("cancel transaction"));
  service.Updates();
  EXPECT_THAT(service.did, IsEmpty());
}

TEST(SemaphoreStopTest, AnAnswerThatComesLateBringsNoBeliefBack) {
  Service service;
  Leads(service);
  service.Asks(Question::kHasLock);
  service.Stops();
  service.AnswerNames("a");
  EXPECT_THAT(service.did, ElementsAre("HasLock yes"));
  EXPECT_FALSE(service.Believes());
}

// --- the state as a value ----------------------------------------------------------------------

TEST(SemaphoreStateTest, IsTheSameAfterTheSameEvents) {
  const auto fingerprint = [](const State& state) {
    Fingerprint of;
    of.Add(state);
    return of.value();
  };
  Service one;
  Leads(one);
  Service other;
  Leads(other);
  EXPECT_EQ(one.state, other.state);
  EXPECT_EQ(fingerprint(one.state), fingerprint(other.state));
  other.Wakes();
  EXPECT_NE(one.state, other.state);
  EXPECT_NE(fingerprint(one.state), fingerprint(other.state));
}

}  // namespace
}  // namespace whorl::semaphore::semaphore_test
