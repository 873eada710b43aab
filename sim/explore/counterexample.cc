#include "sim/explore/counterexample.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "sim/judge/checkers/setup.h"
#include "sim/report/breakage.h"
#include "sim/world/latency.h"
#include "sim/world/schedule.h"
#include "spanner_model/catalogue.h"

namespace whorl::sim {
namespace {

// A pause that ended in the instant in which it began.
constexpr Duration kShortestPause = Microseconds(1);

// Takes the choices of a path one by one, and writes them into a scenario.
class PathWriter {
 public:
  PathWriter(const LockModel& model, size_t initial)
      : model_(model),
        state_(model.RootStates()[initial]),
        scenario_(state_->world.setup().scenario) {
    scenario_.faults.clear();
    if (model.bounds().clocks.AreOfSpanner()) scenario_.spanner.current_timestamp_error = {};
    scenario_.path.clear();
    for (const Move& move : model.prefix()) Add(move);
  }

  void Add(const Move& move) {
    LockModel::State next;
    model_.Take(state_, move, next);
    const ClockErrors clocks = WhatMatters(move, next->world);
    if (move.kind == MoveKind::kEvent) AddEvent(move, clocks);
    if (move.kind == MoveKind::kFault) AddFault(move, clocks);
    state_ = std::move(next);
  }

  Scenario Finish(const ExploreBounds& bounds) && {
    const Instant last = scenario_.schedule.empty() ? Instant{} : *scenario_.schedule.back().at;
    const int64_t grid = bounds.grid.ns;
    scenario_.duration = Duration{(last.ns / grid + 1) * grid};
    if (bounds.horizon) scenario_.duration = std::min(scenario_.duration, *bounds.horizon);
    return std::move(scenario_);
  }

 private:
  // A fault of the menu that struck. `place`: its index in the scenario's faults.
  struct Struck {
    uint32_t in_menu = 0;
    uint32_t place = 0;
    int16_t node = FaultSpec::kNoNode;
    uint32_t incarnation = 0;
  };

  const World& world() const { return state_->world; }

  // The move's clock errors, without those that make no difference to the next world. Where a move has no
  // error, TrueTime keeps the world's setting, and CURRENT_TIMESTAMP is exact.
  ClockErrors WhatMatters(const Move& move, const World& next) const {
    ClockErrors matters;
    const auto leads_elsewhere = [&](const ClockErrors& clocks) {
      Move other = move;
      other.clocks = clocks;
      LockModel::State to;
      model_.Take(state_, other, to);
      return to->world != next;
    };
    const auto& [truetime, current_timestamp] = move.clocks;
    if (truetime && leads_elsewhere({.current_timestamp = current_timestamp})) {
      matters.truetime = truetime;
    }
    if (current_timestamp &&
        leads_elsewhere({.truetime = truetime, .current_timestamp = Duration{}})) {
      matters.current_timestamp = current_timestamp;
    }
    return matters;
  }

  void Push(ScheduleEntry entry, Instant at, const ClockErrors& clocks) {
    entry.at = at;
    entry.clocks = clocks;
    scenario_.schedule.push_back(entry);
  }

  void AddEvent(const Move& move, const ClockErrors& clocks) {
    const auto place = world().state().pending.Find(move.event);
    ScheduleEntry entry = EntryOf(world(), world().state().pending[*place]);
    if (const auto* ends = std::get_if<FaultEnds>(&move.event.event)) {
      const Struck& struck = *FindStruck(*entry.fault, ends->incarnation);
      FaultSpec& fault = scenario_.faults[struck.place];
      const Duration lasted = move.at - std::get<Instant>(fault.trigger);
      SetLasts(fault.what, std::max(lasted, kShortestPause));
      entry.fault = struck.place;
    } else if (entry.fault) {
      entry.fault = FindStruck(*entry.fault, 0)->place;
    }
    Push(entry, move.at, clocks);
  }

  void AddFault(const Move& move, const ClockErrors& clocks) {
    const FaultSpec& in_menu = model_.scenario().faults[move.fault];
    if (in_menu.As<StartFault>() != nullptr) return AddRestart(in_menu.node, move.at);
    FaultSpec fault = in_menu;
    fault.trigger = move.at;
    const auto place = static_cast<uint32_t>(scenario_.faults.size());
    scenario_.faults.push_back(std::move(fault));
    struck_.push_back({.in_menu = move.fault,
                       .place = place,
                       .node = in_menu.node,
                       .incarnation = LastsOf(in_menu.what) ? IncarnationOf(in_menu.node) : 0});
    ScheduleEntry entry = EntryOfStrike(world(), move.fault, move.call);
    entry.fault = place;
    Push(entry, move.at, clocks);
  }

  // The node's last crash or stop becomes one from which it starts again.
  void AddRestart(int16_t node, Instant at) {
    for (size_t i = scenario_.faults.size(); i-- > 0;) {
      FaultSpec& fault = scenario_.faults[i];
      auto* crash = std::get_if<CrashFault>(&fault.what);
      auto* stop = std::get_if<StopFault>(&fault.what);
      if (fault.node != node || (crash == nullptr && stop == nullptr)) continue;
      const Duration after = at - std::get<Instant>(fault.trigger);
      (crash != nullptr ? crash->restart_after : stop->restart_after) = after;
      break;
    }
    Push({.event = ScheduledEvent::kNodeStarts, .node = node}, at, {});
  }

