#include "sim/judge/run_judge.h"

#include <type_traits>

namespace whorl::sim {
namespace {

// Observations that may begin or end a quiet time.
template <typename Observed>
constexpr bool kDisturbs =
    std::is_same_v<Observed, FaultBegan> || std::is_same_v<Observed, FaultEnded> ||
    std::is_same_v<Observed, CallHangs> || std::is_same_v<Observed, TransactionFinished> ||
    std::is_same_v<Observed, ProcessGone>;

InvariantResult ResultOf(Invariant invariant, const Tally& tally, const CheckerSetup& setup) {
  InvariantResult result;
  result.invariant = invariant;
  result.promise = setup.promises[static_cast<size_t>(invariant)];
  result.violations = tally.violations;
  result.first = tally.first;
  result.verdict = tally.violations > 0 ? Verdict::kViolated : Verdict::kHolds;
  if (tally.violations > 0 && !tally.breaks_promise && result.promise == Promise::kPromised) {
    result.promise = Promise::kNotPromised;
  }
  if (result.promise == Promise::kNotApplicable) result.verdict = Verdict::kNotApplicable;
  return result;
}

void AddGaps(const PromiseClock& promises, Instant end, const CheckerSetup& setup,
             std::vector<InvariantResult>& results) {
  for (size_t i = 0; i < setup.limits.size(); ++i) {
    const PromiseLimit& limit = setup.limits[i];
    const Duration time = promises.VoidedBy(i, end, setup);
    if (time == Duration{}) continue;
    results[static_cast<size_t>(limit.invariant)].not_promised.push_back(
        {.circumstance = limit.circumstance, .time = time});
  }
}

}  // namespace

// Passes what happens on to what is judged and counted of a run only.
class RunJudge::Listener {
 public:
  explicit Listener(RunJudge& judge) : judge_(judge) {}

  template <typename Change>
  void On(const Change& x, const Now& now) {
    Disturbances& disturbances = judge_.disturbances_;
    if constexpr (requires { disturbances.On(x, now.ledger); }) {
      if constexpr (std::is_void_v<decltype(disturbances.On(x, now.ledger))>) {
        disturbances.On(x, now.ledger);
      } else if (const auto change = disturbances.On(x, now.ledger)) {
        Tell(*change, now);
      }
    }
    Tell(x, now);
    if constexpr (kDisturbs<Change>) judge_.no_wedge_.RecomputeIfQuietChanged(InRun(now));
  }
  void OnCountsChanged(uint16_t lock, const Now& now) {
    judge_.no_wedge_.RecomputeClock(lock, InRun(now));
    judge_.metrics_.UpdateIntervals(lock, now);
  }

 private:
  RunNow InRun(const Now& now) const { return {now, judge_.disturbances_}; }

  template <typename Change>
  void Tell(const Change& x, const Now& now) {
    NoWedge& no_wedge = judge_.no_wedge_;
    if constexpr (requires { no_wedge.On(x, InRun(now)); }) no_wedge.On(x, InRun(now));
    const auto tell = [&]<typename Judge>(Judge& judge) {
      if constexpr (requires { judge.On(x, InRun(now)); }) judge.On(x, InRun(now));
    };
    std::apply([&tell](auto&... judges) { (tell(judges), ...); }, judge_.in_time_);
    MetricsCollector& metrics = judge_.metrics_;
    if constexpr (requires { metrics.On(x, now); }) metrics.On(x, now);
  }

  RunJudge& judge_;
};

RunJudge::RunJudge(const Scenario& scenario, Duration round_trip_p999)
    : checkers_(scenario, round_trip_p999),
      disturbances_(checkers_.setup()),
      no_wedge_(NoWedge::For(checkers_.setup())),
      in_time_(PacedCalls::For(checkers_.setup()), ToldOfLeadership::For(checkers_.setup()),
               AnsweredInTime::For(checkers_.setup()), ReasonedStepDown::For(checkers_.setup()),
               PromptHandover::For(checkers_.setup()), LockTruthful::For(checkers_.setup())),
      metrics_(MetricsCollector::For(checkers_.setup())) {
  tallies_.promises = PromiseClock::For(checkers_.setup());
}

void RunJudge::PassTo(const RunNow& now, NoWedge& no_wedge, InTime& in_time) {
  no_wedge.PassTo(now);
  const auto pass = [&now]<typename Judge>(Judge& judge) {
    if constexpr (requires { judge.PassTo(now); }) judge.PassTo(now);
  };
  std::apply([&pass](auto&... judges) { (pass(judges), ...); }, in_time);
}

void RunJudge::Observe(const Observation& observation) {
  ++tallies_.observations;
  uint32_t violated = 0;
  PassTo({{checkers_.setup(), ledger(), observation.at, violated, &tallies_}, disturbances_},
         no_wedge_, in_time_);
  tallies_.promises.Observe(observation, checkers_.setup());
  Listener listener(*this);
  checkers_.Observe(observation, &tallies_, listener);
  for (const uint16_t lock : tallies_.promises.mended) {
    no_wedge_.Restart(
        lock, {{checkers_.setup(), ledger(), observation.at, violated, &tallies_}, disturbances_});
  }
}

int64_t RunJudge::violations() const {
  int64_t sum = 0;
  for (const Tally& tally : tallies_.of) sum += tally.violations;
  return sum;
}

CheckReport RunJudge::Finish(Instant end) const {
  NoWedge no_wedge = no_wedge_;
  auto in_time = in_time_;
  Tallies tallies = tallies_;
  uint32_t violated = 0;
  const RunNow now{{checkers_.setup(), ledger(), end, violated, &tallies}, disturbances_};
  PassTo(now, no_wedge, in_time);

  CheckReport report;
  for (const Invariant invariant : AllOf<Invariant>()) {
    report.invariants.push_back(ResultOf(invariant, tallies[invariant], checkers_.setup()));
  }
  AddGaps(tallies.promises, end, checkers_.setup(), report.invariants);
  InvariantResult& wedge = report.invariants[static_cast<size_t>(Invariant::kNoWedge)];
  if (wedge.verdict == Verdict::kHolds) {
    wedge.unknown_because = no_wedge.UnknownBecause(now);
    if (!wedge.unknown_because.empty()) wedge.verdict = Verdict::kUnknown;
  }
  report.metrics = metrics_.Until(end);
  return report;
}

}  // namespace whorl::sim
