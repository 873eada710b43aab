#include "live/save.h"

#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "base/text.h"
#include "protocol/protocols.h"
#include "sim/judge/expectations.h"

namespace whorl::live {
namespace {

using sim::When;

// If there are more ABORTED replies, the backend makes transactions wait by them; none is saved.
constexpr size_t kAbortsMax = 8;
constexpr uint64_t kSeedsMax = 200;
constexpr uint8_t kExecuteSql = 0;  // Request::index()

// Counts how often each node has come to each phase of each step, as sim/world/triggers.h does.
class Steps {
 public:
  explicit Steps(const sim::Scenario& scenario)
      : answers_locally_(FindProtocol(scenario.protocol)->answers_locally) {}

  void Hear(const sim::ObservedEvent& what) {
    if (const auto* sent = std::get_if<sim::CallSent>(&what)) {
      if (sent->request == kExecuteSql && sent->call.attempt <= 1) {
        Reach(sent->call.process, sent->step, Phase::kSent);
      }
    } else if (const auto* served = std::get_if<sim::CallServed>(&what)) {
      if (served->request == kExecuteSql) {
        Reach(served->call.process, served->step, Phase::kServed);
      }
    } else if (const auto* committed = std::get_if<sim::TransactionCommitted>(&what)) {
      Reach(committed->call.process, committed->step, Phase::kCommitted);
    } else if (const auto* finished = std::get_if<sim::TransactionFinished>(&what)) {
      Reach(finished->process, finished->step, Phase::kEnded);
    } else if (const auto* answered = std::get_if<sim::QuestionAnswered>(&what)) {
      if (answers_locally_ && answered->answer.question == Question::kHasLock) {
        Reach(answered->process, steps::kHasLock, Phase::kEnded);
      }
    } else if (const auto* write = std::get_if<sim::WriteSent>(&what)) {
      Reach(write->process, steps::kWrite, Phase::kSent);
    }
  }
  std::optional<When> Last(int16_t node) const {
    const auto found = last_.find(node);
    return found == last_.end() ? std::nullopt : std::optional(found->second);
  }
  int64_t Count(int16_t node, StepName step, Phase phase) const {
    const auto found = counts_.find({node, step, phase});
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  void Reach(ProcessId process, StepName step, Phase phase) {
    const int64_t count = ++counts_[{process.node, step, phase}];
    last_[process.node] = {
        .node = process.node, .step = step, .phase = phase, .count = count, .lock = {}};
  }

  const bool answers_locally_;
  std::map<std::tuple<int16_t, StepName, Phase>, int64_t> counts_;
  std::map<int16_t, When> last_;
};

// Whether a trigger can name the call: it is the first call of a step.
bool IsNameable(const sim::CallServed& served) {
  return served.request == kExecuteSql && served.call.attempt <= 1 && served.code == Code::kAborted;
}

// Sets the first seed whose run has the verdicts of the real run, since some depend on the seed. If no
// seed does, keeps the seed of the scenario: the model does not agree with the real run.
void PickSeedThatReproduces(sim::Scenario& saved) {
  const uint64_t own = saved.seed;
  for (uint64_t i = 0; i < kSeedsMax; ++i) {
    saved.seed = own + i;
    if (sim::FailuresOf(saved, sim::RunScenario(saved, saved.seed, nullptr)).empty()) return;
  }
  saved.seed = own;
}

}  // namespace

sim::Scenario ScenarioOf(BackendKind kind, const sim::Scenario& scenario,
                         const std::vector<sim::Observation>& history,
                         const sim::RunResult& result) {
  sim::Scenario saved = scenario;
  saved.about = Cat("Saved from a run on the ", WordOf(kind), ". ", scenario.about);
  saved.expect = {};
  for (const sim::InvariantResult& invariant : result.checks.invariants) {
    if (invariant.verdict == sim::Verdict::kHolds) {
      saved.expect.holds.push_back(invariant.invariant);
    } else if (invariant.verdict == sim::Verdict::kViolated) {
      saved.expect.violates.push_back(invariant.invariant);
    }
  }
  Steps steps(scenario);
  std::vector<sim::FaultSpec> aborts;
  for (const sim::Observation& observation : history) {
    steps.Hear(observation.what);
    if (const auto* began = std::get_if<sim::FaultBegan>(&observation.what)) {
      sim::FaultSpec& fault = saved.faults[began->fault];
      const auto last = steps.Last(fault.node);
      if (std::holds_alternative<sim::Instant>(fault.trigger) && last) fault.trigger = *last;
    } else if (const auto* served = std::get_if<sim::CallServed>(&observation.what)) {
      if (!IsNameable(*served)) continue;
      const int16_t node = served->call.process.node;
      sim::FaultSpec abort{.node = node, .what = sim::AbortFault{}};
      abort.trigger = When{.node = node,
                           .step = served->step,
                           .phase = Phase::kSent,
                           .count = steps.Count(node, served->step, Phase::kSent),
                           .lock = {}};
      aborts.push_back(std::move(abort));
    }
  }
  if (aborts.size() <= kAbortsMax) {
    saved.faults.insert(saved.faults.end(), aborts.begin(), aborts.end());
  }
  PickSeedThatReproduces(saved);
  return saved;
}

}  // namespace whorl::live
