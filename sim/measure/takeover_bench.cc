#include "sim/measure/takeover_bench.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "sim/measure/takeover.h"
#include "sim/world/mix.h"

namespace whorl::sim {
namespace {

constexpr int64_t kMillion = 1'000'000;

// A ratio in millionths, rounded down. REQUIRES: least is above 0.
int64_t RatioOf(Duration time, Duration least) {
  return static_cast<int64_t>(static_cast<Int128>(time.ns) * kMillion / least.ns);
}

bool IsStable(const TakeoverResult& result) {
  // If there are hardly any takeovers, more runs would not help.
  if (result.first_write.count == 0) return true;
  const bool ratio_is_stable = result.ratio.count == 0 || result.ratio.p99.IsWithin(kStablePercent);
  return result.first_write.p99.IsWithin(kStablePercent) && ratio_is_stable;
}

// Does the runs [from, to) of the case and adds them to `runs` in order.
absl::Status AddRuns(const TakeoverOptions& options, const TakeoverCase& takeover_case,
                     MedianTimes times, uint64_t to, int threads,
                     const std::function<BatchStep(uint64_t runs)>& go_on,
                     std::vector<TakeoverRun>& runs, bool& interrupted) {
  const uint64_t from = runs.size();
  std::vector<TakeoverRun> window(std::min<uint64_t>(to - from, kBatchWindow));
  absl::Status status;
  RunBatch(
      to - from, threads,
      [&](size_t i) {
        const uint64_t seed = SeedOfTakeover(options.seed, takeover_case, from + i);
        window[i % kBatchWindow] = MeasureTakeover(takeover_case, times, seed);
      },
      [&](size_t i, const std::optional<std::string>& error) {
        if (error.has_value()) {
          status = absl::InternalError(Cat("run ", std::to_string(from + i), " of ",
                                           takeover_case.Text(), " cannot be run: ", *error));
          return BatchStep::kStop;
        }
        runs.push_back(std::move(window[i % kBatchWindow]));
        if (go_on(runs.size()) == BatchStep::kGoOn) return BatchStep::kGoOn;
        interrupted = runs.size() < to;
        return BatchStep::kStop;
      });
  return status;
}

}  // namespace

RunCounts RunCountsOf(TakeoverFault fault) {
  if (fault == TakeoverFault::kDeployment) return {.at_first = 50, .at_most = 200};
  return {};
}

TakeoverResult ResultOf(const TakeoverCase& takeover_case, MedianTimes times,
                        const std::vector<TakeoverRun>& runs) {
  TakeoverResult result{.measured = takeover_case, .times = times, .runs = runs.size()};
  std::vector<int64_t> least;
  std::vector<int64_t> first_write;
  std::vector<int64_t> grant;
  std::vector<int64_t> above_least;
  std::vector<int64_t> ratio;
  std::vector<int64_t> grant_ratio;
  std::vector<int64_t> since_lapse;
  int64_t missing = 0;
  for (const TakeoverRun& run : runs) {
    result.kept += run.kept;
    result.spoilt += run.spoilt;
    missing += run.missing;
    for (const Takeover& takeover : run.takeovers) {
      least.push_back(takeover.least.ns);
      first_write.push_back(takeover.first_write.ns);
      grant.push_back(takeover.grant.ns);
      above_least.push_back((takeover.first_write - takeover.least).ns);
      if (takeover.least > Duration{}) {
        ratio.push_back(RatioOf(takeover.first_write, takeover.least));
        grant_ratio.push_back(RatioOf(takeover.grant, takeover.least));
      }
      if (takeover.since_lapse) since_lapse.push_back(takeover.since_lapse->ns);
      result.believed_still += takeover.since_lapse ? 0 : 1;
    }
  }
  const int64_t without_ratio = ShouldKeep(takeover_case.fault) ? 0 : missing;
  result.least = DistributionOf(std::move(least), 0);
  result.first_write = DistributionOf(std::move(first_write), missing);
  result.grant = DistributionOf(std::move(grant), missing);
  result.above_least = DistributionOf(std::move(above_least), missing);
  result.ratio = DistributionOf(std::move(ratio), without_ratio);
  result.grant_ratio = DistributionOf(std::move(grant_ratio), without_ratio);
  result.since_lapse = DistributionOf(std::move(since_lapse), 0);
  result.stable = IsStable(result);
  return result;
}

absl::Status MeasureCase(const TakeoverOptions& options, const TakeoverCase& takeover_case,
                         int threads, const std::function<BatchStep(uint64_t runs)>& go_on,
                         TakeoverResult& result) {
  const MedianTimes times = TimesOf(takeover_case);
  std::vector<TakeoverRun> runs;
  bool interrupted = false;
  const RunCounts counts = RunCountsOf(takeover_case.fault);
  for (uint64_t to = options.runs.value_or(counts.at_first);; to *= 2) {
    const absl::Status status =
        AddRuns(options, takeover_case, times, to, threads, go_on, runs, interrupted);
    if (!status.ok()) return status;
    result = ResultOf(takeover_case, times, runs);
    result.interrupted = interrupted;
    if (interrupted || options.runs || result.stable || to >= counts.at_most) return status;
  }
}

}  // namespace whorl::sim
