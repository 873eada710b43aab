#include "sim/scenario/fault_checks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "base/parse_duration.h"
#include "base/text.h"

namespace whorl::sim {
namespace {

std::string FaultTimeText(Instant at) { return FormatDuration(Duration{at.ns}); }

bool IsTimed(const FaultSpec& fault) { return std::holds_alternative<Instant>(fault.trigger); }
Instant TimeOf(const FaultSpec& fault) { return std::get<Instant>(fault.trigger); }

// --- lives -------------------------------------------------------------------------------------

// Follows all that a node may be doing, in the order in which a run takes its faults.
class LifeOfNode {
 public:
  LifeOfNode(const Scenario& scenario, int16_t node, const std::vector<uint32_t>& faults)
      : scenario_(scenario) {
    const NodeSpec& spec = scenario.nodes[static_cast<size_t>(node)];
    if (spec.start_at) Add({.at = *spec.start_at, .starts_for_certain = true});
    for (const uint32_t fault : faults) {
      // Which node a fault of the leader strikes is not known: it may be this one.
      const bool is_certain = scenario.faults[fault].node == node;
      if (is_certain && IsTimed(scenario.faults[fault])) {
        Add({.at = TimeOf(scenario.faults[fault]), .fault = fault});
      } else {
        any_time_.push_back(&scenario.faults[fault]);
      }
    }
  }

  // Calls found(fault) for each that can find nothing to strike.
  template <typename Found>
  void Follow(const Found& found) {
    Drift();
    while (!agenda_.empty()) {
      const Entry next = agenda_.top();
      agenda_.pop();
      if (!next.fault) {
        may_be_ = next.starts_for_certain ? kIsRunning : may_be_ | kIsRunning;
      } else if (!Strike(next)) {
        found(*next.fault);
      }
      Drift();
    }
  }

 private:
  struct Entry {
    Instant at;
    std::optional<uint32_t> fault = std::nullopt;  // else the node starts
    bool starts_for_certain = false;
    uint64_t order = 0;
    friend bool operator<(const Entry& a, const Entry& b) {  // the first is the greatest
      return std::tie(b.at, b.order) < std::tie(a.at, a.order);
    }
  };

  void Add(Entry entry) {
    entry.order = order_++;
    agenda_.push(entry);
  }

  bool Strike(const Entry& entry) {
    const FaultSpec& fault = scenario_.faults[*entry.fault];
    const unsigned hit = may_be_ & StrikesIn(fault.what);
    if (hit == kNoLife) return false;
    const unsigned next = LeadsTo(fault.what);
    if (next == kNoLife) return true;
    if (const auto restart_after = RestartAfterOf(fault.what)) {
      Add({.at = entry.at + *restart_after, .starts_for_certain = hit == may_be_});
    }
    may_be_ = (may_be_ & ~hit) | next;
    return true;
  }

  // Adds the states to which faults that wait for a step may have led meanwhile.
  void Drift() {
    for (unsigned before = kNoLife; before != may_be_;) {
      before = may_be_;
      for (const FaultSpec* fault : any_time_) {
        if ((may_be_ & StrikesIn(fault->what)) == kNoLife) continue;
        may_be_ |= LeadsTo(fault->what);
        if (RestartAfterOf(fault->what)) may_be_ |= kIsRunning;
      }
    }
  }

  const Scenario& scenario_;
  unsigned may_be_ = kIsDown;
  std::priority_queue<Entry> agenda_;
  std::vector<const FaultSpec*> any_time_;
  uint64_t order_ = 0;
};

// --- contradictions ----------------------------------------------------------------------------

// When a timed fault sets what it sets. A setting for good is set at an instant: a later one
// replaces it.
struct Span {
  Instant begin;
  Instant end;
};
Span SpanOf(const Scenario& scenario, const FaultSpec& fault) {
  const Instant begin = TimeOf(fault);
  if (const auto lasts = LastsOf(fault.what)) return {begin, begin + *lasts};
  if (GoesOn(fault.what)) return {begin, Instant{scenario.duration.ns}};
  return {begin, begin + Nanoseconds(1)};
}

class Checks {
 public:
  Checks(const Scenario& scenario, size_t max) : scenario_(scenario), max_(max) {}

  void CheckLives();
  void CheckRestarts();
  void CheckContradictions();
  void CheckSessions();

