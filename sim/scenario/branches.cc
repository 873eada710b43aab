// Loads `branches`.
#include <string>

#include "base/text.h"
#include "sim/scenario/parts.h"

namespace whorl::sim {

void ReadBranches(const ObjectFields& file, Scenario& scenario, Problems& problems) {
  const std::vector<JsonValue> entries = file.Entries("branches");
  if (entries.empty()) return;
  if (file.Has("schedule")) {
    problems.AddAtKey(*file.Find("branches"),
                      "does not go with `schedule`: nothing is drawn in such a run");
  }
  if (entries.size() > kMaxBranches) {
    problems.Add(*file.Find("branches"), Cat("expected at most ", std::to_string(kMaxBranches),
                                             " branches, got ", std::to_string(entries.size())));
    return;
  }
  for (const JsonValue& entry : entries) {
    const ObjectFields fields(entry, ObjectId::kBranch, problems);
    const std::optional<int64_t> event = fields.Integer("event");
    const auto seed = fields.Unsigned("seed");
    if (!event || !seed) continue;
    const auto number = static_cast<uint64_t>(*event);
    if (!scenario.branches.empty() && number <= scenario.branches.back().event) {
      problems.Add(*fields.Find("event"),
                   Cat("expected more than ", std::to_string(scenario.branches.back().event),
                       ", the event of the branch before it"));
    }
    scenario.branches.push_back({.event = number, .seed = *seed});
  }
}

}  // namespace whorl::sim
