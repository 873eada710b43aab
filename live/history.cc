#include "live/history.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "base/text.h"
#include "live/row_changes.h"
#include "live/shift_times.h"
#include "protocol/spanner/fingerprint.h"
#include "sim/judge/run_judge.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/rules.h"
#include "sim/world/latency.h"
#include "sim/world/start_rows.h"

namespace whorl::live {
namespace {

using sim::Instant;
using sim::Observation;

// How long before the run the initial rows were written, unless they contain a later timestamp; as
// in the simulation.
constexpr Duration kRowsWritten = Seconds(3600);

// What a process of a real run may be late by, on a machine that has other things to do.
constexpr Duration kHostDelay = Seconds(1);

// --- commits and their rows ----------------------------------------------------------------------

// Sorts the commits by timestamp, and makes the times at which they were seen follow that order.
void PutInOrder(std::vector<SeenCommit>& commits) {
  std::ranges::stable_sort(commits, {}, &SeenCommit::commit);
  Instant seen = sim::kNever;
  for (auto commit = commits.rbegin(); commit != commits.rend(); ++commit) {
    seen = std::min(seen, commit->at);
    commit->at = seen;
  }
}

// Adds a hole where the rows that one commit left differ from those that the next one found.
void LookForHoles(const Record& record, size_t key, std::vector<std::string>& holes) {
  std::vector<Row> left = record.rows;
  const SeenCommit* last = nullptr;
  for (const SeenCommit& seen : record.commits) {
    if (!seen.before || !seen.after) {
      holes.emplace_back("the rows of a commit were not read");
      return;
    }
    if (last != nullptr && last->commit == seen.commit) {
      holes.emplace_back("two commits have one timestamp, and their rows cannot be told apart");
    }
    if (!SameRows(left, *seen.before, key)) {
      holes.push_back(Cat("rows changed before ", FormatRfc3339(seen.commit),
                          " by a commit whose reply was not seen"));
    }
    left = *seen.after;
    last = &seen;
  }
}

// --- the merge -----------------------------------------------------------------------------------

class Merge {
 public:
  Merge(const sim::Scenario& scenario, const Record& record)
      : scenario_(scenario), shift_(sim::kStartTime - record.start), end_{scenario.duration.ns} {}

  std::vector<Observation> Take(const Record& record) {
    TakeRowsOfTheStart(record);
    std::vector<const ReportedEvent*> heard;
    for (const ReportedEvent& event : record.heard) heard.push_back(&event);
    std::ranges::stable_sort(heard, {}, [](const ReportedEvent* one) { return one->at; });
    size_t next = 0;
    for (const SeenCommit& seen : record.commits) {
      for (; next < heard.size() && heard[next]->at < seen.at; ++next) TakeOne(*heard[next]);
      TakeCommit(seen);
    }
    for (; next < heard.size(); ++next) TakeOne(*heard[next]);
    LapseUntil(end_);
    Observe(end_, sim::RunEnded{});
    return std::move(history_);
  }

 private:
  struct Belief {
    bool standing = false;
    std::optional<Instant> lapses_at;
    bool believes = false;
  };
  struct OpenCall {
    StepName step;
    bool hangs = false;
  };
  struct NodeState {
    uint32_t incarnation = 0;
    bool runs = false;
    bool cut_to = false;
    bool cut_from = false;
    std::map<CallName, OpenCall> calls;  // those that the process waits for
  };

  void Observe(Instant at, sim::ObservedEvent what) {
    // The run began at 0 and ended at end_, so events before and after are placed there.
    at = std::clamp(at, Instant{}, end_);
    ShiftTimes(shift_, what);
    history_.push_back({.at = at, .what = std::move(what)});
  }

  void TakeRowsOfTheStart(const Record& record) {
    for (const Row& row : record.rows) {
      Observe({}, sim::RowOfTheStart(row, record.start - kRowsWritten));
    }
  }

  void TakeCommit(const SeenCommit& seen) {
    if (seen.at > end_ || !seen.before || !seen.after) return;
    LapseUntil(seen.at);
    if (seen.call.process != ProcessId{}) {
      Observe(seen.at, sim::TransactionCommitted{.call = seen.call,
                                                 .step = seen.step,
                                                 .commit = seen.commit,
                                                 .waited_for_truetime = true});
    }
    const size_t key = sim::RulesOf(scenario_.protocol).key_column;
    for (sim::RowCommitted& change : ChangesBetween(*seen.before, *seen.after, key)) {
      change.writer = seen.call.process;
      change.lock = seen.call.lock;
      change.step = seen.step;
      change.commit = seen.commit;
      Observe(seen.at, std::move(change));
    }
  }

  void TakeOne(const ReportedEvent& event) {
    if (event.at > end_) return;
    LapseUntil(event.at);
    std::visit([&](const auto& what) { Take(what, event); }, event.what);
  }

  template <typename Observed>
  void Take(const Observed& what, const ReportedEvent& event) {
    Observe(event.at, what);
  }