  bool empty() const { return problems_.empty(); }
  std::vector<FaultProblem> TakeProblems() && { return std::move(problems_); }

 private:
  // More than anyone reads: time to stop looking for others.
  bool Full() const { return problems_.size() >= max_; }
  void Add(uint32_t fault, std::string text, FaultProblem::Place place) {
    if (!Full()) problems_.push_back({.fault = fault, .place = place, .text = std::move(text)});
  }
  void Add(uint32_t fault, std::string text) {
    Add(fault, std::move(text), FaultProblem::Place::kFault);
  }
  std::string NodeText(int16_t node) const {
    if (node == FaultSpec::kLeader) return "the leader";
    return Cat("node ", Quoted(scenario_.nodes[static_cast<size_t>(node)].name));
  }
  void Compare(std::vector<uint32_t>& faults);
  void ReportContradiction(uint32_t first, uint32_t second);
  Instant EndOf(uint32_t fault) const { return SpanOf(scenario_, scenario_.faults[fault]).end; }

  const Scenario& scenario_;
  size_t max_;
  std::vector<FaultProblem> problems_;
};

void Checks::CheckLives() {
  std::map<int16_t, std::vector<uint32_t>> by_node;
  for (uint32_t i = 0; i < scenario_.faults.size(); ++i) {
    const FaultSpec& fault = scenario_.faults[i];
    if (fault.node >= 0) by_node[fault.node].push_back(i);
    if (fault.node != FaultSpec::kLeader) continue;
    if ((StrikesIn(fault.what) & kHasProcess) == kNoLife) {
      Add(i, "can never fire: a node that leads runs already");
    }
    for (int16_t node = 0; node < static_cast<int16_t>(scenario_.nodes.size()); ++node) {
      by_node[node].push_back(i);
    }
  }
  for (const auto& entry : by_node) {
    const int16_t node = entry.first;
    LifeOfNode(scenario_, node, entry.second).Follow([&](uint32_t found) {
      const FaultSpec& fault = scenario_.faults[found];
      const bool start = fault.As<StartFault>() != nullptr;
      Add(found, Cat("can never fire: at ", FaultTimeText(TimeOf(fault)), " ", NodeText(node),
                     start ? " runs already" : " is not running"));
    });
    if (Full()) return;
  }
}

// A restart that comes too late would leave the fault going on for ever.
void Checks::CheckRestarts() {
  for (uint32_t i = 0; i < scenario_.faults.size(); ++i) {
    const FaultSpec& fault = scenario_.faults[i];
    const std::optional<Duration> restart_after = RestartAfterOf(fault.what);
    if (!restart_after || Full()) continue;
    const Instant again = (IsTimed(fault) ? TimeOf(fault) : Instant{}) + *restart_after;
    if (Duration{again.ns} < scenario_.duration) continue;
    Add(i,
        Cat(NodeText(fault.node), " would start again at ", FaultTimeText(again),
            IsTimed(fault) ? "" : " at the earliest", ", and the run ends at ",
            FormatDuration(scenario_.duration), "; without \"restart_after\" it stays down"),
        FaultProblem::Place::kRestartAfter);
  }
}

// A process has a session from its start on, and creates another one when that is gone.
void Checks::CheckSessions() {
  const auto loses = [&](int16_t node) {
    return std::ranges::any_of(scenario_.faults, [&](const FaultSpec& fault) {
      if (fault.As<SessionLossFault>() == nullptr) return false;
      return fault.node == node || fault.node == FaultSpec::kLeader || node == FaultSpec::kLeader;
    });
  };
  for (uint32_t i = 0; i < scenario_.faults.size(); ++i) {
    const auto* error = scenario_.faults[i].As<ErrorFault>();
    if (error == nullptr || error->of_call != ErrorCall::kCreateSession || Full()) continue;
    if (loses(scenario_.faults[i].node)) continue;
    Add(i, Cat("can never fire: ", NodeText(scenario_.faults[i].node),
               " creates a session when it has lost one; add a \"session_loss\" of it"));
  }
}

void Checks::CheckContradictions() {
  std::map<std::pair<FaultKind, int16_t>, std::vector<uint32_t>> by_target;
  for (uint32_t i = 0; i < scenario_.faults.size(); ++i) {
    const FaultSpec& fault = scenario_.faults[i];
    if (!IsTimed(fault) || !CanContradict(fault.kind())) continue;
    if (fault.node == FaultSpec::kLeader) continue;  // another node each time, perhaps
    by_target[{fault.kind(), fault.node}].push_back(i);
  }
  for (auto& [target, faults] : by_target) Compare(faults);
}

void Checks::Compare(std::vector<uint32_t>& faults) {
  std::sort(faults.begin(), faults.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(TimeOf(scenario_.faults[a]), a) < std::pair(TimeOf(scenario_.faults[b]), b);
  });
  // Among faults that set the same, only the one that ends last is compared. Comparing all pairs of
  // twenty thousand faults would take many seconds.
  std::vector<uint32_t> going;
  for (const uint32_t fault : faults) {
    const FaultSpec& second = scenario_.faults[fault];
    std::erase_if(going, [&](uint32_t first) { return EndOf(first) <= TimeOf(second); });
    bool is_new = true;
    for (uint32_t& first : going) {
      ReportContradiction(first, fault);
      if (Full()) return;
      if (!SetTheSame(scenario_.faults[first].what, second.what)) continue;
      is_new = false;
      if (EndOf(first) < EndOf(fault)) first = fault;
    }
    if (is_new) going.push_back(fault);
  }
}

void Checks::ReportContradiction(uint32_t first, uint32_t second) {
  const FaultSpec& later = scenario_.faults[second];
  const std::string_view what = ConflictingSetting(scenario_.faults[first].what, later.what);
  if (what.empty()) return;
  const std::string whose =
      later.node == FaultSpec::kNoNode ? "" : Cat(" of ", NodeText(later.node));
  Add(second, Cat("contradicts the fault on line ", std::to_string(scenario_.faults[first].line),
                  ": both set ", what, whose, " at ", FaultTimeText(TimeOf(later))));
}

}  // namespace

