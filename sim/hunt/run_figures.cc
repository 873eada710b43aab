#include "sim/hunt/run_figures.h"

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

#include "protocol/spanner/rpc.h"
#include "sim/world/latency.h"

namespace whorl::sim {
namespace {

// The value of Request(Commit).index().
template <typename... All>
consteval uint8_t PlaceOfCommit(const std::variant<All...>*) {
  uint8_t place = 0;
  static_cast<void>(((std::is_same_v<Commit, All> || (++place, false)) || ...));
  return place;
}
constexpr uint8_t kCommitCall = PlaceOfCommit(static_cast<const Request*>(nullptr));

}  // namespace

FiguresOfRun::FiguresOfRun(const Scenario& scenario)
    : setup_(MakeCheckerSetup(scenario, RoundTripP999(scenario.spanner.preset))),
      ledger_(setup_),
      locks_(setup_.locks.size()) {}

void FiguresOfRun::Hear(const Observation& observation, uint64_t /*ordinal*/, uint64_t /*hash*/) {
  now_ = observation.at;
  std::visit(
      [this]<typename What>(const What& what) {
        if constexpr (std::is_same_v<What, CallSent>) {
          On(what);
        } else if constexpr (std::is_same_v<What, RowCommitted>) {
          if (const std::optional<VersionChanged> change = ledger_.On(what, setup_)) On(*change);
        } else if constexpr (requires { ledger_.On(what, setup_); }) {
          static_cast<void>(ledger_.On(what, setup_));
        }
      },
      observation.what);
  for (size_t i = 0; i < locks_.size(); ++i) {
    Settle(locks_[i], ledger_.AnsweredCount(static_cast<uint16_t>(i)) > 0);
  }
}

void FiguresOfRun::On(const CallSent& x) {
  if (x.step == steps::kHasLock) {
    ++figures_.questions;
    return;
  }
  ++figures_.calls;
  if (x.request == kCommitCall) ++figures_.commits;
}

void FiguresOfRun::On(const VersionChanged& x) {
  if (x.kind != TokenChange::kGranted || x.writer == ProcessId{}) return;
  if (x.last_owner == ProcessId{} || x.last_owner == x.writer) return;
  OfLock& lock = locks_[x.lock];
  if (!lock.takeover_since) lock.takeover_since = lock.without_holder_since.value_or(now_);
}

void FiguresOfRun::Settle(OfLock& lock, bool has_holder) {
  if (!has_holder) {
    if (!lock.without_holder_since) lock.without_holder_since = now_;
    return;
  }
  lock.without_holder_since.reset();
  if (!lock.takeover_since) return;
  if (!figures_.first_takeover) figures_.first_takeover = now_ - *lock.takeover_since;
  lock.takeover_since.reset();
}

}  // namespace whorl::sim