  // --- beliefs
  void Take(const sim::ProcessStarted& what, const ReportedEvent& event) {
    NodeState& node = nodes_[what.process.node];
    node.incarnation = what.process.incarnation;
    node.runs = true;
    Observe(event.at, what);
  }
  void Take(const sim::ProcessStopped& what, const ReportedEvent& event) {
    Observe(event.at, what);
    nodes_[what.process.node].runs = false;
    RecomputeBeliefs(what.process, event.at);
  }
  void Take(const sim::ProcessGone& what, const ReportedEvent& event) {
    nodes_[what.process.node].runs = false;
    RecomputeBeliefs(what.process, event.at);
    nodes_[what.process.node].calls.clear();
    std::erase_if(beliefs_,
                  [&](const auto& belief) { return belief.first.first.node == what.process.node; });
    Observe(event.at, what);
  }
  void Take(const sim::LeadershipViewChanged& what, const ReportedEvent& event) {
    Observe(event.at, what);
    Belief& belief = beliefs_[{what.process, what.lock}];
    belief.standing = what.standing.believes;
    belief.lapses_at = event.lapses_at;
    RecomputeBelief({what.process, what.lock}, belief, event.at);
  }
  void RecomputeBeliefs(ProcessId process, Instant at) {
    for (auto& [key, belief] : beliefs_) {
      if (key.first == process) RecomputeBelief(key, belief, at);
    }
  }
  void RecomputeBelief(const std::pair<ProcessId, uint16_t>& key, Belief& belief, Instant at) {
    const bool lapsed = belief.lapses_at && at >= *belief.lapses_at;
    const bool believes = belief.standing && !lapsed && nodes_[key.first.node].runs;
    if (believes == std::exchange(belief.believes, believes)) return;
    Observe(at, sim::BeliefChanged{.process = key.first, .lock = key.second, .believes = believes});
  }
  // Ends the beliefs that lapse by the clock until `at`.
  void LapseUntil(Instant at) {
    while (true) {
      auto next = beliefs_.end();
      for (auto belief = beliefs_.begin(); belief != beliefs_.end(); ++belief) {
        if (!belief->second.believes || !belief->second.lapses_at ||
            *belief->second.lapses_at > at) {
          continue;
        }
        if (next == beliefs_.end() || *belief->second.lapses_at < *next->second.lapses_at)
          next = belief;
      }
      if (next == beliefs_.end()) return;
      RecomputeBelief(next->first, next->second, *next->second.lapses_at);
    }
  }

  // --- calls that hang
  void Take(const sim::CallSent& what, const ReportedEvent& event) {
    Observe(event.at, what);
    NodeState& node = nodes_[what.call.process.node];
    OpenCall& call = node.calls[what.call];
    call = {.step = what.step};
    if (node.cut_to || node.cut_from) Hang(what.call, call, event.at);
  }
  void Take(const sim::CallHangs& what, const ReportedEvent& event) {
    auto& calls = nodes_[what.call.process.node].calls;
    const auto found = calls.find(what.call);
    if (found != calls.end()) Hang(what.call, found->second, event.at);
  }
  void Take(const sim::CallEnded& what, const ReportedEvent& event) {
    nodes_[what.call.process.node].calls.erase(what.call);
    Observe(event.at, what);
  }
  // A transaction that was given up ends its calls without a CallEnded for each.
  void Take(const sim::TransactionFinished& what, const ReportedEvent& event) {
    std::erase_if(nodes_[what.process.node].calls, [&](const auto& one) {
      return one.first.lock == what.lock && one.first.request == what.request;
    });
    Observe(event.at, what);
  }
  void Take(const sim::LinkChanged& what, const ReportedEvent& event) {
    Observe(event.at, what);
    NodeState& node = nodes_[what.node];
    const bool cut = what.link != sim::LinkState::kUp;
    if (Covers(what.direction, sim::Direction::kTo)) node.cut_to = cut;
    if (Covers(what.direction, sim::Direction::kFrom)) node.cut_from = cut;
    if (!cut) return;
    for (auto& [name, call] : node.calls) Hang(name, call, event.at);
  }
  void Hang(const CallName& name, OpenCall& call, Instant at) {
    if (std::exchange(call.hangs, true)) return;
    Observe(at, sim::CallHangs{.call = name, .step = call.step});
  }

  const sim::Scenario& scenario_;
  const Duration shift_;
  const Instant end_;
  std::map<int16_t, NodeState> nodes_;
  std::map<std::pair<ProcessId, uint16_t>, Belief> beliefs_;
  std::vector<Observation> history_;
};

}  // namespace

std::vector<Observation> HistoryOf(const sim::Scenario& scenario, Record& record) {
  PutInOrder(record.commits);
  LookForHoles(record, sim::RulesOf(scenario.protocol).key_column, record.holes);
  return Merge(scenario, record).Take(record);
}

sim::RunResult JudgeHistory(const sim::Scenario& scenario, uint64_t seed,
                            const std::vector<Observation>& history,
                            const std::vector<std::string>& holes, sim::ObservationSink* sink) {
  sim::RunJudge judge(scenario, sim::RoundTripP999(scenario.spanner.preset));
  judge.AllowHostDelay(kHostDelay);
  Fingerprint hash(seed);
  std::set<uint32_t> struck;
  sim::RunResult result;
  result.seed = seed;
  for (const Observation& observation : history) {
    hash.Add(observation);
    judge.Observe(observation);
    ++result.observations;
    const auto* began = std::get_if<sim::FaultBegan>(&observation.what);
    if (began != nullptr) struck.insert(began->fault);
    if (sink != nullptr) sink->Hear(observation, result.observations, hash.value());
  }
  result.hash = hash.value();
  result.events = result.observations;
  result.simulated = scenario.duration;
  result.checks = judge.Finish(Instant{scenario.duration.ns});
  for (uint32_t i = 0; i < scenario.faults.size(); ++i) {
    if (!struck.contains(i)) result.unfired_faults.push_back(i);
  }
  if (holes.empty()) return result;
  for (sim::InvariantResult& invariant : result.checks.invariants) {
    if (invariant.verdict == sim::Verdict::kNotApplicable) continue;
    invariant.verdict = sim::Verdict::kUnknown;
    invariant.unknown_because = "the history has a hole: " + holes.front();
  }
  return result;
}

}  // namespace whorl::live
