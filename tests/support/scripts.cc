#include "tests/support/scripts.h"

#include <regex>
#include <utility>

namespace whorl {
namespace {

// --- the transactions ----------------------------------------------------------------------------

TransactionStatement On(std::string_view sql, const std::string& name) {
  return {.statement = {.sql = Sql::Intern(sql, {{.name = "name", .type = Type::kString}}),
                        .parameters = {name}}};
}
TransactionStatement Insert(const std::string& name) {
  return On("INSERT locktable (name, heartbeat) VALUES (@name, PENDING_COMMIT_TIMESTAMP())", name);
}
TransactionStatement Update(const std::string& name) {
  return On("UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP() WHERE name = @name", name);
}
TransactionStatement Select(const std::string& name) {
  return On("SELECT writer FROM locktable WHERE name = @name", name);
}
Mutation InsertMutation(const std::string& name) {
  return {.kind = MutationKind::kInsert,
          .table = "locktable",
          .columns = {"name", "heartbeat"},
          .rows = {{name, std::string(kCommitTimestamp)}}};
}
Transaction ReadWrite(std::vector<TransactionStatement> statements) {
  return {.mode = Mode::kReadWrite, .statements = std::move(statements)};
}
Transaction OneRead() { return {.mode = Mode::kStrongRead, .statements = {Select("a")}}; }
Transaction OneInsert() { return ReadWrite({Insert("a")}); }
Transaction TwoInserts() { return ReadWrite({Insert("a"), Insert("b")}); }
Transaction Mutations(std::vector<TransactionStatement> statements) {
  Transaction transaction = ReadWrite(std::move(statements));
  transaction.mutations = {InsertMutation("m")};
  return transaction;
}

constexpr Duration kShort = Milliseconds(150);

// --- the scripts ---------------------------------------------------------------------------------

constexpr const char* kBegun = "s1 INSERT begin #1: OK, t1, a token";
constexpr const char* kCommit = "s1 Commit t1 with a token: OK, a timestamp";
constexpr const char* kReplyLost =
    "s1 Commit t1 with a token: OK, a timestamp, but the reply is lost";
constexpr const char* kOneRow = "committed, 1 rows changed and 0 read";
constexpr const char* kTwoRows = "committed, 1 rows changed and 0 read, 1 rows changed and 0 read";

Fate AnsweredWith(size_t call, Status status) {
  return {.call = call, .kind = FateKind::kAnswered, .status = std::move(status)};
}

std::vector<Script> Commits() {
  return {
      {.name = "AnInsertCommits",
       .transaction = OneInsert(),
       .expected = {kBegun, kCommit, kOneRow}},
      {.name = "ThePrecommitTokenIsTheNewest",
       .transaction = TwoInserts(),
       .expected = {kBegun, "s1 INSERT t1 #2: OK, a token", kCommit, kTwoRows}},
      {.name = "ARead",
       .transaction = OneRead(),
       .before = {OneInsert()},
       .expected = {"s1 SELECT single #1: OK", "committed, 0 rows changed and 1 read"}},
      {.name = "AReadInsideATransaction",
       .transaction = ReadWrite({Select("a"), Update("a")}),
       .before = {OneInsert()},
       .expected = {"s1 SELECT begin #1: OK, t1, a token", "s1 UPDATE t1 #2: OK, a token", kCommit,
                    "committed, 0 rows changed and 1 read, 1 rows changed and 0 read"}},
      {.name = "MutationsAlone",
       .transaction = Mutations({}),
       .expected = {"s1 BeginTransaction begin with a key: OK, t1, a token",
                    "s1 Commit t1 with 1 mutations with a token: OK, a timestamp", "committed"}},
      {.name = "MutationsWithStatements",
       .transaction = Mutations({Insert("a")}),
       .expected = {kBegun, "s1 Commit t1 with 1 mutations with a token: OK, a timestamp",
                    kOneRow}},
      {.name = "ALosingInsertBeginsAgainAndRollsBack",
       .transaction = OneInsert(),
       .before = {OneInsert()},
       .expected = {"s1 INSERT begin #1: ALREADY_EXISTS", "s1 BeginTransaction begin: OK, t1",
                    "s1 INSERT t1 #1: ALREADY_EXISTS", "s1 Rollback t1: OK",
                    "aborted ALREADY_EXISTS"}},
  };
}

std::vector<Script> LostCalls() {
  return {
      {.name = "TheReplyToCommitIsLost",
       .transaction = OneInsert(),
       .fates = {{1, FateKind::kReplyLost}},
       .expected = {kBegun, kReplyLost, kCommit, kOneRow}},
      {.name = "CommitIsLostOnItsWay",
       .transaction = OneInsert(),
       .fates = {{1, FateKind::kRequestLost}},
       .expected = {kBegun, "s1 Commit t1 with a token: lost", kCommit, kOneRow}},
      {.name = "CommitIsLostTwice",
       .transaction = OneInsert(),
       .fates = {{1, FateKind::kReplyLost}, {2, FateKind::kRequestLost}},
       .expected = {kBegun, kReplyLost, "s1 Commit t1 with a token: lost", kCommit, kOneRow}},
      {.name = "ACommitThatHangsIsUnknown",
       .transaction = OneInsert(),
       .fates = {{1, FateKind::kHangs}},
       .commit_timeout = kShort,
       .expected = {kBegun, "s1 Commit t1 with a token: hangs", "unknown DEADLINE_EXCEEDED"}},
      {.name = "ACommitThatWorksAndHangsIsUnknown",
       .transaction = OneInsert(),
       .fates = {{1, FateKind::kServedAndHangs}},
       .commit_timeout = kShort,
       .expected = {kBegun, "s1 Commit t1 with a token: OK, a timestamp, but hangs",
                    "unknown DEADLINE_EXCEEDED"}},
      {.name = "ACommitThatFailsForGoodIsCertain",
       .transaction = OneInsert(),
       .fates = {AnsweredWith(1, Error(Code::kFailedPrecondition, "no"))},
       .expected = {kBegun, "s1 Commit t1 with a token: FAILED_PRECONDITION by script",
                    "aborted FAILED_PRECONDITION"}},
      {.name = "TheSameErrorOfAResentCommitIsNot",
       .transaction = OneInsert(),
       .fates = {{1, FateKind::kReplyLost},
                 AnsweredWith(2, Error(Code::kFailedPrecondition, "no"))},
       .expected = {kBegun, kReplyLost, "s1 Commit t1 with a token: FAILED_PRECONDITION by script",
                    "unknown FAILED_PRECONDITION"}},
      {.name = "AStatementIsLostOnItsWay",
       .transaction = TwoInserts(),
       .fates = {{1, FateKind::kRequestLost}},
       .expected = {kBegun, "s1 INSERT t1 #2: lost", "s1 INSERT t1 #2: OK, a token", kCommit,
                    kTwoRows}},
      {.name = "TheReplyToAStatementIsLostAndAnsweredFromMemory",
       .transaction = TwoInserts(),
       .fates = {{1, FateKind::kReplyLost}},
       .expected = {kBegun, "s1 INSERT t1 #2: OK, a token, but the reply is lost",
                    "s1 INSERT t1 #2: OK, a token", kCommit, kTwoRows}},
      {.name = "TheBeginIsLostOnItsWay",
       .transaction = OneInsert(),
       .fates = {{0, FateKind::kRequestLost}},
       .expected = {"s1 INSERT begin #1: lost", kBegun, kCommit, kOneRow}},
      {.name = "AReadIsLost",
       .transaction = OneRead(),
       .fates = {{0, FateKind::kReplyLost}},
       .expected = {"s1 SELECT single #1: OK, but the reply is lost", "s1 SELECT single #1: OK",
                    "committed, 0 rows changed and 0 read"}},
      {.name = "TheRollbackIsLost",
       .transaction = OneInsert(),
       .before = {OneInsert()},
       .fates = {{3, FateKind::kReplyLost}},
       .expected = {"s1 INSERT begin #1: ALREADY_EXISTS", "s1 BeginTransaction begin: OK, t1",
                    "s1 INSERT t1 #1: ALREADY_EXISTS", "s1 Rollback t1: OK, but the reply is lost",
                    "s1 Rollback t1: OK", "aborted ALREADY_EXISTS"}},
  };
}

std::vector<Script> Refusals() {
  const Status exhausted = Error(Code::kResourceExhausted, "too many requests");
  const Status internal = Error(Code::kInternal, "by mistake");
  return {
      {.name = "ResourceExhaustedIsRetriedAtAStatement",
       .transaction = TwoInserts(),
       .fates = {AnsweredWith(1, exhausted)},
       .expected = {kBegun, "s1 INSERT t1 #2: RESOURCE_EXHAUSTED by script",
                    "s1 INSERT t1 #2: OK, a token", kCommit, kTwoRows}},
      {.name = "ResourceExhaustedIsRetriedAtCommit",
       .transaction = OneInsert(),
       .fates = {AnsweredWith(1, exhausted)},
       .expected = {kBegun, "s1 Commit t1 with a token: RESOURCE_EXHAUSTED by script", kCommit,
                    kOneRow}},
      {.name = "ResourceExhaustedIsRetriedAtARead",
       .transaction = OneRead(),
       .fates = {AnsweredWith(0, exhausted)},
       .expected = {"s1 SELECT single #1: RESOURCE_EXHAUSTED by script", "s1 SELECT single #1: OK",
                    "committed, 0 rows changed and 0 read"}},
      {.name = "AnInternalErrorOfTheFirstStatementIsMasked",
       .transaction = OneInsert(),
       .fates = {AnsweredWith(0, internal)},
       .expected = {"s1 INSERT begin #1: INTERNAL by script", "s1 BeginTransaction begin: OK, t1",
                    "s1 INSERT t1 #1: OK, a token", kCommit, kOneRow}},
      {.name = "AnInternalErrorOfALaterStatementRollsBack",
       .transaction = TwoInserts(),
       .fates = {AnsweredWith(1, internal)},
       .expected = {kBegun, "s1 INSERT t1 #2: INTERNAL by script", "s1 Rollback t1: OK",
                    "aborted INTERNAL"}},
      {.name = "AnInternalErrorOfCommitIsUnknown",
       .transaction = OneInsert(),
       .fates = {AnsweredWith(1, internal)},
       .expected = {kBegun, "s1 Commit t1 with a token: INTERNAL by script", "unknown INTERNAL"}},
      {.name = "AbortedAtAStatementRunsAgainAndInheritsItsAge",
       .transaction = TwoInserts(),
       .fates = {{1, FateKind::kAborted}},
       .expected = {kBegun, "s1 INSERT t1 #2: ABORTED by script",
                    "s1 INSERT begin after t1 #1: OK, t2, a token", "s1 INSERT t2 #2: OK, a token",
                    "s1 Commit t2 with a token: OK, a timestamp", kTwoRows}},
      {.name = "AbortedAtCommitRunsAgainAndInheritsItsAge",
       .transaction = OneInsert(),
       .fates = {{1, FateKind::kAborted}},
       .expected = {kBegun, "s1 Commit t1 with a token: ABORTED by script",
                    "s1 INSERT begin after t1 #1: OK, t2, a token",
                    "s1 Commit t2 with a token: OK, a timestamp", kOneRow}},
      {.name = "AbortedTwice",
       .transaction = OneInsert(),
       .fates = {{1, FateKind::kAborted}, {3, FateKind::kAborted}},
       .expected = {kBegun, "s1 Commit t1 with a token: ABORTED by script",
                    "s1 INSERT begin after t1 #1: OK, t2, a token",
                    "s1 Commit t2 with a token: ABORTED by script",
                    "s1 INSERT begin after t2 #1: OK, t3, a token",
                    "s1 Commit t3 with a token: OK, a timestamp", kOneRow}},
  };
}

// Wound-wait by the server itself: the rival is older, and commits what the transaction has read.
std::vector<Script> Wounds() {
  const auto rival = [](size_t call) {
    return Fate{.call = call, .kind = FateKind::kRivalCommits};
  };
  return {
      {.name = "WoundedAtAStatement",
       .transaction = ReadWrite({Select("a"), Update("a")}),
       .before = {OneInsert()},
       .fates = {rival(1)},
       .expected = {"s1 SELECT begin #1: OK, t1, a token", "s1 UPDATE t1 #2: ABORTED",
                    "s1 SELECT begin after t1 #1: OK, t2, a token", "s1 UPDATE t2 #2: OK, a token",
                    "s1 Commit t2 with a token: OK, a timestamp",
                    "committed, 0 rows changed and 1 read, 1 rows changed and 0 read"}},
      {.name = "WoundedAtCommit",
       .transaction = ReadWrite({Select("a"), Update("a")}),
       .before = {OneInsert()},
       .fates = {rival(2)},
       .expected = {"s1 SELECT begin #1: OK, t1, a token", "s1 UPDATE t1 #2: OK, a token",
                    "s1 Commit t1 with a token: ABORTED",
                    "s1 SELECT begin after t1 #1: OK, t2, a token", "s1 UPDATE t2 #2: OK, a token",
                    "s1 Commit t2 with a token: OK, a timestamp",
                    "committed, 0 rows changed and 1 read, 1 rows changed and 0 read"}},
  };
}

std::vector<Script> LostSessions() {
  const auto deleted = [](size_t call) {
    return Fate{.call = call, .kind = FateKind::kSessionDeleted};
  };
  return {
      {.name = "TheSessionIsGoneAtARead",
       .transaction = OneRead(),
       .fates = {deleted(0)},
       .expected = {"s1 SELECT single #1: NOT_FOUND", "s2 SELECT single #1: OK",
                    "committed, 0 rows changed and 0 read"}},
      {.name = "TheSessionIsGoneAtTheFirstStatement",
       .transaction = OneInsert(),
       .fates = {deleted(0)},
       .expected = {"s1 INSERT begin #1: NOT_FOUND", "s2 BeginTransaction begin: OK, t1",
                    "s2 INSERT t1 #1: OK, a token", "s2 Commit t1 with a token: OK, a timestamp",
                    kOneRow}},
      {.name = "TheSessionIsGoneBetweenStatements",
       .transaction = TwoInserts(),
       .fates = {deleted(1)},
       .expected = {kBegun, "s1 INSERT t1 #2: NOT_FOUND", "s2 INSERT begin #1: OK, t2, a token",
                    "s2 INSERT t2 #2: OK, a token", "s2 Commit t2 with a token: OK, a timestamp",
                    kTwoRows}},
      {.name = "TheSessionIsGoneAtCommit",
       .transaction = OneInsert(),
       .fates = {deleted(1)},
       .expected = {kBegun, "s1 Commit t1 with a token: NOT_FOUND",
                    "s2 INSERT begin #1: OK, t2, a token",
                    "s2 Commit t2 with a token: OK, a timestamp", kOneRow}},
      {.name = "TheSessionIsGoneTwice",
       .transaction = OneInsert(),
       .fates = {deleted(0), deleted(1)},
       .expected = {"s1 INSERT begin #1: NOT_FOUND", "s2 BeginTransaction begin: NOT_FOUND",
                    "s3 BeginTransaction begin: OK, t1", "s3 INSERT t1 #1: OK, a token",
                    "s3 Commit t1 with a token: OK, a timestamp", kOneRow}},
      {.name = "TheSessionIsGoneAtAResentCommit",
       .transaction = OneInsert(),
       .fates = {{1, FateKind::kReplyLost}, deleted(2)},
       .expected = {kBegun, kReplyLost, "s1 Commit t1 with a token: NOT_FOUND",
                    "unknown NOT_FOUND"}},
      {.name = "TheSessionIsGoneAtTheRollback",
       .transaction = OneInsert(),
       .before = {OneInsert()},
       .fates = {deleted(3)},
       .expected = {"s1 INSERT begin #1: ALREADY_EXISTS", "s1 BeginTransaction begin: OK, t1",
                    "s1 INSERT t1 #1: ALREADY_EXISTS", "s1 Rollback t1: NOT_FOUND",
                    "aborted ALREADY_EXISTS"}},
  };
}

}  // namespace

const std::vector<std::string>& ScriptDdl() {
  static const std::vector<std::string> ddl = {
      "CREATE TABLE locktable (name STRING(MAX) NOT NULL, heartbeat TIMESTAMP OPTIONS "
      "(allow_commit_timestamp=true), writer STRING(MAX)) PRIMARY KEY (name)"};
  return ddl;
}

std::vector<Script> AllScripts() {
  std::vector<Script> all;
  for (const auto& group : {Commits(), LostCalls(), Refusals(), Wounds(), LostSessions()}) {
    for (Script script : group) {
      for (const SessionKind kind : {SessionKind::kMultiplexed, SessionKind::kRegular}) {
        script.sessions = kind;
        all.push_back(script);
      }
    }
  }
  return all;
}

std::vector<std::string> LinesOnRegular(std::vector<std::string> lines) {
  static const std::regex multiplexed_only(", a token| with a token| with a key| after t\\d+");
  for (std::string& line : lines) line = std::regex_replace(line, multiplexed_only, "");
  return lines;
}

}  // namespace whorl
