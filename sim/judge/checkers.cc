#include "sim/judge/checkers.h"

#include <bit>
#include <string_view>

namespace whorl::sim {
namespace {

template <typename Judges, size_t... I>
constexpr bool StandInOrder(std::index_sequence<I...>) {
  return ((std::tuple_element_t<I, Judges>::kInvariant <
           std::tuple_element_t<I + 1, Judges>::kInvariant) &&
          ...);
}

template <typename Observed, typename Judge>
constexpr bool kHears =
    requires(Judge& judge, const Observed& x, const Now& now) { judge.On(x, now); };

}  // namespace

Checkers::Checkers(const Scenario& scenario, Duration round_trip_p999)
    : setup_(std::make_shared<const CheckerSetup>(MakeCheckerSetup(scenario, round_trip_p999))),
      ledger_(*setup_),
      judges_(OneLiveToken{}, TokenMonotonic::For(*setup_), HandedTokenMonotonic::For(*setup_),
              HasLockTruthful::For(*setup_), LeaseRespected{}, FencedWritesOrdered::For(*setup_),
              SingleLeaderBelief{}, Isolation{}, NoWorkAfterRelease{}, SingleWorker{}) {
  constexpr size_t kJudges = std::tuple_size_v<Judges>;
  static_assert(kJudges + std::popcount(kJudgedOfRuns) == kCountOf<Invariant>,
                "a judge of states for each invariant that states show");
  static_assert(StandInOrder<Judges>(std::make_index_sequence<kJudges - 1>()));
}

void Checkers::SelectInvariants(uint32_t invariants) {
  CheckerSetup setup = *setup_;
  setup.judged = invariants;
  setup_ = std::make_shared<const CheckerSetup>(std::move(setup));
}

void Checkers::AllowHostDelay(Duration delay) {
  CheckerSetup setup = *setup_;
  setup.host_delay = delay;
  setup_ = std::make_shared<const CheckerSetup>(std::move(setup));
}

void Checkers::Observe(const Observation& observation) {
  NullListener nobody;
  Observe(observation, nullptr, nobody);
}

bool Checkers::Concerns(const Observation& observation) {
  return std::visit(
      []<typename Observed>(const Observed&) {
        constexpr bool kKnown = requires(Ledger& ledger, const Observed& x,
                                         const CheckerSetup& setup) { ledger.On(x, setup); };
        constexpr bool kHeard = []<typename... Judge>(std::type_identity<std::tuple<Judge...>>) {
          return (kHears<Observed, Judge> || ...);
        }(std::type_identity<Judges>());
        return kHeard || kKnown;
      },
      observation.what);
}

}  // namespace whorl::sim
