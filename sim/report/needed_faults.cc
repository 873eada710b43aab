#include "sim/report/needed_faults.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "sim/scenario/names.h"

namespace whorl::sim {
namespace {

// The lines of the entries that struck, each once, in the order of the file.
std::vector<int> EntriesOf(const Scenario& scenario, const RunResult& result) {
  std::vector<int> lines;
  for (uint32_t i = 0; i < scenario.faults.size(); ++i) {
    const int line = scenario.faults[i].line;
    const bool struck = std::ranges::find(result.unfired_faults, i) == result.unfired_faults.end();
    if (struck && std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  }
  return lines;
}

// "the pause of a (line 11)"; of an entry for several nodes, its first one.
std::string TextOf(const Scenario& scenario, int line) {
  const auto first = std::ranges::find(scenario.faults, line, &FaultSpec::line);
  const auto others = std::ranges::count(scenario.faults, line, &FaultSpec::line) - 1;
  std::string text = Cat("the ", FaultKindText(first->kind()));
  if (first->node == FaultSpec::kLeader) text += " of the leader";
  if (first->node >= 0) text += Cat(" of ", NamesOf(scenario).Node(first->node));
  if (first->node >= 0 && others > 0) {
    text += Cat(" and ", CountText(others, "other", "others"));
  }
  return Cat(text, " (line ", std::to_string(line), ")");
}

}  // namespace

std::string NeededFaultsText(const Scenario& scenario, const RunResult& result, Invariant invariant,
                             uint64_t events) {
  const std::vector<int> entries = EntriesOf(scenario, result);
  if (!scenario.schedule.empty() || !scenario.branches.empty()) return "";
  if (entries.empty()) return "made possible by: no fault; none struck";
  if (result.events * entries.size() > events) return "";
  std::vector<std::string> needed;
  for (const int line : entries) {
    Scenario without = scenario;
    std::erase_if(without.faults, [line](const FaultSpec& fault) { return fault.line == line; });
    const RunResult run = RunScenario(without, result.seed, nullptr);
    if (!run.checks[invariant].first) needed.push_back(TextOf(scenario, line));
  }
  const std::string_view name = WordOf(invariant);
  if (needed.empty()) {
    return Cat("made possible by: no fault alone; with any one left out, this run still violates ",
               name);
  }
  std::string text = "made possible by: ";
  for (size_t i = 0; i < needed.size(); ++i)
    text += Cat(i == 0 ? "" : i + 1 == needed.size() ? " and " : ", ", needed[i]);
  return Cat(text, "; without ", needed.size() == 1 ? "it" : "any one of them",
             " this run does not violate ", name);
}

}  // namespace whorl::sim
