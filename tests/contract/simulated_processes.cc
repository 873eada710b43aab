#include "tests/contract/simulated_processes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/sim_testing.h"

namespace whorl {
namespace {

using Json = nlohmann::ordered_json;

constexpr Duration kForever = Seconds(36000);

class SimulatedProcesses final : public LockBackend {
 public:
  explicit SimulatedProcesses(const ProtocolInfo& info) : info_(info) {}

  void Start(const Contender& contender) override {
    if (std::ranges::find(locks_, contender.lock) == locks_.end()) {
      locks_.push_back(contender.lock);
    }
    nodes_.push_back({{"name", contender.id},
                      {"locks", {contender.lock}},
                      {"lease", FormatDuration(contender.lease)},
                      {"start_at", FormatDuration(now_)}});
    Run();
  }

  void AwaitTerm(const std::string& id) override {
    if (!Leads(id)) AwaitBelief(id, true);
  }
  void AwaitEnd(const std::string& id) override {
    if (Leads(id)) AwaitBelief(id, false);
  }
  void AwaitTransactions(const std::string& id, int count) override {
    for (int i = 0; i < count; ++i) {
      Await<sim::TransactionFinished>(id, "a transaction", [](const auto&) { return true; });
    }
  }

  void Crash(const std::string& id) override { Strike({{"do", "crash"}, {"node", id}}); }
  void Pause(const std::string& id) override {
    pauses_[id] = faults_.size();
    Strike({{"do", "pause"}, {"node", id}, {"for", FormatDuration(kForever)}});
  }
  void Resume(const std::string& id) override {
    Json& pause = faults_[pauses_.at(id)];
    pause["for"] = FormatDuration(now_ - struck_[pauses_.at(id)]);
    Run();
  }
  void Stop(const std::string& id) override { Strike({{"do", "stop"}, {"node", id}}); }
  bool LoseReply(const std::string& id) override {
    Strike({{"do", "drop_reply"}, {"node", id}});
    return true;
  }
  // A step's first call would fail, which need not be its Commit; and no client library takes part.
  bool RefuseCommit() override { return false; }
  bool DeleteSessions(const std::string& id) override {
    Strike({{"do", "session_loss"}, {"node", id}});
    return true;
  }

  LocalInstant Now() override { return LocalInstant{} + now_; }

  std::vector<Term> Terms() override {
    std::vector<Term> terms;
    std::map<std::string, std::optional<uint64_t>> tokens;
    for (const sim::Observation& observation : seen_.observations) {
      const LocalInstant at = LocalInstant{} + SinceStart(observation);
      if (at > Now()) break;
      if (const auto* standing = std::get_if<sim::LeadershipViewChanged>(&observation.what)) {
        const auto& token = standing->standing.own_token;
        tokens[NameOf(standing->process)] = token ? std::optional(token->Number()) : std::nullopt;
      }
      const auto* belief = std::get_if<sim::BeliefChanged>(&observation.what);
      if (belief == nullptr) continue;
      const std::string id = NameOf(belief->process);
      if (belief->believes) {
        terms.push_back({.id = id,
                         .lock = locks_[belief->lock],
                         .token = tokens[id],
                         .began = at,
                         .ended = LocalInstant::Max()});
        continue;
      }
      for (Term& term : terms) {
        if (term.id == id && term.ended == LocalInstant::Max()) term.ended = at;
      }
    }
    return terms;
  }

 private:
  static Duration SinceStart(const sim::Observation& observation) {
    return observation.at - sim::Instant{};
  }
  std::string NameOf(ProcessId process) const {
    return nodes_[static_cast<size_t>(process.node)]["name"];
  }

  bool Leads(const std::string& id) {
    return std::ranges::any_of(Terms(), [&](const Term& term) {
      return term.id == id && term.ended == LocalInstant::Max();
    });
  }

  void Strike(Json fault) {
    now_ = now_ + Microseconds(1);  // events at this moment are past
    fault["at"] = FormatDuration(now_);
    struck_.push_back(now_);
    faults_.push_back(std::move(fault));
    Run();
  }

  void Run() {
    const Json scenario = {{"version", 1},
                           {"about", "the contract"},
                           {"protocol", info_.name},
                           {"locks", locks_},
                           {"nodes", nodes_},
                           {"duration", FormatDuration(now_ + kWaitLimit)},
                           {"seed", 1},
                           {"spanner", {{"preset", "regional"}}},
                           {"faults", faults_}};
    seen_ = sim::Watch(sim::ScenarioOf(scenario.dump()));
  }
  template <typename T, typename Wanted>
  void Await(const std::string& id, const std::string& what, Wanted wanted) {
    for (const sim::Observation& observation : seen_.observations) {
      if (SinceStart(observation) <= now_) continue;
      const auto* event = std::get_if<T>(&observation.what);
      if (event == nullptr || NameOf(event->process) != id || !wanted(*event)) continue;
      now_ = SinceStart(observation);
      Run();
      return;
    }
    FAIL() << id << ": " << what << " did not come within a minute";
  }
  void AwaitBelief(const std::string& id, bool believes) {
    Await<sim::BeliefChanged>(
        id, believes ? "leadership" : "the end of leadership",
        [&](const sim::BeliefChanged& belief) { return belief.believes == believes; });
  }

  const ProtocolInfo& info_;
  std::vector<std::string> locks_;
  std::vector<Json> nodes_;
  std::vector<Json> faults_;
  std::vector<Duration> struck_;  // when, by fault
  std::map<std::string, size_t> pauses_;
  Duration now_;
  sim::Witness seen_;
};

}  // namespace

std::unique_ptr<LockBackend> SimulateProcesses(const ProtocolInfo& info) {
  return std::make_unique<SimulatedProcesses>(info);
}

}  // namespace whorl
