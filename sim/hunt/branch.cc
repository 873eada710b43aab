#include "sim/hunt/branch.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "base/text.h"
#include "protocol/protocols.h"
#include "sim/hunt/shared_capabilities.h"
#include "sim/hunt/shrink.h"
#include "sim/hunt/world_generator.h"
#include "sim/judge/run_judge.h"
#include "sim/judge/waypoints.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/fault_checks.h"
#include "sim/world/draws.h"
#include "sim/world/driver.h"
#include "sim/world/latency.h"
#include "sim/world/reached_phase.h"

namespace whorl::sim {
namespace {

// Keeps these draws apart from the run's chance.
constexpr uint64_t kFaultsOfBranch = 0x6272616e6368;

// Records of the run up to the branch which faults have struck, and how often each node has reached each
// phase of each step, as `when` faults count it.
class Beginning final : public ObservationSink {
 public:
  explicit Beginning(const Scenario& world)
      : protocol_(*FindProtocol(world.protocol)), struck_(world.faults.size()), waypoints_(world) {
    if (!waypoints_.empty()) judge_.emplace(world, RoundTripP999(world.spanner.preset));
  }

  void Hear(const Observation& observation, uint64_t /*ordinal*/, uint64_t /*hash*/) override {
    const ObservedEvent& what = observation.what;
    if (judge_) {
      judge_->Observe(observation);
      waypoints_.Hear(observation, judge_->ledger());
    }
    if (const auto* began = std::get_if<FaultBegan>(&what)) struck_[began->fault] = true;
    const auto reached = PhaseReachedBy(what, protocol_);
    if (!reached) return;
    Count(reached->call.process.node, reached->call.lock, reached->step, reached->phase);
    // `replied` is checked before the reply is heard; what follows is the end of the step.
    if (reached->phase == Phase::kEnded) {
      Count(reached->call.process.node, reached->call.lock, reached->step, Phase::kReplied);
    }
    if (reached->call.process.node >= 0) last_ = reached->call.process.node;
  }

  bool HasStruck(size_t fault) const { return struck_[fault]; }
  // No lock named: counts those of all locks.
  int64_t CountOf(const When& when) const {
    int64_t sum = 0;
    for (const auto& [key, count] : counts_) {
      const auto& [node, lock, step, phase] = key;
      if (node == when.node && step == when.step.key() && phase == when.phase &&
          (!when.lock || lock == *when.lock)) {
        sum += count;
      }
    }
    return sum;
  }
  // The node that reached a phase last.
  int16_t last() const { return last_; }
  const WaypointsOfRun& waypoints() const { return waypoints_; }

 private:
  void Count(int16_t node, uint16_t lock, StepName step, Phase phase) {
    ++counts_[{node, lock, step.key(), phase}];
  }

  const ProtocolInfo& protocol_;
  std::vector<bool> struck_;
  WaypointsOfRun waypoints_;
  std::optional<RunJudge> judge_;  // if there are waypoints
  std::map<std::tuple<int16_t, uint16_t, uint64_t, Phase>, int64_t> counts_;
  int16_t last_ = 0;
};

class Brancher {
 public:
  Brancher(const WorldOptions& options, const Scenario& world)
      : options_(options),
        beginning_(world),
        driver_(world, world.seed, &beginning_),
        world_(world) {}

  Driver& driver() { return driver_; }

  Scenario LeaveNow(uint64_t seed) {
    const uint64_t before = world_.branches.empty() ? 0 : world_.branches.back().event;
    driver_.TakeEvents(before + 1);  // events of branches rise
    world_.branches.push_back({.event = driver_.events(), .seed = seed});
    const std::vector<FaultSpec> faults = world_.faults;
    Draws draws(Combine(seed, kFaultsOfBranch));
    // Faults end in time for the run to recover.
    const Duration safety = world_.duration * 3 / 4;
    const Duration now = driver_.world().now() - Instant{};
    if (now < safety) {
      LeaveOutLaterFaults(draws);
      if (draws.Percent(50)) AlterLaterFaults(now, safety, draws);
      AddFaults(now, safety, draws);
      if (beginning_.waypoints().next() != nullptr && draws.Percent(50)) {
        AddTowards(*beginning_.waypoints().next(), now, safety, draws);
      }
    }
    if (!GoesAsBefore()) world_.faults = faults;
    return std::move(world_);
  }

 private:
  // An added fault may wait for a phase that the run has reached more often than could be counted here: a
  // reply that a process never heard.
  bool GoesAsBefore() const {
    Driver again(world_, world_.seed, nullptr);
    again.TakeEvents(driver_.events());
    return again.hash() == driver_.hash();
  }

