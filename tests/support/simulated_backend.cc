#include "tests/support/simulated_backend.h"

#include <stdexcept>
#include <utility>

#include "spanner_model/catalogue.h"
#include "spanner_model/database.h"
#include "spanner_model/schema.h"

namespace whorl {
namespace {

constexpr Duration kEpsilon = Microseconds(100);
constexpr Duration kLatency = Milliseconds(1);  // the round trip of a call

// Always draws the greatest value.
class LargestDraws final : public Entropy {
 public:
  int64_t Between(Purpose, int64_t, int64_t hi) override { return hi; }
};

model::Catalogue MakeCatalogue(const std::vector<std::string>& ddl) {
  model::Schema schema;
  for (const std::string& statement : ddl) {
    auto parsed = model::ParseDdl(statement);
    auto& create = std::get<model::CreateTable>(std::get<model::DdlStatement>(parsed));
    schema.tables.push_back(std::move(create.table));
  }
  return {std::move(schema), {}, {}};
}

// The model; it advances the time until the call is answered.
class ModelServer final : public ScriptedServer {
 public:
  ModelServer(const std::vector<std::string>& ddl, LocalInstant& now)
      : catalogue_(MakeCatalogue(ddl)), database_(model::MakeDatabase(catalogue_)), now_(now) {}

  Response Serve(const Request& request) override {
    const CallName name = {.process = {.node = 0, .incarnation = 1}, .generation = ++calls_};
    now_ = now_ + kLatency;
    Do([&](const auto& leaders, auto& out) {
      model::Serve(catalogue_, database_, name, request, leaders, out);
    });
    while (!answer_) {
      if (!commit_) throw std::runtime_error("a call waits for another one");
      // The commit wait.
      now_ = now_ + kEpsilon + kEpsilon + Microseconds(2);
      const TransactionId transaction = *std::exchange(commit_, std::nullopt);
      Do([&](const auto& leaders, auto& out) {
        model::CommitVisible(catalogue_, database_, transaction, leaders, out);
      });
    }
    return *std::exchange(answer_, std::nullopt);
  }

 private:
  template <typename F>
  void Do(F call) {
    const Timestamp now =
        Timestamp::FromUnixNanos(1'767'225'600'000'000'000) + (now_ - LocalInstant{});
    const model::ClockReading leader = {
        .truetime = {.earliest = now + -kEpsilon, .latest = now + kEpsilon},
        .current_timestamp = now.TruncatedToMicros()};
    std::vector<model::DatabaseEffect> effects;
    call(std::span<const model::ClockReading>(&leader, 1), effects);
    for (model::DatabaseEffect& effect : effects) {
      if (auto* replied = std::get_if<model::Replied>(&effect)) answer_ = replied->response;
      if (auto* started = std::get_if<model::CommitStarted>(&effect)) {
        commit_ = started->transaction;
      }
    }
  }

  model::Catalogue catalogue_;
  model::Database database_;
  LocalInstant& now_;
  uint16_t calls_ = 0;
  std::optional<Response> answer_;
  std::optional<TransactionId> commit_;
};

// The client, which runs one transaction after the other.
class SimulatedClient {
 public:
  SimulatedClient(const Script& script, ModelServer& server, LocalInstant& now)
      : policy_(PolicyOf(script)), pool_policy_(PoolOf(script)), server_(server), now_(now) {
    Do([&](auto& out) { OpenPool(pool_policy_, pool_, now_, out); });
  }

  TransactionResult Run(Transaction transaction, ScriptedNetwork& network) {
    RunnerState runner;
    RunnerAction action = StartRunner(policy_, runner, std::move(transaction), now_, std::nullopt);
    while (true) {
      if (auto* send = std::get_if<SendCall>(&action)) {
        action = OnReply(policy_, runner, now_, entropy_, Send(runner, *send, network));
      } else if (const auto* wait = std::get_if<WaitFor>(&action)) {
        now_ = now_ + wait->pause;
        action = OnWaited(policy_, runner, now_, entropy_);
      } else {
        GiveBack(runner);
        if (auto* finished = std::get_if<Finished>(&action)) return std::move(finished->result);
        action = OnSession(policy_, runner, now_, GetSession());
      }
    }
  }

 private:
  Response Send(const RunnerState& runner, const SendCall& send, ScriptedNetwork& network) {
    if (std::optional<Response> heard = network.Deliver(RequestOf(runner)))
      return *std::move(heard);
    now_ = send.deadline;
    Response late;
    late.status = Error(Code::kDeadlineExceeded, "the call's deadline passed");
    return late;
  }
  void GiveBack(const RunnerState& runner) {
    if (runner.session.name.empty()) return;
    Do([&](auto& out) {
      ReturnSession(pool_policy_, pool_, now_, runner.session.name, runner.session_lost, out);
    });
  }
  Session GetSession() {
    Do([&](auto& out) { AskForSession(pool_policy_, pool_, now_, 1, {}, out); });
    if (!granted_) throw std::runtime_error("no session was granted");
    return *std::exchange(granted_, std::nullopt);
  }
  template <typename F>
  void Do(F change) {
    std::vector<PoolEffect> effects;
    change(effects);
    for (const PoolEffect& effect : effects) {
      if (const auto* create = std::get_if<CreateSessions>(&effect)) Create(*create);
      if (const auto* granted = std::get_if<SessionGranted>(&effect)) granted_ = granted->session;
    }
  }
  void Create(const CreateSessions& create) {
    std::vector<SessionName> names;
    for (int32_t i = 0; i < create.count; ++i) {
      const Response made = server_.Serve(CreateSession{.multiplexed = create.multiplexed});
      names.push_back(made.sessions.front().name);
    }
    Do([&](auto& out) { OnSessionsCreated(pool_policy_, pool_, now_, create.count, names, out); });
  }

  RetryPolicy policy_;
  SessionPoolPolicy pool_policy_;
  SessionPool pool_;
  LargestDraws entropy_;
  std::optional<Session> granted_;
  ModelServer& server_;
  LocalInstant& now_;
};

}  // namespace

std::vector<std::string> SimulatedBackend::Run(const Script& script) {
  LocalInstant now = LocalInstant{} + Seconds(1);
  ModelServer server(ddl_, now);
  SimulatedClient client(script, server, now);
  for (const Transaction& before : script.before) {
    ScriptedNetwork quiet({}, server);
    client.Run(before, quiet);
  }
  ScriptedNetwork network(script.fates, server);
  const TransactionResult result = client.Run(script.transaction, network);
  std::vector<std::string> lines = network.transcript();
  lines.push_back(DescribeResult(result));
  return lines;
}

}  // namespace whorl
