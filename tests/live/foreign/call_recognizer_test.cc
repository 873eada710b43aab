// The calls of a program that was not written here get the names that whorl's own client would give.
#include "live/foreign/call_recognizer.h"

#include <gtest/gtest.h>

#include <string>

#include "protocol/protocols.h"

namespace whorl::live::call_recognizer_test {
namespace {

constexpr const char* kBeat =
    "update locktable set heartbeat = PENDING_COMMIT_TIMESTAMP() where name = @name";
constexpr const char* kDelete = "delete from locktable where starts_with(name, 'job_')";
constexpr const char* kFirst =
    "insert locktable (name, heartbeat, token, writer) values "
    "('job',PENDING_COMMIT_TIMESTAMP(),PENDING_COMMIT_TIMESTAMP(),'me')";
constexpr const char* kTakeoverUpdate =
    "update locktable set heartbeat = PENDING_COMMIT_TIMESTAMP(), token = @token, writer = @writer "
    "where name = @name";
constexpr const char* kCheck =
    "select timestamp_diff(current_timestamp(), heartbeat, millisecond) as diff, token from "
    "locktable where name = @name";

class CallRecognizerTest : public testing::Test {
 protected:
  static WireCall Statement(const char* sql, const std::string& transaction = "") {
    WireCall call{.method = "ExecuteStreamingSql", .session = "s"};
    call.sql = sql;
    call.transaction = transaction;
    call.begins_read_write = transaction.empty();
    return call;
  }
  static WireCall Commit(const std::string& transaction) {
    WireCall call{.method = "Commit", .session = "s", .transaction = transaction};
    call.is_commit = true;
    return call;
  }
  static WireCall Query(const char* sql) {
    WireCall call{.method = "ExecuteStreamingSql", .session = "s"};
    call.sql = sql;
    return call;
  }

