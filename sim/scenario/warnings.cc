#include "sim/scenario/warnings.h"

#include <cstddef>
#include <string_view>

#include "base/text.h"
#include "protocol/protocols.h"

namespace whorl::sim {
namespace {

// An application that asks is at work from an answer to its write, and stops in between only by chance.
void WarnOfStopTakes(const Scenario& scenario, std::vector<std::string>& warnings) {
  const WorkloadSpec& workload = scenario.workload;
  if (workload.stop_takes.ns == 0) return;
  std::vector<std::string_view> nodes;
  for (const NodeSpec& node : scenario.nodes) {
    if (node.use == Use::kHasLock) nodes.push_back(node.name);
  }
  if (nodes.empty()) return;
  const bool is_all = nodes.size() == scenario.nodes.size();
  const std::string whose = is_all              ? "any node"
                            : nodes.size() == 1 ? Cat("node ", Quoted(nodes.front()))
                                                : Cat("nodes ", ListOf(nodes));
  warnings.push_back(Cat(
      "/workload/stop_takes has ", workload.work_for.ns == 0 ? "no" : "hardly any", " effect on ",
      whose,
      ": with \"use\": \"has_lock\", the default, an application is at work only from an answer ",
      "to its write (\"work_for\": ", FormatDuration(workload.work_for), "); with ",
      "\"use\": \"callback\" it is at work for as long as it leads"));
}

void WarnOfAnnouncements(const Scenario& scenario, std::vector<std::string>& warnings) {
  const ProtocolInfo* protocol = FindProtocol(scenario.protocol);
  if (protocol == nullptr || protocol->announces_releases) return;
  for (size_t i = 0; i < scenario.faults.size(); ++i) {
    if (scenario.faults[i].As<AnnounceFault>() == nullptr) continue;
    warnings.push_back(Cat("the fault on line ", std::to_string(scenario.faults[i].line),
                           " has no effect: ", scenario.protocol,
                           " does not listen to announcements of releases"));
    return;
  }
}

}  // namespace

std::vector<std::string> WarningsOf(const Scenario& scenario) {
  std::vector<std::string> warnings;
  WarnOfStopTakes(scenario, warnings);
  WarnOfAnnouncements(scenario, warnings);
  return warnings;
}

}  // namespace whorl::sim
