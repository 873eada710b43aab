#include "check/reproduce.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "sim/judge/checkers/setup.h"
#include "sim/judge/ledger.h"
#include "sim/judge/run.h"
#include "sim/scenario/loader.h"
#include "sim/scenario/writer.h"

namespace whorl::check {
namespace {

using sim::Instant;

constexpr uint64_t kSeeds = 20;

// What a replay did, to be compared.
class Replayed final : public sim::ObservationSink {
 public:
  explicit Replayed(const sim::Scenario& scenario)
      : setup_(sim::MakeCheckerSetup(scenario, Milliseconds(1))) {}

  void Hear(const sim::Observation& observation, uint64_t, uint64_t) override {
    if (const auto* row = std::get_if<sim::RowCommitted>(&observation.what)) {
      On(*row);
    } else if (const auto* work = std::get_if<sim::WorkChanged>(&observation.what)) {
      if (work->at_work) {
        work_[work->process.node].push_back({observation.at, observation.at});
      } else if (!work_[work->process.node].empty()) {
        work_[work->process.node].back().second = observation.at;
      }
    }
  }

  // By lock, the nodes that took it from another.
  std::map<std::string, std::vector<std::string>> owners;

  // The middle of the work of a node that is nearest; nothing if it never works within `most`.
  std::optional<Instant> WorkNear(int16_t node, Instant at, Duration most) const {
    const auto found = work_.find(node);
    if (found == work_.end()) return std::nullopt;
    std::optional<Instant> nearest;
    const auto away = [&](Instant x) { return x < at ? at - x : x - at; };
    for (const auto& [from, to] : found->second) {
      if (to <= from) continue;
      const Instant middle = from + (to - from) / 2;
      if (away(middle) > most) continue;
      if (!nearest || away(middle) < away(*nearest)) nearest = middle;
    }
    return nearest;
  }

 private:
  void On(const sim::RowCommitted& row) {
    const auto lock = setup_.LockOfRow(row.after ? *row.after : *row.before);
    if (!lock) return;
    const bool takes = sim::TakesTheLock(*setup_.rules, row, owner_[*lock]);
    if (!row.after) owner_[*lock] = ProcessId{};
    if (!takes || row.writer == ProcessId{}) return;
    owner_[*lock] = row.writer;
    std::vector<std::string>& all = owners[setup_.LockName(*lock)];
    const std::string& name = setup_.Node(row.writer.node).name;
    if (all.empty() || all.back() != name) all.push_back(name);
  }

  sim::CheckerSetup setup_;
  std::map<uint16_t, ProcessId> owner_;
  std::map<int16_t, std::vector<std::pair<Instant, Instant>>> work_;
};

std::map<std::string, std::vector<std::string>> OwnersOf(const std::vector<Grant>& grants) {
  std::map<std::string, std::vector<std::string>> owners;
  for (const Grant& grant : grants) {
    std::vector<std::string>& all = owners[grant.lock];
    if (all.empty() || all.back() != grant.node) all.push_back(grant.node);
  }
  return owners;
}

bool IsViolated(const sim::RunResult& result, Invariant invariant) {
  return result.checks[invariant].verdict == sim::Verdict::kViolated;
}

struct Attempt {
  sim::Scenario scenario;
  sim::RunResult result;
  std::map<std::string, std::vector<std::string>> owners;
  int64_t score = 0;
};

class Search {
 public:
  Search(InferredScenario inferred, const HistoryVerdict& verdict)
      : inferred_(std::move(inferred)), verdict_(verdict), owners_(OwnersOf(inferred_.grants)) {}

  Reproduction Find() {
    KeepWhatLoads();
    std::optional<Attempt> best;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      Attempt attempt = Try(seed);
      if (!best || attempt.score > best->score) best = std::move(attempt);
      if (best->score == 0) break;
    }
    return Compared(std::move(*best));
  }

 private:
  // The loader knows which faults contradict each other, or can never strike.
  void KeepWhatLoads() {
    std::vector<InferredFault> kept;
    sim::Scenario scenario = inferred_.scenario;
    for (InferredFault& fault : inferred_.faults) {
      scenario.faults.push_back(fault.fault);
      const auto loaded = sim::ParseScenario(sim::ScenarioText(scenario), "scenario");
      if (loaded.ok()) {
        kept.push_back(std::move(fault));
        continue;
      }
      scenario.faults.pop_back();
      inferred_.not_inferred.push_back(
          Cat("left out, since the language of scenarios refuses it here: ", fault.text));
    }
    inferred_.faults = std::move(kept);
  }