  uint32_t IncarnationOf(int16_t node) const {
    return world().state().nodes[static_cast<size_t>(node)].incarnation;
  }

  // The last time that this fault struck. `incarnation`: of the process that it struck, if it lasts; else 0.
  const Struck* FindStruck(uint32_t in_menu, uint32_t incarnation) const {
    const Struck* found = nullptr;
    for (const Struck& struck : struck_) {
      if (struck.in_menu == in_menu && struck.incarnation == incarnation) found = &struck;
    }
    return found;
  }

  const LockModel& model_;
  LockModel::State state_;
  Scenario scenario_;
  std::vector<Struck> struck_;
};

void Describe(const explore::Violation<Move>& violation, const std::vector<Breakage>& breakages,
              Counterexample& found) {
  Scenario& scenario = found.scenario;
  const auto invariant = static_cast<Invariant>(violation.property);
  scenario.name = Cat(scenario.protocol, ".", WordOf(invariant), ".", FaultWords(scenario));
  scenario.about =
      Cat("Found by whorl explore, with ", CountText(violation.faults, "fault", "faults"), " and ",
          CountText(static_cast<int64_t>(scenario.schedule.size()), "event", "events"), ".");
  for (const Breakage& breakage : breakages) {
    scenario.expect.violates.push_back(breakage.kind.invariant);
    if (breakage.kind.invariant != invariant) continue;
    found.where = breakage.kind.where;
    scenario.name =
        Cat(scenario.protocol, ".", WordOf(invariant), ".", found.where, ".", FaultWords(scenario));
    scenario.about += Cat(" ", WordOf(invariant), " is violated at ",
                          FormatSeconds(breakage.at - Instant{}, 3), " s: ", breakage.text, ".");
  }
}

// Whether the run failed at an entry in which Spanner looks again for a waiting read. In the search, commits
// may lie ahead of the clock within an instant, so that reads wait for them; in exact time the read may not
// have to wait.
bool LooksInVain(const Counterexample& found) {
  const std::optional<uint32_t> failed = found.run.failed_entry;
  return failed && found.scenario.schedule[*failed].event == ScheduledEvent::kSpannerLooksAgain;
}

// The longest time from the last disturbance to a violation of no_wedge, with all extensions that
// NoWedge::DeadlineOf grants.
Duration TimeToJudgeAWedge(const Scenario& scenario) {
  const CheckerSetup setup = MakeCheckerSetup(scenario, RoundTripP999(scenario.spanner.preset));
  Duration bound;
  for (const LockSetup& lock : setup.locks) bound = std::max(bound, lock.wedge_bound);
  return bound * 2 + model::Options{}.idle_limit + Seconds(1);
}

}  // namespace

Counterexample CounterexampleOf(const LockModel& model, const explore::Violation<Move>& violation) {
  PathWriter writer(model, violation.path.initial);
  for (const Move& move : violation.path.choices) writer.Add(move);
  Counterexample found = {.scenario = std::move(writer).Finish(model.bounds())};
  if (violation.property == static_cast<int>(Invariant::kNoWedge)) {
    found.scenario.duration += TimeToJudgeAWedge(found.scenario);
  }
  StepsOfRun steps;
  found.run = RunScenario(found.scenario, found.scenario.seed, &steps, model.config_maker());
  while (LooksInVain(found)) {
    found.scenario.schedule.erase(found.scenario.schedule.begin() + *found.run.failed_entry);
    steps = {};
    found.run = RunScenario(found.scenario, found.scenario.seed, &steps, model.config_maker());
  }
  found.is_confirmed = found.run.schedule_problem.empty() &&
                       found.run.checks[static_cast<Invariant>(violation.property)].violations > 0;
  Describe(violation, steps.BreakagesOf(found.run), found);
  return found;
}

bool NeedsLess(const Counterexample& less, const Counterexample& more) {
  const auto kinds = [](const Counterexample& found) {
    std::multiset<FaultKind> all;
    for (const FaultSpec& fault : found.scenario.faults) all.insert(fault.kind());
    return all;
  };
  const std::multiset<FaultKind> few = kinds(less);
  const std::multiset<FaultKind> many = kinds(more);
  return less.where == more.where && few.size() < many.size() && std::ranges::includes(many, few);
}

void RunAgain(const LockModel& model, const Counterexample& found, ObservationSink& sink) {
  RunScenario(found.scenario, found.scenario.seed, &sink, model.config_maker());
}

std::string FaultWords(const Scenario& scenario) {
  std::string words;
  for (const FaultSpec& fault : scenario.faults) {
    words += Cat(words.empty() ? "" : "_and_", FaultKindText(fault.kind()));
  }
  return words.empty() ? "no_fault" : words;
}

}  // namespace whorl::sim
