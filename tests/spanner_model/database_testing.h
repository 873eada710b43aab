// Provides what the tests of the database share: clients, and a database whose clocks are exact.
//
//   Spanner spanner;
//   Client a = spanner.NewClient();
//   Attempt attempt = a.Begin();
//   attempt.Run(InsertLock("job", "a"));
//   const Timestamp commit = attempt.Commit();
//
// Time moves only by Advance, and by CompleteCommit. Calls that may have to wait
// are sent by Send or SendCommit; Run, Commit and Rollback require an answer at once.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"
#include "spanner_model/catalogue.h"
#include "spanner_model/database.h"
#include "spanner_model/truetime.h"
#include "tests/spanner_model/sql/testing.h"

namespace whorl {

inline void PrintTo(const Status& status, std::ostream* out) { *out << FormatStatus(status); }
inline void PrintTo(const Timestamp& time, std::ostream* out) { *out << FormatRfc3339(time); }
inline void PrintTo(const Value& value, std::ostream* out) { *out << FormatValue(value); }

namespace model {

// --- the statements of the protocols -------------------------------------------------------------

// A text with the values of its parameters, each a text, a number or a time.
inline Statement With(std::string_view text,
                      std::vector<std::pair<std::string_view, Value>> arguments) {
  std::vector<Parameter> parameters;
  Statement statement;
  for (auto& [name, value] : arguments) {
    const Type type = std::holds_alternative<Timestamp>(value) ? Type::kTimestamp
                      : std::holds_alternative<int64_t>(value) ? Type::kInt64
                                                               : Type::kString;
    parameters.push_back({.name = std::string(name), .type = type});
    statement.parameters.push_back(std::move(value));
  }
  statement.sql = Sql::Intern(text, std::move(parameters));
  return statement;
}

inline Statement InsertLock(std::string name, std::string writer) {
  return With(
      "INSERT locktable (name, heartbeat, token, writer) VALUES (@name, "
      "PENDING_COMMIT_TIMESTAMP(), PENDING_COMMIT_TIMESTAMP(), @id)",
      {{"name", std::move(name)}, {"id", std::move(writer)}});
}
inline Statement InsertTakeover(std::string name) {
  return With("INSERT locktable (name) VALUES (@name)", {{"name", std::move(name)}});
}
inline Statement UpdateToken(std::string name, Timestamp token, std::string writer) {
  return With(
      "UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP(), token = @token, "
      "writer = @writer WHERE name = @name",
      {{"name", std::move(name)}, {"token", token}, {"writer", std::move(writer)}});
}
inline Statement Heartbeat(std::string name) {
  return With("UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP() WHERE name = @name",
              {{"name", std::move(name)}});
}
inline Statement DeleteTakeoverRows(const std::string& name) {
  return With("DELETE FROM locktable WHERE STARTS_WITH(name, @prefix)", {{"prefix", name + "_"}});
}
inline Statement ReadToken(std::string name) {
  return With("SELECT token, writer FROM locktable WHERE name = @name",
              {{"name", std::move(name)}});
}
inline Statement ReadHeartbeat(std::string name) {
  return With("SELECT heartbeat FROM locktable WHERE name = @name", {{"name", std::move(name)}});
}
inline Statement ReadWriter(std::string name) {
  return With("SELECT writer FROM locktable WHERE name = @name", {{"name", std::move(name)}});
}
inline Statement SetWriter(std::string name, std::string writer) {
  return With("UPDATE locktable SET writer = @writer WHERE name = @name",
              {{"name", std::move(name)}, {"writer", std::move(writer)}});
}
inline Statement SetToken(std::string name, Timestamp token) {
  return With("UPDATE locktable SET token = @token WHERE name = @name",
              {{"name", std::move(name)}, {"token", token}});
}
inline Statement DeleteLock(std::string name) {
  return With("DELETE FROM locktable WHERE name = @name", {{"name", std::move(name)}});
}
inline Statement Campaign(std::string me, int64_t timeout_seconds) {
  return With(
      "UPDATE LeaderElection SET service_id = @me, last_seen_active = CURRENT_TIMESTAMP() "
      "WHERE anchor = 1 AND ((service_id != @me AND last_seen_active < "
      "TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @timeout SECOND)) OR service_id = @me)",
      {{"me", std::move(me)}, {"timeout", timeout_seconds}});
}
inline Statement AskWhoLeads(int64_t timeout_seconds) {
  return With(
      "SELECT service_id, last_seen_active FROM LeaderElection WHERE anchor = 1 AND "
      "last_seen_active >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @timeout SECOND)",
      {{"timeout", timeout_seconds}});
}

// --- the database and its clients ----------------------------------------------------------------

inline constexpr uint32_t kLocks = 0;  // the tables of TestSchema
inline constexpr uint32_t kElections = 1;
inline constexpr Duration kEpsilon = Milliseconds(4);

class Spanner;

// One attempt at a transaction, from its client's point of view.
class Attempt {
 public:
  Attempt(Spanner& spanner, CallName begun_by) : spanner_(&spanner), last_call_(begun_by) {}

