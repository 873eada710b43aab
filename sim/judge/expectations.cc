#include "sim/judge/expectations.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "sim/scenario/names.h"
#include "sim/scenario/waypoints.h"

namespace whorl::sim {
namespace {

using Failures = std::vector<std::string>;

// "violated 3 times", "held", "unknown (because)".
std::string OutcomeOf(const Scenario& scenario, const InvariantResult& result) {
  switch (result.verdict) {
    case Verdict::kHolds:
      return "it held";
    case Verdict::kViolated:
      return Cat("it was violated ", CountText(result.violations, "time", "times"));
    case Verdict::kPossiblyViolated:
      return "it may have been violated";
    case Verdict::kUnknown:
      return Cat("it is unknown: ", result.unknown_because);
    case Verdict::kNotApplicable:
      return Cat("it is n/a: ", scenario.protocol, " has nothing that it could be said of");
  }
  return "it has no verdict";
}

void JudgeInvariants(const Scenario& scenario, const RunResult& result, Failures& failures) {
  for (const InvariantResult& invariant : result.checks.invariants) {
    const std::string_view name = WordOf(invariant.invariant);
    const Expected expected = ExpectedOf(scenario, invariant.invariant);
    if (expected == Expected::kHolds && invariant.verdict != Verdict::kHolds) {
      failures.push_back(Cat("expected ", name, " to hold, but ", OutcomeOf(scenario, invariant)));
    }
    if (expected == Expected::kViolated && invariant.verdict != Verdict::kViolated) {
      failures.push_back(
          Cat("expected ", name, " to be violated, but ", OutcomeOf(scenario, invariant)));
    }
    if (expected == Expected::kNothing && invariant.verdict == Verdict::kViolated) {
      failures.push_back(Cat(name, " was violated ",
                             CountText(invariant.violations, "time", "times"),
                             ", and `violates` does not list it"));
    }
  }
}

void JudgeSometimes(const Scenario& scenario, const RunResult& result, Failures& failures) {
  for (const Sometimes name : scenario.expect.sometimes) {
    if (result.checks.metrics[name] > 0) continue;
    failures.push_back(Cat("expected ", WordOf(name), " at least once, but it never happened"));
  }
}

std::string MetricValueText(Metric metric, int64_t value) {
  return IsTime(metric) ? FormatDuration({value}) : GroupedText(value);
}

void JudgeMetrics(const Scenario& scenario, const RunResult& result, Failures& failures) {
  for (const MetricBound& bound : scenario.expect.metrics) {
    const int64_t value = result.checks.metrics[bound.metric];
    const std::string_view name = WordOf(bound.metric);
    const std::string was = Cat(", but it was ", MetricValueText(bound.metric, value));
    if (bound.min.has_value() && value < *bound.min) {
      failures.push_back(
          Cat("expected ", name, " of at least ", MetricValueText(bound.metric, *bound.min), was));
    }
    if (bound.max.has_value() && value > *bound.max) {
      failures.push_back(
          Cat("expected ", name, " of at most ", MetricValueText(bound.metric, *bound.max), was));
    }
  }
}

void JudgeTakeover(const Scenario& scenario, const RunResult& result, Failures& failures) {
  if (!scenario.expect.takeover_within.has_value()) return;
  const Duration longest = {result.checks.metrics[Metric::kWithoutHolderMax]};
  if (longest <= *scenario.expect.takeover_within) return;
  failures.push_back(
      Cat("expected each takeover within ", FormatDuration(*scenario.expect.takeover_within),
          ", but nobody held the lock for ", FormatDuration(longest), " (without_holder_max)"));
}

void JudgeReach(const Scenario& scenario, const RunResult& result, Failures& failures) {
  const std::vector<Waypoint>& reach = scenario.expect.reach;
  if (result.reached >= reach.size()) return;
  const Waypoint& next = reach[result.reached];
  const std::string after =
      result.reached == 0
          ? ""
          : Cat(" after ", Quoted(WaypointText(reach[result.reached - 1], scenario)));
  failures.push_back(Cat("the waypoint at ", Printable(scenario.path, 1000), ":",
                         std::to_string(next.line), " (", Quoted(WaypointText(next, scenario)),
                         ") was not reached", after, ": ", std::to_string(result.reached), " of ",
                         CountText(static_cast<int64_t>(reach.size()), "waypoint", "waypoints")));
}

void JudgeFaults(const Scenario& scenario, const RunResult& result, Failures& failures) {
  if (scenario.expect.faults_may_miss) return;
  for (const uint32_t fault : result.unfired_faults) {
    failures.push_back(Cat(FaultText(scenario, fault), " never struck"));
  }
}

bool Lists(const std::vector<Invariant>& list, Invariant invariant) {
  return std::ranges::find(list, invariant) != list.end();
}

}  // namespace

Expected ExpectedOf(const Scenario& scenario, Invariant invariant) {
  if (Lists(scenario.expect.holds, invariant)) return Expected::kHolds;
  if (Lists(scenario.expect.violates, invariant)) return Expected::kViolated;
  return Expected::kNothing;
}

std::vector<std::string> FailuresOf(const Scenario& scenario, const RunResult& result) {
  Failures failures;
  // A run that is not the one that the scenario describes says little about it.
  if (!result.schedule_problem.empty()) failures.push_back(result.schedule_problem);
  JudgeInvariants(scenario, result, failures);
  JudgeSometimes(scenario, result, failures);
  JudgeMetrics(scenario, result, failures);
  JudgeTakeover(scenario, result, failures);
  JudgeReach(scenario, result, failures);
  JudgeFaults(scenario, result, failures);
  return failures;
}

std::string FaultText(const Scenario& scenario, uint32_t fault) {
  if (fault >= scenario.faults.size()) return Cat("fault ", std::to_string(fault));
  const FaultSpec& spec = scenario.faults[fault];
  const std::string whose = spec.node == FaultSpec::kLeader ? " of the leader"
                            : spec.node == FaultSpec::kNoNode
                                ? ""
                                : Cat(" of ", NamesOf(scenario).Node(spec.node));
  return Cat("the fault at ", Printable(scenario.path, 1000), ":", std::to_string(spec.line), " (",
             FaultKindText(spec.kind()), whose, ")");
}

const InvariantResult* FirstViolation(const Scenario& scenario, const RunResult& result) {
  // Unexpected violations come first, then the order of time.
  const auto rank = [&](const InvariantResult& x) {
    const bool expected = ExpectedOf(scenario, x.invariant) == Expected::kViolated;
    return std::pair(expected, x.first->observation);
  };
  const InvariantResult* first = nullptr;
  for (const InvariantResult& invariant : result.checks.invariants) {
    if (!invariant.first.has_value()) continue;
    if (first == nullptr || rank(invariant) < rank(*first)) first = &invariant;
  }
  return first;
}

}  // namespace whorl::sim
