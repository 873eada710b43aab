#include "sim/measure/call_counter.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <variant>

#include "protocol/spanner/rpc.h"
#include "sim/world/latency.h"

namespace whorl::sim {
namespace {

// The value of Request(T).index().
template <typename T, typename... All>
consteval uint8_t PlaceIn(const std::variant<All...>*) {
  uint8_t place = 0;
  static_cast<void>(((std::is_same_v<T, All> || (++place, false)) || ...));
  return place;
}
template <typename T>
constexpr uint8_t kPlace = PlaceIn<T>(static_cast<const Request*>(nullptr));

constexpr bool IsStatementCall(uint8_t request) {
  return request == kPlace<ExecuteSql> || request == kPlace<Read> ||
         request == kPlace<ExecuteBatchDml>;
}

// Whether the step is the application's own question, which is not a cost of holding the lock.
constexpr bool IsQuestion(StepName step) { return step == steps::kHasLock; }

}  // namespace

void CallCounts::Add(const CallCounts& other) {
  rpcs += other.rpcs;
  reads += other.reads;
  transactions += other.transactions;
  aborted += other.aborted;
  rows += other.rows;
  statements += other.statements;
  commits += other.commits;
}

void BusiestSecond::Add(Instant at) {
  second_.push_back(at);
  while (at - second_.front() >= Seconds(1)) second_.pop_front();
  most_ = std::max(most_, static_cast<int64_t>(second_.size()));
}

CallCounter::CallCounter(const Scenario& scenario, Instant from, Instant until, Instant crash)
    : from_(from),
      until_(until),
      crash_(crash),
      lease_(scenario.nodes.front().lease),
      protocol_(*FindProtocol(scenario.protocol)),
      setup_(MakeCheckerSetup(scenario, RoundTripP999(scenario.spanner.preset))),
      ledger_(setup_) {}

void CallCounter::Hear(const Observation& observation, uint64_t /*ordinal*/, uint64_t /*hash*/) {
  now_ = observation.at;
  std::visit(
      [this](const auto& what) {
        if constexpr (requires { On(what); }) On(what);
      },
      observation.what);
}

void CallCounter::On(const CallSent& x) {
  CallCounts* counts = Counts();
  if (counts == nullptr || IsQuestion(x.step)) return;
  ++counts->rpcs;
  if (IsStatementCall(x.request)) ++counts->statements;
  if (x.request == kPlace<Commit>) ++counts->commits;
  // Attempts of read-write transactions count from 1.
  if (IsStatementCall(x.request) && x.call.attempt == 0) ++counts->reads;
  if (IsSteady()) return steady_peak_.Add(now_);
  takeover_.busiest.Add(now_);
  if (takeover_.rush && now_ - *takeover_.rush < Seconds(1)) ++takeover_.first_second;
}

void CallCounter::On(const TransactionStarted& x) {
  CallCounts* counts = Counts();
  if (counts == nullptr || IsQuestion(x.step) || IsRead(x.step)) return;
  ++counts->transactions;
  if (IsSteady() || takeover_.rush) return;
  const std::optional<Version>& newest = ledger_.Newest(0);
  const bool is_over = !newest || !newest->lease_until || now_ >= ToInstant(*newest->lease_until);
  if (is_over) takeover_.rush = now_;
}

void CallCounter::On(const TransactionAbortedBySpanner& /*x*/) {
  if (CallCounts* counts = Counts()) ++counts->aborted;
}

void CallCounter::On(const RowCommitted& x) {
  if (x.writer != ProcessId{} && x.before != x.after) {
    if (CallCounts* counts = Counts()) ++counts->rows;
  }
  const std::optional<VersionChanged> change = ledger_.On(x, setup_);
  if (!change || change->kind != TokenChange::kGranted) return;
  if (change->lock != 0 || change->writer.node == 0 || change->writer == ProcessId{}) return;
  if (now_ < crash_) {
    ++early_grants_;
  } else if (!takeover_.granted) {
    takeover_.granted = now_;
  }
}

bool CallCounter::IsTakeover() const {
  return now_ >= crash_ && (!takeover_.granted || now_ < *takeover_.granted + lease_);
}

CallCounts* CallCounter::Counts() {
  if (IsSteady()) return &steady_;
  return IsTakeover() ? &takeover_.counts : nullptr;
}

bool CallCounter::IsRead(StepName step) const {
  return std::ranges::find(protocol_.steps_without_commit, step) !=
         protocol_.steps_without_commit.end();
}

}  // namespace whorl::sim