  CallName Send(const Statement& statement) { return Send(statement, ++sequence_number_); }
  CallName Send(const Statement& statement, int64_t sequence_number);
  Response Run(const Statement& statement) { return Run(statement, ++sequence_number_); }
  Response Run(const Statement& statement, int64_t sequence_number);
  CallName SendCommit();
  Response TryCommit();  // for a Commit that writes nothing: an error, or a repeated success
  Timestamp Commit();    // waits until the commit is visible
  Response Rollback();
  // The same, where the call has to wait.
  CallName WaitsToRun(const Statement& statement);
  CallName WaitsToCommit();

  TransactionId id;  // empty if it has not begun

 private:
  friend class Client;
  CallName NextCall();

  Spanner* spanner_;
  CallName last_call_;
  int64_t sequence_number_ = 0;
};

class Client {
 public:
  Client(Spanner& spanner, ProcessId process) : spanner_(&spanner), process_(process) {}

  Attempt Begin(const TransactionId& previous = {});
  // Begins, and runs a first statement, whose answer is not looked at.
  Attempt Runs(const Statement& statement);
  // Sends a first statement that carries the begin.
  CallName SendFirst(const Statement& statement, const TransactionId& previous = {});
  std::pair<Attempt, Response> BeginWith(const Statement& statement,
                                         const TransactionId& previous = {});
  StatementResult Read(const Statement& statement);
  // Runs a transaction of one statement.
  Timestamp Commits(const Statement& statement);
  // Moves later transactions to another place in the process (CallName::request).
  void UseRequest(uint16_t request) { request_ = request; }

 private:
  CallName NextBegin();

  Spanner* spanner_;
  ProcessId process_;
  uint16_t request_ = 0;
  uint16_t attempts_ = 0;
};

class Spanner {
 public:
  explicit Spanner(Options options = {}) : catalogue(TestSchema(), {}, options) {}

  // REQUIRES: nothing has happened yet.
  void Use(Options options) {
    catalogue = Catalogue(TestSchema(), {}, options);
    database = MakeDatabase(catalogue);
  }
  Client NewClient() { return Client(*this, {.node = clients_++, .incarnation = 1}); }
  // A transaction of a client of its own, which has run this statement.
  Attempt Runs(const Statement& statement) { return NewClient().Runs(statement); }
  // A millisecond later, and thus younger than what has run before.
  Attempt RunsLater(const Statement& statement) {
    Advance(Milliseconds(1));
    return Runs(statement);
  }
  // ... and whose Commit was sent.
  Attempt SendsCommitOf(const Statement& statement) {
    Attempt attempt = Runs(statement);
    attempt.SendCommit();
    return attempt;
  }

  // --- time
  void Advance(Duration by) { now = now + by; }
  ClockReading Now() const {
    return {.truetime = {.earliest = now - kEpsilon, .latest = now + kEpsilon},
            .current_timestamp = (now + current_timestamp_error).TruncatedToMicros()};
  }

  // --- inputs
  void Serve(const CallName& call, const Request& request) {
    ++served_[call];
    Keep([&](auto leaders, auto& out) {
      model::Serve(catalogue, database, call, request, leaders, out);
    });
  }
  void CommitVisible(const TransactionId& id) {
    Keep([&](auto leaders, auto& out) {
      model::CommitVisible(catalogue, database, id, leaders, out);
    });
  }
  void LookAgain() {
    Keep([&](auto leaders, auto& out) { model::LookAgain(catalogue, database, leaders, out); });
  }
  // Waits until the commit is visible. REQUIRES: it has started.
  void CompleteCommit(const TransactionId& id) {
    Advance(kEpsilon * 3);
    EXPECT_TRUE(IsCommitting(id));
    if (IsCommitting(id)) CommitVisible(id);
  }
  void Load(uint32_t table, Row row) {
    LoadRow(catalogue, database, table, std::move(row), (now - Seconds(1)).TruncatedToMicros());
  }

