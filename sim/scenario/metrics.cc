#include "sim/scenario/metrics.h"

#include "protocol/names.h"

namespace whorl::sim {
namespace {

constexpr std::array<std::string_view, kMetricCount> kMetrics = {"grants",
                                                                 "takeovers",
                                                                 "without_holder_max",
                                                                 "without_holder_sum",
                                                                 "belief_overlap_max",
                                                                 "belief_overlap_sum",
                                                                 "stale_write_refused",
                                                                 "stale_write_accepted",
                                                                 "legitimate_write_refused",
                                                                 "needless_takeovers",
                                                                 "transactions",
                                                                 "rpcs",
                                                                 "aborted"};
constexpr std::array<std::string_view, kSometimesCount> kSometimes = {"takeover",
                                                                      "release",
                                                                      "step_down",
                                                                      "stale_write_refused",
                                                                      "legitimate_write_refused",
                                                                      "needless_takeover",
                                                                      "unknown_outcome",
                                                                      "unknown_resolved",
                                                                      "aborted",
                                                                      "lock_wait",
                                                                      "commit_wait_overlap",
                                                                      "late_reply_ignored",
                                                                      "clock_stop_noticed"};

}  // namespace

std::string_view MetricText(Metric metric) { return kMetrics[static_cast<size_t>(metric)]; }
std::optional<Metric> ParseMetric(std::string_view text) {
  return FindWord<Metric>(kMetrics, text);
}
bool IsTime(Metric metric) {
  return metric >= Metric::kWithoutHolderMax && metric <= Metric::kBeliefOverlapSum;
}
std::string_view SometimesText(Sometimes name) { return kSometimes[static_cast<size_t>(name)]; }

}  // namespace whorl::sim
