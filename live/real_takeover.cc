#include "live/real_takeover.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "live/coordinator.h"
#include "live/history.h"
#include "sim/judge/batch.h"
#include "sim/measure/takeover.h"

namespace whorl::live {
namespace {

using sim::TakeoverCase;
using sim::TakeoverFault;

// Whether a run can end: a new leader's write has arrived. The leader at the start is node 0.
bool IsNewLeadersWrite(const sim::ObservedEvent& what) {
  const auto* arrived = std::get_if<sim::WriteArrived>(&what);
  return arrived != nullptr && arrived->process.node != 0;
}

// The outcome of one real run.
struct Measured {
  sim::TakeoverRun run;
  bool has_holes = false;
};

absl::StatusOr<Measured> MeasureForReal(const TakeoverPlan& plan, const TakeoverCase& takeover_case,
                                        uint64_t seed) {
  const sim::Scenario world = AsOn(plan.on, TakeoverWorld(takeover_case, seed));
  Coordinator coordinator(plan.on, world, seed, plan.program);
  coordinator.EndWhen(IsNewLeadersWrite);
  absl::StatusOr<Record> record = coordinator.Run();
  if (!record.ok()) return record.status();
  sim::TakeoverObserver observer(world, takeover_case.fault, TimesOf(takeover_case));
  uint64_t ordinal = 0;
  for (const sim::Observation& observation : HistoryOf(world, *record)) {
    observer.Hear(observation, ++ordinal, /*hash=*/0);
    if (observer.HasEnough()) break;
  }
  return Measured{.run = observer.Finish(), .has_holes = !record->holes.empty()};
}

void Note(const Measured& measured, std::vector<sim::TakeoverRun>& runs,
          ComparedTakeovers& compared) {
  if (measured.has_holes) {
    ++compared.with_holes;
    return;
  }
  runs.push_back(measured.run);
  for (const sim::Takeover& takeover : measured.run.takeovers) {
    compared.real_first_writes.push_back(takeover.first_write.ns);
    compared.real_grants.push_back(takeover.grant.ns);
  }
}

}  // namespace

std::string WhyNotForReal(const TakeoverCase& takeover_case) {
  if (takeover_case.fault == TakeoverFault::kDeployment) {
    return "a hundred processes on one machine would be late on their own";
  }
  if (takeover_case.preset == sim::Preset::kNone) return "a real network takes time";
  constexpr int64_t kFollowersMax = 20;
  if (takeover_case.followers > kFollowersMax) {
    return Cat("more than ", std::to_string(kFollowersMax),
               " followers on one machine would be late on their own");
  }
  return {};
}

absl::StatusOr<ComparedTakeovers> CompareTakeovers(
    const TakeoverPlan& plan, const TakeoverCase& takeover_case,
    const std::function<void(uint64_t runs)>& progress) {
  ComparedTakeovers compared;
  std::vector<sim::TakeoverRun> runs;
  std::vector<std::optional<absl::StatusOr<Measured>>> places(sim::kBatchWindow);
  absl::Status failed;
  sim::RunBatch(
      plan.runs, plan.jobs,
      [&](size_t i) {
        const uint64_t seed = SeedOfTakeover(plan.seed, takeover_case, i);
        places[i % sim::kBatchWindow] = MeasureForReal(plan, takeover_case, seed);
      },
      [&](size_t i, const std::optional<std::string>& error) {
        if (error) failed = absl::InternalError(*error);
        const auto place = std::exchange(places[i % sim::kBatchWindow], std::nullopt);
        if (failed.ok() && !place->ok()) failed = place->status();
        if (!failed.ok()) return sim::BatchStep::kStop;
        Note(**place, runs, compared);
        progress(i + 1);
        return sim::BatchStep::kGoOn;
      });
  if (!failed.ok()) {
    return absl::UnavailableError(Cat(takeover_case.Text(), ": ", std::string(failed.message())));
  }
  compared.real = ResultOf(takeover_case, TimesOf(takeover_case), runs);
  const sim::TakeoverOptions options{.seed = plan.seed, .runs = plan.simulated};
  const absl::Status simulated = MeasureCase(
      options, takeover_case, plan.jobs, [](uint64_t) { return sim::BatchStep::kGoOn; },
      compared.simulated);
  if (!simulated.ok()) return simulated;
  return compared;
}

int64_t CountInMiddle(const std::vector<int64_t>& values, const sim::Distribution& distribution) {
  constexpr size_t kFrom = 5;
  constexpr size_t kTo = 95;
  const std::vector<int64_t>& percentiles = distribution.percentiles;
  if (percentiles.size() <= kTo) return 0;
  return std::ranges::count_if(values, [&](int64_t value) {
    return percentiles[kFrom] <= value && value <= percentiles[kTo];
  });
}

}  // namespace whorl::live