  CallRecognizer recognizer_{*FindProtocol("spindle_v2"),
                             "locktable",
                             {.node = 1, .incarnation = 2},
                             {{.name = "job", .index = 3},
                              {.name = "job_daily", .index = 1},
                              {.name = "mail", .index = 2}}};
};

// A process may take part in several locks: the values of the first call tell for which it is.
TEST_F(CallRecognizerTest, TheLockIsTheOneThatTheValuesName) {
  const auto lock_of = [&](const char* sql, const std::string& parameter) {
    WireCall call = Statement(sql);
    call.parameters = {{"name", parameter}};
    return recognizer_.LockOf(call);
  };
  EXPECT_EQ(lock_of(kBeat, "mail"), 2);
  EXPECT_EQ(lock_of(kBeat, "job"), 3);
  EXPECT_EQ(lock_of(kBeat, "job_daily"), 1);
  EXPECT_EQ(lock_of(kBeat, "job_1767225600"), 3);
  EXPECT_EQ(lock_of(kBeat, "job_daily_1767225600"), 1);
  EXPECT_EQ(lock_of("insert locktable (name) values ('mail_17')", ""), 2);
  EXPECT_EQ(lock_of(kBeat, "another"), 3);
  EXPECT_EQ(recognizer_
                .OnRequest(1, Statement("insert locktable (name) values ('mail_17')"),
                           StepOccasion::kAnyTime)
                ->call.name.lock,
            2);
}

TEST_F(CallRecognizerTest, StatementsAndCommitAreOneTransaction) {
  const auto beat = recognizer_.OnRequest(1, Statement(kBeat), StepOccasion::kAnyTime);
  ASSERT_TRUE(beat);
  EXPECT_TRUE(beat->begins);
  EXPECT_EQ(WordOf(beat->call.step), "heartbeat_update");
  EXPECT_EQ(beat->call.name.process, (ProcessId{1, 2}));
  EXPECT_FALSE(recognizer_.OnReply(1, {}, {.begun = "t"})->outcome);
  const auto clean = recognizer_.OnRequest(2, Statement(kDelete, "t"), StepOccasion::kAnyTime);
  ASSERT_TRUE(clean);
  EXPECT_FALSE(clean->begins);
  EXPECT_EQ(WordOf(clean->call.step), "heartbeat_delete");
  EXPECT_EQ(clean->call.name.request, beat->call.name.request);
  EXPECT_NE(clean->call.name.call, beat->call.name.call);
  EXPECT_TRUE(recognizer_.OnReply(2, {}, {})->ends_statement);
  const auto commit = recognizer_.OnRequest(3, Commit("t"), StepOccasion::kAnyTime);
  ASSERT_TRUE(commit);
  EXPECT_EQ(WordOf(commit->call.step), "heartbeat_update");
  const auto heard = recognizer_.OnReply(3, {}, {.commit = Timestamp{}});
  EXPECT_EQ(heard->outcome, Outcome::kCommitted);
  EXPECT_EQ(heard->own_token, std::nullopt);
  const auto next = recognizer_.OnRequest(4, Statement(kBeat), StepOccasion::kAnyTime);
  EXPECT_TRUE(next->begins);
  EXPECT_NE(next->call.name.generation, beat->call.name.generation);
}

TEST_F(CallRecognizerTest, AStatementOnTheTableThatTheProtocolDoesNotHaveIsUnknown) {
  EXPECT_TRUE(recognizer_.IsUnknown(Statement("UPDATE LockTable SET writer = 'me' WHERE true")));
  EXPECT_TRUE(recognizer_.IsUnknown(Query("SELECT * FROM `locktable`")));
  // The protocol's; of its statements in a transaction one that is sent by itself is another one.
  EXPECT_FALSE(recognizer_.IsUnknown(Statement(kBeat)));
  EXPECT_FALSE(recognizer_.IsUnknown(Query(kCheck)));
  EXPECT_TRUE(recognizer_.IsUnknown(Query(kBeat)));
  // Other tables and calls without SQL are no matter of the lock's.
  EXPECT_FALSE(recognizer_.IsUnknown(Query("SELECT 1")));
  EXPECT_FALSE(recognizer_.IsUnknown(Query("SELECT 1 FROM locktable_of_others")));
  EXPECT_FALSE(recognizer_.IsUnknown(Commit("t")));
}

TEST_F(CallRecognizerTest, GrantsSayTheToken) {
  const Timestamp at = Timestamp::FromUnixNanos(1'700'000'000'000'000'001);
  recognizer_.OnRequest(1, Statement(kFirst), StepOccasion::kAnyTime);
  recognizer_.OnReply(1, {}, {.begun = "t"});
  recognizer_.OnRequest(2, Commit("t"), StepOccasion::kAnyTime);
  EXPECT_EQ(recognizer_.OnReply(2, {}, {.commit = at})->own_token, Token(at));

  WireCall takeover = Statement(kTakeoverUpdate);
  takeover.token = at + Seconds(1);
  recognizer_.OnRequest(3, takeover, StepOccasion::kAnyTime);
  recognizer_.OnReply(3, {}, {.begun = "u"});
  recognizer_.OnRequest(4, Commit("u"), StepOccasion::kAnyTime);
  EXPECT_EQ(recognizer_.OnReply(4, {}, {.commit = at + Seconds(2)})->own_token,
            Token(at + Seconds(1)));
}

TEST_F(CallRecognizerTest, OutcomesAreThoseThatTheProcessKnows) {
  recognizer_.OnRequest(1, Query(kCheck), StepOccasion::kAnyTime);
  EXPECT_EQ(recognizer_.OnReply(1, {}, {})->outcome, Outcome::kCommitted);
  recognizer_.OnRequest(2, Query(kCheck), StepOccasion::kAnyTime);
  EXPECT_EQ(recognizer_.OnReply(2, Error(Code::kUnavailable, ""), {})->outcome, Outcome::kAborted);
  // A statement that begins a transaction and fails leaves none.
  recognizer_.OnRequest(3, Statement(kFirst), StepOccasion::kAnyTime);
  EXPECT_EQ(recognizer_.OnReply(3, Error(Code::kAlreadyExists, ""), {})->outcome,
            Outcome::kAborted);
  recognizer_.OnRequest(4, Statement(kBeat), StepOccasion::kAnyTime);
  recognizer_.OnReply(4, {}, {.begun = "t"});
  recognizer_.OnRequest(5, Commit("t"), StepOccasion::kAnyTime);
  EXPECT_EQ(recognizer_.OnReply(5, Error(Code::kUnavailable, ""), {})->outcome, Outcome::kUnknown);
  // Sent again, it is still the same transaction.
  const auto again = recognizer_.OnRequest(6, Commit("t"), StepOccasion::kAnyTime);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->begins);
  EXPECT_EQ(recognizer_.OnReply(6, {}, {.commit = Timestamp{}})->outcome, Outcome::kCommitted);
}

TEST_F(CallRecognizerTest, OtherCallsHaveNoNames) {
  EXPECT_FALSE(recognizer_.OnRequest(1, Query("SELECT 1"), StepOccasion::kAnyTime));
  EXPECT_FALSE(recognizer_.OnRequest(2, Commit("unknown"), StepOccasion::kAnyTime));
  EXPECT_FALSE(recognizer_.OnRequest(3, {.method = "CreateSession"}, StepOccasion::kAnyTime));
  EXPECT_FALSE(recognizer_.OnReply(1, {}, {}));
}

}  // namespace
}  // namespace whorl::live::call_recognizer_test