  void LeaveOutLaterFaults(Draws& draws) {
    static constexpr std::array<int64_t, 4> kShares = {0, 0, 50, 100};
    const int64_t share = draws.Pick<int64_t>(kShares);
    for (size_t i = world_.faults.size(); i-- > 0;) {
      // A node that only a fault starts is another world without it.
      const bool starts = world_.faults[i].As<StartFault>() != nullptr;
      if (beginning_.HasStruck(i) || starts || !draws.Percent(share)) continue;
      Scenario without = world_;
      TakeOutFault(without, i);
      if (FaultsArePossible(without)) world_ = std::move(without);  // others may need it
    }
  }

  void AlterLaterFaults(Duration now, Duration safety, Draws& draws) {
    for (size_t i = 0; i < world_.faults.size(); ++i) {
      if (beginning_.HasStruck(i) || !draws.Percent(30)) continue;
      const FaultSpec before = world_.faults[i];
      Alter(now, safety, draws, world_.faults[i]);
      if (!IsPossible()) world_.faults[i] = before;
    }
  }

  // Lets it strike somewhat earlier or later, or last shorter or longer, or be stronger or weaker.
  void Alter(Duration now, Duration safety, Draws& draws, FaultSpec& fault) {
    if (draws.Percent(50)) {
      if (auto* when = std::get_if<When>(&fault.trigger)) {
        when->count = std::max(beginning_.CountOf(*when) + 1, when->count + draws.Between(-2, 2));
      } else {
        const Duration at = Duration{std::get<Instant>(fault.trigger).ns};
        const Duration other = at + draws.EitherWay(Milliseconds(1), Seconds(10));
        fault.trigger = Instant{std::clamp(other, now + Milliseconds(1), safety).ns};
      }
    }
    if (draws.Percent(50)) return;
    static constexpr std::array<int64_t, 6> kEighths = {2, 4, 6, 10, 12, 16};
    const int64_t eighths = draws.Pick<int64_t>(kEighths);
    const auto scale = [&](Duration& duration) {
      duration = std::clamp(Rounded(duration * eighths / 8), Milliseconds(1), Seconds(60));
    };
    std::visit(
        [&](auto& kind) {
          if constexpr (requires { kind.add; }) {
            for (Duration* part : {&kind.add.p50, &kind.add.p99, &kind.add.max}) scale(*part);
            kind.add.min = std::min(kind.add.min, kind.add.p50);
          } else if constexpr (requires { kind.restart_after; }) {
            if (kind.restart_after) scale(*kind.restart_after);
          }
        },
        fault.what);
    if (std::optional<Duration> lasts = LastsOf(fault.what)) {
      scale(*lasts);
      SetLasts(fault.what, *lasts);
    }
  }

  void AddFaults(Duration now, Duration safety, Draws& draws) {
    static constexpr std::array<Draws::Weighted<int64_t>, 4> kCounts = {
        {{20, 0}, {40, 1}, {25, 2}, {15, 3}}};
    const int64_t count = draws.Weigh<int64_t>(kCounts);
    if (count == 0) return;
    Scenario other = world_;
    other.faults.clear();
    const ProtocolInfo* const alone = FindProtocol(world_.protocol);
    DrawFaults(options_, SharedCapabilities({&alone, 1}), safety, FaultTriggers::kTimesAndSteps,
               draws, other);
    for (int64_t left = count; left > 0 && !other.faults.empty(); --left) {
      FaultSpec fault = draws.Pick(other.faults);
      if (fault.As<StartFault>() != nullptr) continue;
      StrikeSoon(now, safety, draws, fault);
      world_.faults.push_back(std::move(fault));
      if (!IsPossible()) world_.faults.pop_back();
    }
  }

  // Adds the fault that reaches the next waypoint, if there is such a fault.
  void AddTowards(const Waypoint& waypoint, Duration now, Duration safety, Draws& draws) {
    const std::optional<FaultKind> kind = FaultThatReaches(waypoint);
    if (!kind || !MayStrike(*kind)) return;
    WorldOptions options = options_;
    options.kinds = {*kind};
    Scenario other = world_;
    other.faults.clear();
    const ProtocolInfo* const alone = FindProtocol(world_.protocol);
    DrawFaults(options, SharedCapabilities({&alone, 1}), safety, FaultTriggers::kTimesAndSteps,
               draws, other);
    if (other.faults.empty()) return;
    FaultSpec fault = draws.Pick(other.faults);
    const int16_t whose = beginning_.waypoints().NodeOf(waypoint);
    fault.node = whose >= 0 ? whose : beginning_.last();
    const Duration lease = world_.nodes[static_cast<size_t>(fault.node)].lease;
    const Duration at = now + Rounded(draws.Log(Milliseconds(1), lease * 2));
    fault.trigger = Instant{std::max(now + Milliseconds(1), std::min(at, safety)).ns};
    world_.faults.push_back(std::move(fault));
    if (!IsPossible()) world_.faults.pop_back();
  }