  // --- effects
  template <typename Effect>
  std::vector<Effect> Said() const {
    std::vector<Effect> found;
    for (const DatabaseEffect& effect : said) {
      if (const auto* one = std::get_if<Effect>(&effect)) found.push_back(*one);
    }
    return found;
  }
  // The answer to a call. Fails unless there is exactly one.
  Response AnswerTo(const CallName& call) const {
    const auto found = answers_.find(call);
    const size_t count = found == answers_.end() ? 0 : found->second.size();
    EXPECT_EQ(count, 1U);
    return count == 0 ? Response{} : found->second.front();
  }
  bool Waits(const CallName& call) const {
    bool parked = false;
    for (const Parked& one : Said<Parked>()) parked = parked || one.call == call;
    return parked && !answers_.contains(call);
  }
  bool IsCommitting(const TransactionId& id) const {
    const TransactionState* transaction = Find(id);
    return transaction != nullptr && transaction->phase == TransactionPhase::kCommitting;
  }
  const TransactionState* Find(const TransactionId& id) const {
    for (const auto* all : {&database.transactions, &database.finished}) {
      for (const TransactionState& transaction : *all) {
        if (transaction.id == id) return &transaction;
      }
    }
    return nullptr;
  }
  std::optional<Row> NewestRow(uint32_t table, const Key& key) const {
    const Row* row = FindNewest(database.tables[table], key);
    return row == nullptr ? std::nullopt : std::optional<Row>(*row);
  }
  void ExpectEveryCallAnsweredOnce() const {
    for (const auto& [call, count] : served_) {
      const auto found = answers_.find(call);
      EXPECT_EQ(found == answers_.end() ? 0 : found->second.size(), count)
          << "node " << call.process.node << ", attempt " << call.attempt << ", call " << call.call;
    }
    EXPECT_EQ(served_.size(), answers_.size());
  }

  Catalogue catalogue;
  Database database = MakeDatabase(catalogue);
  Timestamp now = At("2026-01-01T00:00:00.0000005Z");
  Duration current_timestamp_error;
  std::vector<DatabaseEffect> said;

 private:
  template <typename Input>
  void Keep(const Input& input) {
    std::vector<DatabaseEffect> out;
    const std::vector<ClockReading> leaders(catalogue.split_count(), Now());
    input(std::span<const ClockReading>(leaders), out);
    for (DatabaseEffect& effect : out) {
      if (const auto* replied = std::get_if<Replied>(&effect)) {
        answers_[replied->call].push_back(replied->response);
      }
      said.push_back(std::move(effect));
    }
  }

