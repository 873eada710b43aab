// Judges states: checks the invariants that one state after another shows to be violated, from
// observations alone. run_judge.h judges whole runs.
//
// Invariants:
//   1. Checkers is a small value: copying it forks it, == compares it. It is what later verdicts depend
//      on and nothing else: no counts, no texts, no metrics. What never changes (names, leases, the
//      protocol's rules) is shared by all copies.
//   2. Memory does not grow with simulated time, and an observation costs O(1) or O(log n) in the
//      number of processes (ledger.h says which).
//   3. Every invariant is judged, whether the protocol promises it or not, except those that nobody asks for
//      (SelectInvariants) and for those that no state shows (IsJudgedOfRuns).
// REQUIRES of observations: `lock`, also in a CallName, is an index into Scenario::locks; a node
// has one process at a time, so ProcessGone of the old one comes before ProcessStarted of the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/time.h"
#include "protocol/names.h"
#include "sim/judge/checkers/fenced_writes_ordered.h"
#include "sim/judge/checkers/handed_token_monotonic.h"
#include "sim/judge/checkers/has_lock_truthful.h"
#include "sim/judge/checkers/isolation.h"
#include "sim/judge/checkers/lease_respected.h"
#include "sim/judge/checkers/no_work_after_release.h"
#include "sim/judge/checkers/one_live_token.h"
#include "sim/judge/checkers/setup.h"
#include "sim/judge/checkers/single_leader_belief.h"
#include "sim/judge/checkers/single_worker.h"
#include "sim/judge/checkers/tally.h"
#include "sim/judge/checkers/token_monotonic.h"
#include "sim/judge/ledger.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

// A listener of nothing.
struct NullListener {
  template <typename Change>
  void On(const Change&, const Now&) {}
  void OnCountsChanged(uint16_t, const Now&) {}
};

class Checkers {
 public:
  // `round_trip_p999` is a call's p99.9 under the scenario's preset; no_wedge allows four of them.
  // REQUIRES: FindProtocol(scenario.protocol) is not null.
  Checkers(const Scenario& scenario, Duration round_trip_p999);

  // Judges only the invariants that have a bit here. What the others remember is left out of the state, so
  // that states do not differ by it. REQUIRES: nothing was observed.
  void SelectInvariants(uint32_t invariants);
  // Whatever is due by a time may be as late as this. REQUIRES: nothing was observed.
  void AllowHostDelay(Duration delay);

  void Observe(const Observation& observation);
  // The same, and counts the violations in `tallies`, if it is not null. `listener` is told what the
  // judges are told, after them:
  //   On(x, now)                  of every observation and every change of the ledger
  //   OnCountsChanged(lock, now)  when what the ledger counts for a lock may have changed
  template <typename Listener>
  void Observe(const Observation& observation, Tallies* tallies, Listener& listener);

  // Whether verdicts, or what judges know, can depend on it.
  static bool Concerns(const Observation& observation);

  // The invariants violated since the last call, as bits by Invariant. Forgets the violations.
  uint32_t TakeViolated() { return std::exchange(violated_, 0); }
  const Ledger& ledger() const { return ledger_; }
  const CheckerSetup& setup() const { return *setup_; }
  // Calls visit(setup, violated, ledger, judges): all that it holds. `judges` is a tuple, in the order of Invariant.
  template <typename Visit>
  void VisitAll(const Visit& visit) const {
    // A new member does not compile before it is told of, too.
    const auto& [setup, violated, ledger, judges] = *this;
    visit(*setup, violated, ledger, judges);
  }

  friend bool operator==(const Checkers& a, const Checkers& b) {
    return (a.setup_ == b.setup_ || *a.setup_ == *b.setup_) && a.violated_ == b.violated_ &&
           a.ledger_ == b.ledger_ && a.judges_ == b.judges_;
  }

 private:
  // In the order of Invariant; checkers.cc asserts that.
  using Judges = std::tuple<OneLiveToken, TokenMonotonic, HandedTokenMonotonic, HasLockTruthful,
                            LeaseRespected, FencedWritesOrdered, SingleLeaderBelief, Isolation,
                            NoWorkAfterRelease, SingleWorker>;