  static std::optional<FaultKind> FaultThatReaches(const Waypoint& waypoint) {
    const auto* event = std::get_if<ProcessEvent>(&waypoint.what);
    if (event == nullptr) return std::nullopt;
    if (*event == ProcessEvent::kPaused) return kKindOf<PauseFault>;
    if (*event == ProcessEvent::kCrashed) return kKindOf<CrashFault>;
    if (*event == ProcessEvent::kStopped) return kKindOf<StopFault>;
    return std::nullopt;  // follows from one of these
  }

  bool MayStrike(FaultKind kind) const {
    const std::vector<FaultKind>& kinds = options_.kinds;
    return kinds.empty() || std::ranges::find(kinds, kind) != kinds.end();
  }

  // Moves the fault to what comes next, mostly to the node that acted last.
  void StrikeSoon(Duration now, Duration safety, Draws& draws, FaultSpec& fault) {
    if (fault.node >= 0 && draws.Percent(60)) fault.node = beginning_.last();
    if (auto* when = std::get_if<When>(&fault.trigger)) {
      if (draws.Percent(60)) MoveTo(beginning_.last(), *when);
      when->count = beginning_.CountOf(*when) + draws.Log(1, 4);
      return;
    }
    const Duration lease = world_.nodes[static_cast<size_t>(beginning_.last())].lease;
    const Duration lasts = LastsOf(fault.what).value_or(Duration{});
    const Duration at = now + Rounded(draws.Log(Milliseconds(1), lease * 2));
    fault.trigger = Instant{std::max(now + Milliseconds(1), std::min(at, safety - lasts)).ns};
  }

  void MoveTo(int16_t node, When& when) const {
    const std::vector<uint16_t>& locks = world_.nodes[static_cast<size_t>(node)].locks;
    if (when.lock && std::ranges::find(locks, *when.lock) == locks.end()) return;
    when.node = node;
  }

  bool IsPossible() const {
    return FaultsArePossible(world_) && (options_.beyond_assumptions ||
                                         BrokenAssumptions(world_, options_.rate_ppm_max).empty());
  }

  const WorldOptions& options_;
  Beginning beginning_;
  Driver driver_;
  Scenario world_;
};

std::optional<uint64_t> TakeNumber(std::string_view& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// The protocol and sixteen digits, as corpora name their entries.
bool IsNameOfEntry(std::string_view text) {
  constexpr size_t kDigits = 16;
  if (text.size() <= kDigits + 1 || text[text.size() - kDigits - 1] != '-') return false;
  const std::string_view protocol = text.substr(0, text.size() - kDigits - 1);
  return FindProtocol(protocol) != nullptr &&
         text.substr(text.size() - kDigits).find_first_not_of("0123456789abcdef") ==
             std::string_view::npos;
}

// Whether the text began so; takes it off.
bool Take(char first, std::string_view& text) {
  if (text.empty() || text.front() != first) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string NameText(const RunName& name) {
  std::string text = name.entry.empty() ? std::to_string(name.run) : name.entry;
  for (const auto& [event, seed] : name.branches) {
    text += Cat("@", std::to_string(event), ":", std::to_string(seed));
  }
  return text;
}

std::optional<RunName> ParseRunName(std::string_view text) {
  RunName name;
  const std::string_view whose = text.substr(0, text.find('@'));
  if (IsNameOfEntry(whose)) {
    name.entry = whose;
    text.remove_prefix(whose.size());
  } else {
    const auto run = TakeNumber(text);
    if (!run) return std::nullopt;
    name.run = *run;
  }
  while (!text.empty()) {
    if (!Take('@', text)) return std::nullopt;
    const auto event = TakeNumber(text);
    if (!event || !Take(':', text)) return std::nullopt;
    const auto seed = TakeNumber(text);
    if (!seed) return std::nullopt;
    const bool rises = name.branches.empty() ? *event > 0 : *event > name.branches.back().event;
    if (!rises) return std::nullopt;
    name.branches.push_back({.event = *event, .seed = *seed});
  }
  return name;
}

Scenario BranchOf(const WorldOptions& options, const Scenario& world, const BranchSpec& branch) {
  Brancher brancher(options, world);
  brancher.driver().TakeEvents(branch.event);
  return brancher.LeaveNow(branch.seed);
}

Scenario BranchOf(const WorldOptions& options, const Scenario& world, Instant at, uint64_t seed) {
  Brancher brancher(options, world);
  brancher.driver().Advance(at);
  return brancher.LeaveNow(seed);
}

}  // namespace whorl::sim