  int16_t clients_ = 0;
  std::map<CallName, size_t> served_;
  std::map<CallName, std::vector<Response>> answers_;
};

// --- verbs ---------------------------------------------------------------------------------------

inline CallName Attempt::NextCall() {
  ++last_call_.call;
  return last_call_;
}

inline CallName Attempt::Send(const Statement& statement, int64_t sequence_number) {
  const CallName call = NextCall();
  spanner_->Serve(
      call,
      ExecuteSql{.transaction = id, .statement = statement, .sequence_number = sequence_number});
  return call;
}

inline Response Attempt::Run(const Statement& statement, int64_t sequence_number) {
  return spanner_->AnswerTo(Send(statement, sequence_number));
}

inline CallName Attempt::SendCommit() {
  const CallName call = NextCall();
  spanner_->Serve(call, whorl::Commit{.transaction = id});
  return call;
}

inline Response Attempt::TryCommit() { return spanner_->AnswerTo(SendCommit()); }

inline Timestamp Attempt::Commit() {
  const CallName call = SendCommit();
  spanner_->CompleteCommit(id);
  const Response response = spanner_->AnswerTo(call);
  EXPECT_EQ(response.status, Status{});
  return response.commit_timestamp;
}

inline Response Attempt::Rollback() {
  const CallName call = NextCall();
  spanner_->Serve(call, whorl::Rollback{.transaction = id});
  return spanner_->AnswerTo(call);
}

inline CallName Attempt::WaitsToRun(const Statement& statement) {
  const CallName call = Send(statement);
  EXPECT_TRUE(spanner_->Waits(call));
  return call;
}

inline CallName Attempt::WaitsToCommit() {
  const CallName call = SendCommit();
  EXPECT_TRUE(spanner_->Waits(call));
  return call;
}

inline CallName Client::NextBegin() {
  return {.process = process_, .request = request_, .attempt = ++attempts_};
}

inline Attempt Client::Begin(const TransactionId& previous) {
  const CallName call = NextBegin();
  spanner_->Serve(call, BeginTransaction{.options = BeginReadWrite{.previous = previous}});
  Attempt attempt(*spanner_, call);
  attempt.id = spanner_->AnswerTo(call).transaction;
  return attempt;
}

inline Attempt Client::Runs(const Statement& statement) {
  Attempt attempt = Begin();
  attempt.Run(statement);
  return attempt;
}

inline CallName Client::SendFirst(const Statement& statement, const TransactionId& previous) {
  const CallName call = NextBegin();
  spanner_->Serve(call, ExecuteSql{.transaction = BeginReadWrite{.previous = previous},
                                   .statement = statement,
                                   .sequence_number = 1});
  return call;
}

inline std::pair<Attempt, Response> Client::BeginWith(const Statement& statement,
                                                      const TransactionId& previous) {
  const CallName call = SendFirst(statement, previous);
  Attempt attempt(*spanner_, call);
  attempt.sequence_number_ = 1;
  Response response = spanner_->AnswerTo(call);
  attempt.id = response.transaction;
  return {attempt, std::move(response)};
}

inline StatementResult Client::Read(const Statement& statement) {
  const CallName call = NextBegin();
  spanner_->Serve(call, ExecuteSql{.transaction = SingleUseRead{}, .statement = statement});
  const Response response = spanner_->AnswerTo(call);
  EXPECT_EQ(response.status, response.result.status);
  return response.result;
}

inline Timestamp Client::Commits(const Statement& statement) {
  Attempt attempt = Begin();
  EXPECT_EQ(attempt.Run(statement).status, Status{});
  return attempt.Commit();
}

// --- situations ----------------------------------------------------------------------------------

// Loads a row all of whose columns can be locked.
inline void LoadLock(Spanner& spanner, std::string_view name) {
  const Timestamp then = spanner.now - Seconds(10);
  spanner.Load(kLocks, {std::string(name), then, then, "nobody"});
}

// Two transactions that have both read the writer of "job"; the first is older.
struct TwoReaders {
  explicit TwoReaders(Spanner& spanner)
      : older(spanner.NewClient().Begin()), younger(spanner.NewClient().Begin()) {
    LoadLock(spanner, "job");
    older.Run(ReadWriter("job"));
    spanner.Advance(Milliseconds(1));
    younger.Run(ReadWriter("job"));
  }
  Attempt older;
  Attempt younger;
};

// A reader of "job", a younger Commit that waits for it, and a still younger reader that waits for
// the Commit.
struct ThreeInARow {
  explicit ThreeInARow(Spanner& spanner)
      : reader(spanner.NewClient().Begin()),
        writer(spanner.NewClient().Begin()),
        newcomer(spanner.NewClient().Begin()) {
    LoadLock(spanner, "job");
    reader.Run(ReadWriter("job"));
    spanner.Advance(Milliseconds(1));
    writer.Run(SetWriter("job", "a"));
    commit = writer.WaitsToCommit();
    spanner.Advance(Milliseconds(1));
    read = newcomer.WaitsToRun(ReadWriter("job"));
  }
  Attempt reader;
  Attempt writer;
  Attempt newcomer;
  CallName commit;
  CallName read;  // the newcomer's
};

inline std::vector<Row> Rows(std::initializer_list<Row> rows) { return rows; }

class DatabaseTest : public testing::Test {
 protected:
  Spanner spanner;
  Client a = spanner.NewClient();
  Client b = spanner.NewClient();
};

}  // namespace model
}  // namespace whorl
