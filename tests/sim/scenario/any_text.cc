#include "tests/sim/scenario/any_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/parse_duration.h"
#include "sim/scenario/earlier_words.h"
#include "sim/scenario/fault_checks.h"
#include "sim/scenario/json_document.h"
#include "sim/scenario/language.h"
#include "sim/scenario/loader.h"

namespace whorl::sim {
namespace {

constexpr std::string_view kPath = "any.json";

void Require(bool holds, const char* claim) {
  if (holds) return;
  std::fprintf(stderr, "the loader broke its promise: %s\n", claim);
  std::abort();
}

void RequireGoodFault(const Scenario& scenario, const FaultSpec& fault) {
  const auto is_node = [&](int16_t node) {
    return node >= 0 && static_cast<size_t>(node) < scenario.nodes.size();
  };
  const bool is_leader = fault.node == FaultSpec::kLeader;
  Require(InfoOf(fault.kind()).has_node ? is_leader || is_node(fault.node)
                                        : fault.node == FaultSpec::kNoNode,
          "a fault hits a node, the leader, or Spanner");
  const std::optional<Duration> lasts = LastsOf(fault.what);
  Require(!lasts || *lasts > Duration{}, "a fault that ends lasts some time");
  Require(fault.line > 0, "a fault knows its line");
  if (const auto* abort = fault.As<AbortFault>()) {
    Require(abort->percent >= 1 && abort->percent <= 100, "a share of calls");
  } else if (const auto* error = fault.As<ErrorFault>()) {
    Require(error->calls >= 1 && (error->calls == 1 || !lasts), "a number of calls, or a time");
  } else if (const auto* latency = fault.As<LatencyFault>()) {
    const DelaySpec& add = latency->add;
    Require(Duration{} <= add.min && add.min <= add.p50 && add.p50 <= add.p99 && add.p99 <= add.max,
            "quantiles rise");
  } else if (const RowOfLock* target = TargetOf(fault.what)) {
    Require(target->lock < scenario.locks.size(), "a fault hits a lock that there is");
    Require(!target->row.empty(), "a row has a key");
  } else if (const auto* clock = fault.As<ClockFault>()) {
    Require(!clock->stands || lasts.has_value(), "a clock goes on");
  }
  if (const Instant* at = std::get_if<Instant>(&fault.trigger)) {
    Require(at->ns >= 0 && Duration{at->ns} < scenario.duration, "a fault begins within the run");
    return;
  }
  const When& when = std::get<When>(fault.trigger);
  Require(is_node(when.node) && when.count >= 1, "a fault waits for a node");
  if (!when.lock.has_value()) return;
  const std::vector<uint16_t>& locks = scenario.nodes[static_cast<size_t>(when.node)].locks;
  Require(std::find(locks.begin(), locks.end(), *when.lock) != locks.end(),
          "a fault waits for a lock of its node");
}

void RequireGoodEntry(const Scenario& scenario, const ScheduleEntry& entry) {
  Require(!entry.at || Duration{entry.at->ns} < scenario.duration, "an entry is in the run");
  Require(
      !entry.node || (*entry.node >= 0 && static_cast<size_t>(*entry.node) < scenario.nodes.size()),
      "an entry is about a node that there is");
  Require(!entry.lock || *entry.lock < scenario.locks.size(), "and a lock that there is");
  Require(!entry.fault || *entry.fault < scenario.faults.size(), "and a fault that there is");
  Require(entry.event != ScheduledEvent::kFaultBegins || entry.fault.has_value(),
          "a fault that begins is named");
  Require(entry.line > 0, "an entry knows its line");
}

void RequireGoodScenario(const Scenario& scenario) {
  Require(scenario.version == 1 && !scenario.about.empty(), "version 1, and about");
  Require(scenario.duration > Duration{} && scenario.duration <= kMaxDuration, "a duration");
  Require(!scenario.nodes.empty() && scenario.nodes.size() <= kMaxNodes, "1 to 1000 nodes");
  Require(!scenario.locks.empty() && scenario.locks.size() <= kMaxLocks, "1 to 1000 locks");
  Require(scenario.faults.size() <= kMaxFaults, "a bounded number of faults");
  for (const NodeSpec& node : scenario.nodes) {
    Require(!node.name.empty() && !node.locks.empty(), "a node has a name and a lock");
    Require(node.lease > Duration{}, "a lease is positive");
    for (const uint16_t lock : node.locks) Require(lock < scenario.locks.size(), "a lock exists");
  }
  for (const FaultSpec& fault : scenario.faults) RequireGoodFault(scenario, fault);
  for (const ScheduleEntry& entry : scenario.schedule) RequireGoodEntry(scenario, entry);
  Require(ScheduleIsPossible(scenario), "a schedule goes with the duration and the faults");
  for (const RowSpec& row : scenario.rows) {
    Require(row.columns.size() == row.values.size(), "a value for each column");
  }
}

void RequireGoodError(std::string_view message) {
  const std::string start = std::string(kPath) + ":";
  size_t lines = 0;
  for (size_t at = 0; at <= message.size(); ++lines) {
    const size_t end = std::min(message.find('\n', at), message.size());
    const std::string_view line = message.substr(at, end - at);
    Require(line.starts_with(start) && line.size() > start.size(), "an error names the file");
    Require(line.size() < 3'000, "an error is short");
    const bool printable = std::none_of(line.begin(), line.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20U || c == 0x7F;
    });
    Require(printable, "an error is printable");
    at = end + 1;
  }
  Require(lines >= 1 && lines <= kMaxErrorLines + 1, "1 to 20 errors");
}

// As a file of rules of an earlier release.
void RequireGoodConversion(std::string_view text) {
  std::vector<Problem> problems;
  if (!JsonDocument::Parse(text, problems) || !problems.empty()) return;
  const std::optional<std::string> converted = FromEarlierWords(text);
  Require(!converted || !FromEarlierWords(*converted), "a text is converted once");
}

}  // namespace

bool LoadAnyText(std::string_view text) {
  RequireGoodConversion(text);
  const absl::StatusOr<Scenario> scenario = ParseScenario(text, kPath);
  if (scenario.ok()) {
    RequireGoodScenario(*scenario);
    return true;
  }
  Require(scenario.status().code() == absl::StatusCode::kInvalidArgument, "a text can be read");
  const auto message = scenario.status().message();
  RequireGoodError(std::string_view(message.data(), message.size()));
  return false;
}

}  // namespace whorl::sim
