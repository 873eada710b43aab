#include "sim/report/aftermath.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>

#include "base/keep_ties.h"
#include "base/text.h"
#include "sim/scenario/metrics.h"
#include "sim/world/latency.h"

namespace whorl::sim {

Aftermath::Aftermath(const Scenario& scenario, uint64_t last)
    : names_(NamesOf(scenario)),
      judge_(scenario, RoundTripP999(scenario.spanner.preset)),
      last_(last),
      resumed_(scenario.nodes.size()) {}

void Aftermath::Hear(const Observation& observation, uint64_t ordinal, uint64_t /*hash*/) {
  constexpr std::array kCounted = {Metric::kStaleWriteRefused, Metric::kStaleWriteAccepted,
                                   Metric::kLegitimateWriteRefused};
  now_ = observation.at;
  std::array<int64_t, kCounted.size()> before{};
  for (size_t i = 0; i < kCounted.size(); ++i) before[i] = judge_.Counted(kCounted[i]);
  judge_.Observe(observation);
  const auto* write = std::get_if<WriteArrived>(&observation.what);
  has_writes_ |= write != nullptr;
  if (ordinal <= last_) return;
  if (const auto* resumed = std::get_if<ProcessResumed>(&observation.what)) {
    resumed_[static_cast<size_t>(resumed->process.node)] = now_;
  }
  for (size_t i = 0; write != nullptr && i < kCounted.size(); ++i) {
    if (judge_.Counted(kCounted[i]) != before[i]) Add(static_cast<HarmKind>(i), *write);
  }
}

void Aftermath::Add(HarmKind kind, const WriteArrived& write) {
  const auto known = std::ranges::find_if(
      harms_, [&](const Harm& harm) { return harm.kind == kind && harm.lock == write.lock; });
  if (known != harms_.end()) {
    ++known->writes;
    return;
  }
  harms_.push_back({.kind = kind,
                    .lock = write.lock,
                    .process = write.process,
                    .at = now_,
                    .resumed = resumed_[static_cast<size_t>(write.process.node)],
                    .writes = 1});
}

std::string Aftermath::TextOf(const Harm& harm) {
  std::string_view text;
  switch (harm.kind) {
    case HarmKind::kStaleRefused:
      text = "its stale write arrives, and the resource that fences refuses it";
      break;
    case HarmKind::kStaleAccepted:
      text = "its stale write arrives, and the resource that does not fence accepts it";
      break;
    case HarmKind::kLegitimateRefused:
      text = "its write is refused by the resource that fences, although it holds the lock";
      break;
  }
  return harm.writes == 1
             ? std::string(text)
             : Cat(text, "; the first of ", GroupedText(harm.writes), " until the run ends");
}

std::vector<StoryLine> Aftermath::Lines(uint16_t lock) const {
  std::vector<StoryLine> lines;
  std::vector<ProcessId> told;
  for (const Harm& harm : harms_) {
    if (harm.lock != lock) continue;
    const std::string who = names_.ShortProcess(harm.process);
    if (harm.resumed && std::ranges::find(told, harm.process) == told.end()) {
      lines.push_back({.at = *harm.resumed, .who = who, .text = "runs again"});
      told.push_back(harm.process);
    }
    lines.push_back({.at = harm.at, .who = who, .text = TextOf(harm)});
  }
  if (lines.empty() && has_writes_) {
    lines.push_back({.at = now_, .who = "", .text = "the run ends; no stale write came of it"});
  }
  SortKeepingTies(lines, &StoryLine::at);
  return lines;
}

}  // namespace whorl::sim
