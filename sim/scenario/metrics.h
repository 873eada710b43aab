// What a run counts (metrics), and what it must meet at least once not to be vacuous (`sometimes`).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "protocol/spanner/fields.h"

namespace whorl::sim {

enum class Metric : uint8_t {
  kGrants,            // a token was installed, re-acquisition by the same process included
  kTakeovers,         // grants to another process than the last owner
  kWithoutHolderMax,  // ns of true time in which no running process would be answered "has lock"
  kWithoutHolderSum,
  kBeliefOverlapMax,  // ns of true time in which two processes believed
  kBeliefOverlapSum,
  kStaleWriteRefused,
  kStaleWriteAccepted,  // by the resource that does not fence
  kLegitimateWriteRefused,
  kNeedlessTakeovers,  // the old owner was up, connected and renewing
  kTransactions,
  kRpcs,
  kAborted,
};
inline constexpr size_t kMetricCount = 13;
std::string_view MetricText(Metric metric);
std::optional<Metric> ParseMetric(std::string_view text);
// Whether the metric is a time in nanoseconds, written with a unit in scenarios.
bool IsTime(Metric metric);

enum class Sometimes : uint8_t {
  kTakeover,
  kRelease,
  kStepDown,
  kStaleWriteRefused,
  kLegitimateWriteRefused,
  kNeedlessTakeover,
  kUnknownOutcome,
  kUnknownResolved,
  kAborted,
  kLockWait,
  kCommitWaitOverlap,
  kLateReplyIgnored,
  kClockStopNoticed,
};
inline constexpr size_t kSometimesCount = 13;
std::string_view SometimesText(Sometimes name);

// Sums over all locks of a run; for the metrics named `_max`, the maximum over all locks.
struct Metrics {
  std::array<int64_t, kMetricCount> values{};
  std::array<int64_t, kSometimesCount> met{};  // how often each happened

  int64_t& operator[](Metric metric) { return values[static_cast<size_t>(metric)]; }
  int64_t operator[](Metric metric) const { return values[static_cast<size_t>(metric)]; }
  int64_t& operator[](Sometimes name) { return met[static_cast<size_t>(name)]; }
  int64_t operator[](Sometimes name) const { return met[static_cast<size_t>(name)]; }
  WHORL_FIELDS(Metrics, values, met);
};

}  // namespace whorl::sim
