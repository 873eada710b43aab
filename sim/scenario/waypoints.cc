#include "sim/scenario/waypoints.h"

#include <algorithm>

#include "base/text.h"
#include "protocol/names.h"
#include "sim/scenario/fault_checks.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/parts.h"

namespace whorl::sim {

namespace {

constexpr std::string_view kOldLeaderWords = "old leader";

// Takes the last word off.
std::string_view TakeLastWord(std::string_view& text) {
  const size_t space = text.rfind(' ');
  const std::string_view word = space == std::string_view::npos ? text : text.substr(space + 1);
  text = space == std::string_view::npos ? std::string_view() : text.substr(0, space);
  return word;
}

// Who it is; nothing if no node has that name.
std::optional<int16_t> NodeOf(std::string_view who, std::span<const std::string_view> nodes) {
  if (who.empty()) return Waypoint::kAnyNode;
  const auto found = std::ranges::find(nodes, who);
  if (found != nodes.end()) return static_cast<int16_t>(found - nodes.begin());
  if (who == kLeaderWord) return Waypoint::kLeader;
  if (who == kOldLeaderWords) return Waypoint::kOldLeader;
  return std::nullopt;
}

std::string WhoText(int16_t node, const Scenario& scenario) {
  if (node == Waypoint::kAnyNode) return {};
  if (node == Waypoint::kLeader) return Cat(kLeaderWord, " ");
  if (node == Waypoint::kOldLeader) return Cat(kOldLeaderWords, " ");
  return Cat(scenario.nodes[static_cast<size_t>(node)].name, " ");
}

// Why the protocol has no such step, or the step no such phase; empty if it has.
std::string StepProblem(const ProtocolInfo& protocol, std::string_view step, Phase phase) {
  const std::vector<std::string_view> known = StepWordsOf(protocol);
  if (std::ranges::find(known, step) == known.end()) return UnknownWord("step", step, known);
  if (ReachesPhase(protocol, *FindStep(step), phase)) return {};
  return Cat("can never be reached: ", step, " is never ", WordOf(phase));
}

}  // namespace

std::string WaypointText(const Waypoint& waypoint, const Scenario& scenario) {
  const std::string who = WhoText(waypoint.node, scenario);
  if (const auto* event = std::get_if<ProcessEvent>(&waypoint.what)) {
    return Cat(who, WordOf(*event));
  }
  const auto& [step, phase] = std::get<StepPhase>(waypoint.what);
  return Cat(who, WordOf(step), " ", WordOf(phase));
}

std::variant<Waypoint, std::string> ParseWaypoint(std::string_view text,
                                                  std::span<const std::string_view> nodes,
                                                  const ProtocolInfo* protocol) {
  std::string_view rest = text;
  const std::string_view last = TakeLastWord(rest);
  Waypoint waypoint;
  if (const auto event = ParseWord<ProcessEvent>(last)) {
    waypoint.what = *event;
  } else if (const auto phase = ParseWord<Phase>(last)) {
    const std::string_view step = TakeLastWord(rest);
    if (step.empty()) {
      return Cat("expected a step before ", Quoted(last), ", as in \"takeover_insert replied\"");
    }
    if (protocol != nullptr) {
      if (std::string problem = StepProblem(*protocol, step, *phase); !problem.empty()) {
        return problem;
      }
    } else if (!FindStep(step)) {
      return Cat("there is no step ", Quoted(step));
    }
    waypoint.what = StepPhase{.step = *FindStep(step), .phase = *phase};
  } else {
    std::vector<std::string_view> known(AllWords<Phase>().begin(), AllWords<Phase>().end());
    known.insert(known.end(), AllWords<ProcessEvent>().begin(), AllWords<ProcessEvent>().end());
    return Cat("expected a phase of a step, or what becomes of a process: ",
               UnknownWord("word", last, known));
  }
  const std::optional<int16_t> node = NodeOf(rest, nodes);
  if (!node) {
    std::vector<std::string_view> known(nodes.begin(), nodes.end());
    known.insert(known.end(), {kLeaderWord, kOldLeaderWords});
    return UnknownWord("node", rest, known);
  }
  waypoint.node = *node;
  return waypoint;
}

std::string_view WhyNever(const ProtocolInfo& protocol, Sometimes goal) {
  const bool is_refusal =
      goal == Sometimes::kStaleWriteRefused || goal == Sometimes::kLegitimateWriteRefused;
  if (is_refusal && !protocol.has_tokens) return "its writes carry no token to refuse them by";
  const auto found =
      std::ranges::find(protocol.impossible_goals, WordOf(goal), &ImpossibleGoal::goal);
  return found == protocol.impossible_goals.end() ? std::string_view() : found->why;
}

}  // namespace whorl::sim