  Attempt Try(uint64_t seed) const {
    Attempt attempt;
    attempt.scenario = inferred_.scenario;
    attempt.scenario.seed = seed;
    for (const InferredFault& inferred : inferred_.faults) {
      sim::FaultSpec fault = inferred.fault;
      if (inferred.strikes_work) {
        Replayed before(attempt.scenario);
        sim::RunScenario(attempt.scenario, seed, &before);
        const auto at = std::get<Instant>(fault.trigger);
        const Duration lease = attempt.scenario.nodes[static_cast<size_t>(fault.node)].lease;
        if (const auto work = before.WorkNear(fault.node, at, lease)) fault.trigger = *work;
      }
      attempt.scenario.faults.push_back(std::move(fault));
    }
    Replayed replayed(attempt.scenario);
    attempt.result = sim::RunScenario(attempt.scenario, seed, &replayed);
    attempt.owners = std::move(replayed.owners);
    attempt.score = ScoreOf(attempt);
    return attempt;
  }

  // 0 if nothing differs.
  int64_t ScoreOf(const Attempt& attempt) const {
    constexpr int64_t kMissing = 1'000;
    constexpr int64_t kTooMuch = 100;
    constexpr int64_t kOtherOwner = 10;
    int64_t score = 0;
    for (const InvariantResult& found : verdict_.invariants) {
      const bool violated = IsViolated(attempt.result, found.invariant);
      if (found.verdict == Verdict::kViolated && !violated) score -= kMissing;
      if (found.verdict == Verdict::kHolds && violated) score -= kTooMuch;
    }
    for (const auto& [lock, owners] : owners_) {
      const auto replayed = attempt.owners.find(lock);
      const size_t had = replayed == attempt.owners.end() ? 0 : replayed->second.size();
      size_t same = 0;
      while (same < owners.size() && same < had && owners[same] == replayed->second[same]) ++same;
      score -= kOtherOwner * static_cast<int64_t>(std::max(owners.size(), had) - same);
    }
    return score;
  }

  std::string HistoryTime(const InvariantResult& found) const {
    return found.at ? Cat(" at ", FormatDuration(*found.at - inferred_.begins)) : std::string();
  }

  Reproduction Compared(Attempt best) const {
    Reproduction all;
    for (const InferredFault& fault : inferred_.faults) all.inferred.push_back(fault.text);
    if (all.inferred.empty()) all.inferred.push_back("no fault");
    all.not_inferred = inferred_.not_inferred;
    CompareVerdicts(best, all);
    CompareOwners(best, all);
    for (const uint32_t fault : best.result.unfired_faults) {
      all.not_reproduced.push_back(
          Cat("did not strike in the replay: ", inferred_.faults[fault].text));
    }
    sim::Expectations& expect = best.scenario.expect;
    for (const sim::InvariantResult& result : best.result.checks.invariants) {
      if (result.verdict == sim::Verdict::kViolated) expect.violates.push_back(result.invariant);
    }
    expect.faults_may_miss = !best.result.unfired_faults.empty();
    all.scenario = std::move(best.scenario);
    return all;
  }

  void CompareVerdicts(const Attempt& best, Reproduction& all) const {
    for (const InvariantResult& found : verdict_.invariants) {
      const sim::InvariantResult& replayed = best.result.checks[found.invariant];
      const bool violated = replayed.verdict == sim::Verdict::kViolated;
      const std::string name(WordOf(found.invariant));
      const std::string when =
          violated ? Cat(" at ", FormatDuration(Duration{replayed.first->at.ns})) : std::string();
      if (found.verdict == Verdict::kViolated) {
        if (violated) {
          all.reproduced.push_back(
              Cat(name, " violated", when, ", in the history", HistoryTime(found)));
        } else {
          all.not_reproduced.push_back(
              Cat(name, ": violated in the history", HistoryTime(found), ", not in the replay"));
        }
      } else if (violated) {
        all.not_reproduced.push_back(Cat(name, ": violated in the replay", when,
                                         "; in the history: ", HistoryWordOf(found.verdict)));
      }
    }
  }

  static std::string OwnersText(const std::vector<std::string>& owners) {
    constexpr size_t kShown = 10;
    std::string text;
    for (size_t i = 0; i < owners.size() && i < kShown; ++i) {
      text += Cat(i == 0 ? "" : ", ", owners[i]);
    }
    if (owners.size() > kShown)
      text += Cat(" and ", std::to_string(owners.size() - kShown), " more");
    return owners.empty() ? "nobody" : text;
  }

  void CompareOwners(const Attempt& best, Reproduction& all) const {
    for (const auto& [lock, owners] : owners_) {
      const auto replayed = best.owners.find(lock);
      const std::vector<std::string> none;
      const std::vector<std::string>& had = replayed == best.owners.end() ? none : replayed->second;
      if (had == owners) {
        all.reproduced.push_back(Cat("lock ", Quoted(lock), " was held by ", OwnersText(owners)));
      } else {
        all.not_reproduced.push_back(Cat("lock ", Quoted(lock), " was held by ", OwnersText(owners),
                                         "; in the replay by ", OwnersText(had)));
      }
    }
  }

  InferredScenario inferred_;
  const HistoryVerdict& verdict_;
  std::map<std::string, std::vector<std::string>> owners_;
};

}  // namespace

Reproduction Reproduce(InferredScenario inferred, const HistoryVerdict& verdict) {
  return Search(std::move(inferred), verdict).Find();
}

}  // namespace whorl::check
