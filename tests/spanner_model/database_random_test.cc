// Random schedules of the database, checked against an oracle: the committed transactions, run one
// after the other in the order of their commit timestamps on an empty database, must give the same
// answers and rows. That is serializability and, since timestamps increase in the order in which
// commits get them, external consistency.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tests/spanner_model/database_testing.h"
#include "tests/support/split_mix.h"

namespace whorl::model::database_random_test {
namespace {

class Dice : public SplitMix {
 public:
  explicit Dice(uint64_t seed) : SplitMix(seed * 0x9e3779b97f4a7c15) {}
  bool Chance(uint64_t percent) { return Below(100) < percent; }
  Duration Micros(int64_t most) {
    return Microseconds(static_cast<int64_t>(Below(static_cast<uint64_t>(most) + 1)));
  }
};

// A statement answered in a transaction, and the clocks at which it ran.
struct Ran {
  Statement statement;
  StatementResult result;
  ClockReading moment;
};

struct CommittedTransaction {
  std::vector<Ran> ran;
  ClockReading visible;
};

// A client that runs one transaction after the other, as a client library does.
struct RandomClient {
  ProcessId process;
  int transactions_left = 0;
  bool in_transaction = false;
  std::vector<Statement> program;
  std::vector<Ran> ran;
  std::optional<TransactionId> id;
  TransactionId previous;
  bool begins_explicitly = false;
  bool rolls_back = false;
  std::optional<CallName> awaited;
  Request request;  // the call under way
  uint16_t attempt = 0;
  uint16_t call = 0;
};

// Counts interesting events: a run without them proves nothing.
struct Seen {
  int64_t committed = 0, aborted = 0, parked = 0, doomed = 0, inlined_failures = 0, resent = 0;
  int64_t looks = 0, abandoned = 0, rolled_back = 0, retried = 0;
};

class RandomRun {
 public:
  RandomRun(uint64_t seed, Seen& seen)
      : dice_(seed),
        seen_(seen),
        catalogue_(TestSchema(), {},
                   {.pending_rule = seed % 2 == 0 ? PendingRule::kTable : PendingRule::kColumn}) {
    LoadRow(catalogue_, database_, kElections, {int64_t{1}, "nobody", now_ - Seconds(60)},
            (now_ - Seconds(60)).TruncatedToMicros());
    initial_ = database_;
    visible_ = VisibleRows(database_);
    const size_t clients = 2 + dice_.Below(4);
    for (size_t i = 0; i < clients; ++i) {
      clients_.push_back(
          {.process = {.node = static_cast<int16_t>(i), .incarnation = 1}, .transactions_left = 6});
    }
  }

  void Run() {
    for (int step = 0; step < 20'000 && !IsOver(); ++step) {
      if (step == 60) twin_ = database_;
      Step();
      if (testing::Test::HasFailure()) return;
    }
    ASSERT_TRUE(IsOver()) << "a waiting call was never woken";
    JudgeEnd();
    JudgeSerial();
    if (twin_) {
      EXPECT_EQ(*twin_, database_) << "a copy given the same inputs became another database";
    }
  }

 private:
  using Rows = std::map<std::pair<uint32_t, std::string>, Row>;

  static Rows VisibleRows(const Database& database) {
    Rows rows;
    for (uint32_t table = 0; table < database.tables.size(); ++table) {
      for (const auto& [key, versions] : database.tables[table].rows) {
        const auto& newest = versions.back().row;
        if (newest) rows[{table, FormatValue(key.front())}] = *newest;
      }
    }
    return rows;
  }

  // The clocks of the only split's leader.
  static std::array<ClockReading, 1> Leader(const ClockReading& moment) { return {moment}; }
  ClockReading Now() const {
    return {.truetime = {.earliest = now_ - kEpsilon, .latest = now_ + kEpsilon},
            .current_timestamp = (now_ + current_timestamp_error_).TruncatedToMicros()};
  }

  bool IsOver() const {
    return committing_.empty() &&
           std::all_of(clients_.begin(), clients_.end(), [](const RandomClient& client) {
             return client.transactions_left == 0 && !client.awaited && !client.in_transaction;
           });
  }

  // --- inputs

  // Passes every input to the database and, once there is one, to its copy, which has to have the
  // same effects.
  template <typename Input>
  void Give(const Input& input) {
    std::vector<DatabaseEffect> out;
    input(database_, out);
    if (twin_) {
      std::vector<DatabaseEffect> twins;
      input(*twin_, twins);
      EXPECT_EQ(out, twins);
    }
    for (DatabaseEffect& effect : out) {
      std::visit([&](auto& said) { On(said); }, effect);
    }
  }

