#include "sim/measure/continuation.h"

#include "base/text.h"
#include "sim/world/mix.h"

namespace whorl::sim {

uint64_t ChanceOfContinuation(uint64_t seed, size_t i) { return Combine(Mix(seed), i + 1); }

std::string WhyNoContinuations(const Scenario& scenario, const RunResult& result, size_t moments,
                               uint64_t events) {
  if (!scenario.schedule.empty()) {
    return "the scenario's schedule decides every event, so chance has no part in it";
  }
  if (result.events * static_cast<uint64_t>(kFewestContinuations) * moments > events) {
    return Cat("the run has ", GroupedText(static_cast<int64_t>(result.events)),
               " events, which is too long to try continuations of it");
  }
  return {};
}

std::vector<Instant> Instants::Candidates() const {
  std::vector<Instant> before = {kBeforeStart};
  for (const Instant at : all_) {
    if (at < violated_at()) before.push_back(at);
  }
  before.push_back(violated_at());
  return before;
}

}  // namespace whorl::sim