bool ReachesPhase(const ProtocolInfo& protocol, StepName step, Phase phase) {
  if (step == steps::kWrite) return phase == Phase::kSent || phase == Phase::kServed;
  const bool asks = step == steps::kHasLock;
  if (asks && protocol.answers_locally) return phase == Phase::kEnded;
  if (phase != Phase::kCommitted) return true;
  return !asks && std::ranges::find(protocol.steps_without_commit, step) ==
                      protocol.steps_without_commit.end();
}

std::vector<FaultProblem> ProblemsOfFaults(const Scenario& scenario, size_t max) {
  Checks checks(scenario, max);
  checks.CheckRestarts();
  checks.CheckContradictions();
  checks.CheckSessions();
  // A life that is followed from faults that are wrong would be wrong, too.
  if (checks.empty()) checks.CheckLives();
  return std::move(checks).TakeProblems();
}

std::vector<bool> StartedNodes(const Scenario& scenario) {
  std::vector<bool> started;
  for (const NodeSpec& node : scenario.nodes) started.push_back(node.start_at.has_value());
  for (const FaultSpec& fault : scenario.faults) {
    if (fault.As<StartFault>() == nullptr || fault.node < 0) continue;
    started[static_cast<size_t>(fault.node)] = true;
  }
  return started;
}

bool ScheduleIsPossible(const Scenario& scenario) {
  if (scenario.schedule.empty()) return true;
  Instant last;
  for (const ScheduleEntry& entry : scenario.schedule)
    last = std::max(last, entry.at.value_or(last));
  if (last - Instant{} >= scenario.duration) return false;
  const std::vector<bool> begun = FaultsOfSchedule(scenario);
  for (size_t i = 0; i < scenario.faults.size(); ++i) {
    if (begun[i] || !IsTimed(scenario.faults[i])) continue;
    if (TimeOf(scenario.faults[i]) < last) return false;
  }
  return true;
}

bool FaultsArePossible(const Scenario& scenario) {
  const std::vector<bool> started = StartedNodes(scenario);
  const bool possible = std::ranges::all_of(scenario.faults, [&](const FaultSpec& fault) {
    if (IsTimed(fault)) return Duration{TimeOf(fault).ns} < scenario.duration;
    const When& when = std::get<When>(fault.trigger);
    const auto node = static_cast<size_t>(when.node);
    const std::vector<uint16_t>& locks = scenario.nodes[node].locks;
    return started[node] && (!when.lock || std::ranges::find(locks, *when.lock) != locks.end());
  });
  return possible && ProblemsOfFaults(scenario, 1).empty();
}

}  // namespace whorl::sim