  void Step() {
    current_timestamp_error_ = Milliseconds(static_cast<int64_t>(dice_.Below(21)) - 10);
    now_ = now_ + dice_.Micros(1'500);
    if (dice_.Chance(1) && dice_.Chance(20)) now_ = now_ + Seconds(11);
    if (look_at_ && Now().truetime.latest >= *look_at_) return Look();
    if (dice_.Chance(2)) return Look();
    if (!committing_.empty() && dice_.Chance(25)) return MakeOneVisible();
    ActOf(clients_[dice_.Below(clients_.size())]);
  }

  void Look() {
    look_at_.reset();
    ++seen_.looks;
    Give([&](Database& database, auto& out) {
      LookAgain(catalogue_, database, Leader(Now()), out);
    });
  }

  void MakeOneVisible() {
    auto chosen = committing_.begin();
    std::advance(chosen, dice_.Below(committing_.size()));
    if (!SurelyPast(chosen->second, Now().truetime)) return;
    const TransactionId id = chosen->first;
    committing_.erase(chosen);
    Give([&](Database& database, auto& out) {
      CommitVisible(catalogue_, database, id, Leader(Now()), out);
    });
  }

  void Serve(RandomClient& client, Request request) {
    const CallName call = {
        .process = client.process, .attempt = client.attempt, .call = client.call++};
    client.awaited = call;
    client.request = request;
    EXPECT_EQ(answers_.count(call), 0U);
    answers_[call] = 0;
    Give([&](Database& database, auto& out) {
      model::Serve(catalogue_, database, call, request, Leader(Now()), out);
    });
  }

  // --- clients

  void ActOf(RandomClient& client) {
    if (client.awaited) {
      if (dice_.Chance(3)) return Abandon(client);
      if (dice_.Chance(5)) Resend(client);
      return;
    }
    if (!client.in_transaction) {
      if (client.transactions_left == 0) return;
      if (dice_.Chance(20)) return ReadOnce(client);
      StartTransaction(client);
    }
    GoOn(client);
  }

  void StartTransaction(RandomClient& client) {
    --client.transactions_left;
    client.in_transaction = true;
    client.program = RandomProgram();
    client.begins_explicitly = dice_.Chance(30);
    client.rolls_back = dice_.Chance(10);
    client.previous.clear();
    BeginAgain(client);
  }

  void BeginAgain(RandomClient& client) {
    client.ran.clear();
    client.id.reset();
    ++client.attempt;
    client.call = 0;
  }

  void GoOn(RandomClient& client) {
    if (!client.id && client.begins_explicitly) {
      return Serve(client,
                   BeginTransaction{.options = BeginReadWrite{.previous = client.previous}});
    }
    if (client.ran.size() == client.program.size()) {
      if (client.rolls_back) return Serve(client, Rollback{.transaction = *client.id});
      return Serve(client, Commit{.transaction = *client.id});
    }
    ExecuteSql execute{.transaction = BeginReadWrite{.previous = client.previous},
                       .statement = client.program[client.ran.size()],
                       .sequence_number = static_cast<int64_t>(client.ran.size()) + 1};
    if (client.id) execute.transaction = *client.id;
    Serve(client, std::move(execute));
  }

  // The process crashes; its successor has no state.
  void Abandon(RandomClient& client) {
    ++seen_.abandoned;
    if (client.id) abandoned_[*client.id] = client.ran;
    client = {.process = {client.process.node, client.process.incarnation + 1},
              .transactions_left = client.transactions_left};
  }

  // The connection broke: a call without a begin is sent again in the same transaction.
  void Resend(RandomClient& client) {
    if (!client.id) return;
    ++seen_.resent;
    Serve(client, Request(client.request));
  }

  void ReadOnce(RandomClient& client) {
    ++client.attempt;
    client.call = 0;
    const std::string name = RandomName();
    Serve(client, ExecuteSql{.transaction = SingleUseRead{}, .statement = ReadToken(name)});
    EXPECT_FALSE(client.awaited) << "a single-use read waited";
    const auto found = visible_.find({kLocks, FormatValue(name)});
    std::vector<Row> expected;
    if (found != visible_.end()) expected = {{found->second[2], found->second[3]}};
    EXPECT_EQ(last_response_.result.rows, expected);
  }

  std::string RandomName() {
    constexpr std::string_view kNames[] = {"job", "job_1", "other"};
    return std::string(kNames[dice_.Below(3)]);
  }

  std::vector<Statement> RandomProgram() {
    std::vector<Statement> program;
    const size_t statements = 1 + dice_.Below(3);
    const std::string me(1, static_cast<char>('a' + dice_.Below(4)));
    while (program.size() < statements) {
      const std::string name = RandomName();
      const Timestamp token = (now_ - Seconds(1) - dice_.Micros(900'000)).TruncatedToMicros();
      const std::vector<Statement> choices[] = {{InsertLock(name, me)},
                                                {InsertTakeover(name)},
                                                {UpdateToken(name, token, me)},
                                                {Heartbeat(name)},
                                                {Heartbeat(name), DeleteTakeoverRows(name)},
                                                {ReadToken(name)},
                                                {SetWriter(name, me)},
                                                {DeleteTakeoverRows("job")},
                                                {Campaign(me, 1)},
                                                {AskWhoLeads(1)},
                                                {SetToken(name, token)}};
      const auto& chosen = choices[dice_.Below(std::size(choices))];
      program.insert(program.end(), chosen.begin(), chosen.end());
    }
    return program;
  }

  // --- effects of the database

  void On(Parked& parked) {
    ++seen_.parked;
    EXPECT_EQ(answers_.at(parked.call), 0);
  }

  void On(RetryAt& look) {
    EXPECT_GT(look.server_time, Now().truetime.latest);
    if (!look_at_ || look.server_time < *look_at_) look_at_ = look.server_time;
  }

  // A call that this forgets would wait for ever, and the run would not end.
  void On(RetryCancelled&) {
    EXPECT_TRUE(look_at_.has_value());
    look_at_.reset();
  }

  void On(CommitStarted& started) {
    EXPECT_GT(started.commit, last_commit_);
    EXPECT_GE(started.commit, Now().truetime.latest);
    EXPECT_EQ(started.commit, started.commit.TruncatedToMicros());
    last_commit_ = started.commit;
    committing_[started.transaction] = started.commit;
    // The client may be gone when the commit becomes visible.
    for (const RandomClient& client : clients_) {
      if (client.id == started.transaction) serial_[started.commit].ran = client.ran;
    }
    if (!serial_.contains(started.commit)) {
      serial_[started.commit].ran = abandoned_.at(started.transaction);
    }
  }

  void On(Aborted& aborted) {
    ++seen_.aborted;
    EXPECT_FALSE(committing_.contains(MakeTransactionId(aborted.begun_by)))
        << "a committing transaction was wounded";
  }

  void On(Committed& committed) {
    ++seen_.committed;
    serial_.at(committed.commit).visible = Now();
  }

  void On(RowChanged& changed) {
    const Row& row = changed.after ? *changed.after : *changed.before;
    const std::pair<uint32_t, std::string> key = {changed.table, FormatValue(row.front())};
    const auto found = visible_.find(key);
    EXPECT_EQ(changed.before,
              found == visible_.end() ? std::nullopt : std::optional<Row>(found->second));
    visible_.erase(key);
    if (changed.after) visible_[key] = *changed.after;
  }

  void On(Replied& replied) {
    EXPECT_EQ(++answers_.at(replied.call), 1) << "answered twice";
    last_response_ = replied.response;
    for (RandomClient& client : clients_) {
      if (client.awaited != replied.call) continue;
      client.awaited.reset();
      Hear(client, replied.response);
    }
  }

  void Hear(RandomClient& client, const Response& response) {
    if (const auto* execute = std::get_if<ExecuteSql>(&client.request)) {
      if (std::holds_alternative<SingleUseRead>(execute->transaction)) return;
      return HearStatement(client, *execute, response);
    }
    if (std::holds_alternative<BeginTransaction>(client.request)) {
      EXPECT_EQ(response.status, Status{});
      client.id = response.transaction;
      return;
    }
    if (std::holds_alternative<Rollback>(client.request)) {
      EXPECT_EQ(response.status, Status{});
      ++seen_.rolled_back;
      client.in_transaction = false;
      return;
    }
    if (response.status.code == Code::kAborted) return Retry(client);
    EXPECT_EQ(response.status, Status{});
    client.in_transaction = false;
  }

  void HearStatement(RandomClient& client, const ExecuteSql& execute, const Response& response) {
    if (response.status.code == Code::kAborted) return Retry(client);
    if (!client.id && !response.status.ok()) {
      ++seen_.inlined_failures;
      EXPECT_EQ(response.transaction, "");
      client.begins_explicitly = true;
      return BeginAgain(client);
    }
    if (!client.id) client.id = response.transaction;
    if (response.status.code == Code::kAlreadyExists) {
      ++seen_.doomed;
      client.program.resize(client.ran.size());
      client.rolls_back = true;
      return;
    }
    // The only other error is that of pending timestamps, which spindle ignores.
    EXPECT_TRUE(response.status.ok() || response.status.code == Code::kInvalidArgument)
        << FormatStatus(response.status);
    client.ran.push_back({execute.statement, response.result, Now()});
  }

  void Retry(RandomClient& client) {
    EXPECT_TRUE(client.id);
    ++seen_.retried;
    client.previous = *client.id;
    BeginAgain(client);
  }

  // --- the checks

  void JudgeEnd() {
    // Only transactions of abandoned clients may remain, and they are aborted when they block a
    // transaction that touches everything.
    for (const TransactionState& transaction : database_.transactions) {
      if (model::IsOver(transaction)) {
        EXPECT_TRUE(transaction.reads.empty());
        EXPECT_TRUE(transaction.writes.empty());
        EXPECT_FALSE(transaction.parked);
        continue;
      }
      const ProcessId process = transaction.begun_by.process;
      EXPECT_LT(process.incarnation,
                clients_[static_cast<size_t>(process.node)].process.incarnation)
          << "a transaction that its client ended still holds locks";
    }
    for (int turn = 0; turn < 8; ++turn) {
      now_ = now_ + Seconds(3'700);
      Look();
      while (!committing_.empty()) {
        now_ = now_ + kEpsilon * 3;
        MakeOneVisible();
      }
    }
    clients_.push_back({.process = {.node = 99, .incarnation = 1}});
    Serve(clients_.back(), BeginTransaction{});
    EXPECT_EQ(database_.transactions.size(), 1U);
    for (const auto& [call, count] : answers_) EXPECT_EQ(count, 1);
  }

  void JudgeSerial() {
    Database serial = initial_;
    uint16_t next = 0;
    for (const auto& [commit, transaction] : serial_) {
      const CallName name = {.process = {.node = 0, .incarnation = 1}, .attempt = ++next};
      const auto one = [&](const Request& request, const ClockReading& moment) {
        std::vector<DatabaseEffect> out;
        model::Serve(catalogue_, serial, name, request, Leader(moment), out);
        EXPECT_EQ(out.size(), 1U);
        return out;
      };
      one(BeginTransaction{}, {});
      const TransactionId id = MakeTransactionId(name);
      int64_t sequence_number = 0;
      for (const Ran& ran : transaction.ran) {
        const auto out = one(ExecuteSql{.transaction = id,
                                        .statement = ran.statement,
                                        .sequence_number = ++sequence_number},
                             ran.moment);
        EXPECT_EQ(std::get<Replied>(out.at(0)).response.result, ran.result)
            << ran.statement.sql.text();
      }
      ClockReading at_commit = transaction.visible;
      at_commit.truetime.latest = commit;
      const auto out = one(whorl::Commit{.transaction = id}, at_commit);
      EXPECT_EQ(std::get<CommitStarted>(out.at(0)).commit, commit);
      std::vector<DatabaseEffect> ignored;
      CommitVisible(catalogue_, serial, id, Leader(transaction.visible), ignored);
    }
    EXPECT_EQ(serial.tables, database_.tables);
    EXPECT_EQ(VisibleRows(serial), visible_);
  }

  Dice dice_;
  Seen& seen_;
  Catalogue catalogue_;
  Database database_ = MakeDatabase(catalogue_);
  Database initial_;
  std::optional<Database> twin_;
  std::vector<RandomClient> clients_;
  Timestamp now_ = At("2026-01-01T00:00:00Z");
  Duration current_timestamp_error_;
  Timestamp last_commit_;
  std::optional<Timestamp> look_at_;
  Rows visible_;  // according to the effects
  std::map<TransactionId, Timestamp> committing_;
  std::map<TransactionId, std::vector<Ran>> abandoned_;
  std::map<Timestamp, CommittedTransaction> serial_;
  std::map<CallName, int> answers_;
  Response last_response_;
};

TEST(DatabaseRandom, EveryScheduleIsSerializableInTheOrderOfItsCommitTimestamps) {
  // This is the purpose of all lock rules, and every protocol's promises depend on it.
  Seen seen;
  for (uint64_t seed = 1; seed <= 800 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomRun(seed, seen).Run();
  }
  EXPECT_GT(seen.committed, 10'000);
  EXPECT_GT(seen.aborted, 1'000);
  EXPECT_GT(seen.parked, 1'000);
  EXPECT_GT(seen.doomed, 300);
  EXPECT_GT(seen.inlined_failures, 300);
  EXPECT_GT(seen.resent, 300);
  EXPECT_GT(seen.looks, 1'000);
  EXPECT_GT(seen.abandoned, 300);
  EXPECT_GT(seen.rolled_back, 1'000);
  EXPECT_GT(seen.retried, 50);
}

}  // namespace
}  // namespace whorl::model::database_random_test
