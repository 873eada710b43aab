#include "sim/judge/checkers.h"

#include <string_view>

namespace whorl::sim {
namespace {

template <typename Judges, size_t... I>
constexpr bool StandInOrder(std::index_sequence<I...>) {
  return ((std::tuple_element_t<I, Judges>::kInvariant <
           std::tuple_element_t<I + 1, Judges>::kInvariant) &&
          ...);
}

}  // namespace

Checkers::Checkers(const Scenario& scenario, Duration round_trip_p999)
    : setup_(std::make_shared<const CheckerSetup>(MakeCheckerSetup(scenario, round_trip_p999))),
      ledger_(*setup_),
      judges_(OneLiveToken{}, TokenMonotonic::For(*setup_), HandedTokenMonotonic::For(*setup_),
              HasLockTruthful::For(*setup_), LeaseRespected{}, FencedWritesOrdered::For(*setup_),
              SingleLeaderBelief{}, Isolation{}, NoWorkAfterRelease{}, SingleWorker{}) {
  constexpr size_t kJudges = std::tuple_size_v<Judges>;
  static_assert(kJudges == kCountOf<Invariant> - 1, "all but no_wedge");
  static_assert(StandInOrder<Judges>(std::make_index_sequence<kJudges - 1>()));
}

void Checkers::Observe(const Observation& observation) {
  NobodyListens nobody;
  Observe(observation, nullptr, nobody);
}

void Checkers::AddMemory(std::span<const Instant> asked_since, CanonicalForm& form) const {
  ledger_.AddMemory(form);
  const auto add = [&form, asked_since](const auto& judge) {
    using Judge = std::remove_cvref_t<decltype(judge)>;
    if constexpr (std::is_same_v<Judge, HasLockTruthful>) {
      for (size_t i = 0; i < judge.ceased.size(); ++i) {
        const bool matters = judge.ceased[i].at >= asked_since[i];
        form.Add(matters ? judge.ceased[i].incarnation : 0);
      }
    } else {
      VisitFields(judge, [&form](std::string_view, const auto& field) { form.Add(field); });
    }
  };
  std::apply([&](const auto&... judges) { (add(judges), ...); }, judges_);
}

}  // namespace whorl::sim
