#include "sim/report/breakage.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <variant>

#include "base/text.h"
#include "sim/report/trace.h"

namespace whorl::sim {
namespace {

constexpr uint8_t kNoStep = 0xFF;
constexpr std::string_view kNoCommit = "nothing";

template <typename T, typename Variant>
struct IndexOf;
template <typename T, typename... Types>
struct IndexOf<T, std::variant<Types...>> {
  static constexpr uint8_t value = [] {
    uint8_t index = 0;
    const bool found = ((std::is_same_v<T, Types> || (++index, false)) || ...);
    return found ? index : uint8_t{0xFF};
  }();
};

constexpr uint8_t kTransactionCommitted = IndexOf<TransactionCommitted, ObservedEvent>::value;

// The word of an event, by its index in ObservedEvent.
template <size_t... I>
std::string_view EventText(uint8_t event, std::index_sequence<I...>) {
  std::string_view text;
  ((event == I ? void(text = ObservedEventText(std::variant_alternative_t<I, ObservedEvent>{}))
               : void()),
   ...);
  return text;
}

}  // namespace

std::string ViolationKind::WhereText() const {
  return where == kNoCommit ? "before any commit" : Cat("at ", where);
}

void StepsOfRun::Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) {
  const auto event = static_cast<uint8_t>(observation.what.index());
  std::visit(
      [&](const auto& what) {
        uint8_t step = kNoStep;
        if constexpr (requires { what.step; }) step = PlaceOf(what.step);
        heard_.push_back({.event = event, .step = step});
      },
      observation.what);
  if (next_ != nullptr) next_->Hear(observation, ordinal, hash);
}

uint8_t StepsOfRun::PlaceOfOther(StepName step) {
  const auto found = std::ranges::find(others_, step);
  const auto place = static_cast<uint8_t>(kNumbered + static_cast<size_t>(found - others_.begin()));
  if (found == others_.end()) others_.push_back(step);
  return place;
}

std::string_view StepsOfRun::WordAt(uint8_t place) const {
  return place < kNumbered ? StepKind::kNumbered[place] : WordOf(others_[place - kNumbered]);
}

std::string StepsOfRun::WhereOf(const InvariantResult& result) const {
  const size_t shown = std::min<size_t>(result.first->observation, heard_.size());
  if (result.invariant == Invariant::kNoWedge) {
    for (size_t i = shown; i-- > 0;) {
      if (heard_[i].event != kTransactionCommitted) continue;
      return std::string(WordAt(heard_[i].step));
    }
    return std::string(kNoCommit);
  }
  const Heard& heard = heard_[shown - 1];
  if (heard.step != kNoStep) return std::string(WordAt(heard.step));
  constexpr size_t kEvents = std::variant_size_v<ObservedEvent>;
  return std::string(EventText(heard.event, std::make_index_sequence<kEvents>()));
}

std::vector<Breakage> StepsOfRun::BreakagesOf(const RunResult& result) const {
  std::vector<Breakage> breakages;
  for (const InvariantResult& invariant : result.checks.invariants) {
    if (invariant.verdict != Verdict::kViolated || !invariant.first) continue;
    breakages.push_back({.kind = {.invariant = invariant.invariant, .where = WhereOf(invariant)},
                         .at = invariant.first->at,
                         .text = invariant.first->text,
                         .promised = invariant.promise == Promise::kPromised});
  }
  return breakages;
}

WatchedRun RunWatched(const Scenario& scenario, ObservationSink* sink, JudgedSink* judged) {
  StepsOfRun steps(sink);
  WatchedRun run;
  run.result = RunScenario(scenario, scenario.seed, &steps, judged);
  run.breakages = steps.BreakagesOf(run.result);
  return run;
}

const Breakage* Find(const std::vector<Breakage>& breakages, const ViolationKind& kind) {
  const auto found = std::ranges::find(breakages, kind, &Breakage::kind);
  return found == breakages.end() ? nullptr : &*found;
}

}  // namespace whorl::sim