  // Updates the ledger, then notifies judges and listener of the observation and of the ledger's
  // change, then calls OnCountsChanged for each lock whose counts may have changed.
  template <typename Observed, typename Listener>
  void Take(const Observed& x, const Now& now, Listener& listener);
  template <typename Listener>
  void Take(const RowCommitted& x, const Now& now, Listener& listener);
  template <typename Listener>
  void Take(const LeadershipViewChanged& x, const Now& now, Listener& listener);
  // Calls On() of every judge that has one for such a change, and of the listener.
  template <typename Change, typename Listener>
  void Notify(const Change& x, const Now& now, Listener& listener);

  std::shared_ptr<const CheckerSetup> setup_;
  uint32_t violated_ = 0;
  Ledger ledger_;
  Judges judges_;
};

// --- templates -----------------------------------------------------------------------------------

namespace checkers_internal {

// The node whose process started, stopped, paused or went on, or whose link changed; otherwise
// nothing.
template <typename Observed>
std::optional<int16_t> NodeChangedBy(const Observed& x) {
  if constexpr (std::is_same_v<Observed, ProcessStarted> ||
                std::is_same_v<Observed, ProcessStopped> || std::is_same_v<Observed, ProcessGone> ||
                std::is_same_v<Observed, ProcessPaused> ||
                std::is_same_v<Observed, ProcessResumed>) {
    return x.process.node;
  } else if constexpr (std::is_same_v<Observed, LinkChanged>) {
    return x.node;
  }
  return std::nullopt;
}

}  // namespace checkers_internal

template <typename Listener>
void Checkers::Observe(const Observation& observation, Tallies* tallies, Listener& listener) {
  const Now now{*setup_, ledger_, observation.at, violated_, tallies};
  std::visit([&](const auto& x) { Take(x, now, listener); }, observation.what);
}

template <typename Observed, typename Listener>
void Checkers::Take(const Observed& x, const Now& now, Listener& listener) {
  if constexpr (requires { ledger_.On(x, *setup_); }) {
    if constexpr (std::is_void_v<decltype(ledger_.On(x, *setup_))>) {
      ledger_.On(x, *setup_);
    } else if (const auto change = ledger_.On(x, *setup_)) {
      Notify(*change, now, listener);
    }
  }
  Notify(x, now, listener);
  if constexpr (std::is_same_v<Observed, ParticipationEnded> ||
                std::is_same_v<Observed, BeliefChanged> || std::is_same_v<Observed, WorkChanged>) {
    listener.OnCountsChanged(x.lock, now);
  }
  if constexpr (std::is_same_v<Observed, QuestionAsked>) {
    if (x.question == Question::kLock) listener.OnCountsChanged(x.lock, now);
  }
  if constexpr (std::is_same_v<Observed, SpannerAvailability>) {
    for (size_t lock = 0; lock < setup_->locks.size(); ++lock) {
      listener.OnCountsChanged(static_cast<uint16_t>(lock), now);
    }
  }
  if (const std::optional<int16_t> node = checkers_internal::NodeChangedBy(x)) {
    for (const uint16_t lock : setup_->Node(*node).locks) listener.OnCountsChanged(lock, now);
  }
}

template <typename Listener>
void Checkers::Take(const RowCommitted& x, const Now& now, Listener& listener) {
  Notify(x, now, listener);
  const std::optional<VersionChanged> change = ledger_.On(x, *setup_);
  if (!change) return;
  Notify(*change, now, listener);
  if (change->kind != TokenChange::kKept) listener.OnCountsChanged(change->lock, now);
}

template <typename Listener>
void Checkers::Take(const LeadershipViewChanged& x, const Now& now, Listener& listener) {
  const Ledger::StandingEffects effects = ledger_.On(x, *setup_);
  if (effects.own_token) Notify(*effects.own_token, now, listener);
  if (effects.stepped_down) Notify(*effects.stepped_down, now, listener);
  listener.OnCountsChanged(x.lock, now);
}

template <typename Change, typename Listener>
void Checkers::Notify(const Change& x, const Now& now, Listener& listener) {
  const auto tell = [&]<typename Judge>(Judge& judge) {
    if constexpr (requires { judge.On(x, now); }) {
      if (setup_->Judges(Judge::kInvariant)) judge.On(x, now);
    }
  };
  std::apply([&](auto&... judges) { (tell(judges), ...); }, judges_);
  listener.On(x, now);
}

}  // namespace whorl::sim
