#include "real_client/machine_host.h"

#include <utility>
#include <variant>
#include <vector>

namespace whorl::real_client {

MachineHost::MachineHost(LockLoop& loop, TransactionClient& client, const MachineClock& clock,
                         Owner& owner, ProtocolConfig config)
    : loop_(loop),
      client_(client),
      clock_(clock),
      owner_(owner),
      config_(std::move(config)),
      timers_(loop, clock, [this](TimerId timer) { OnTimer(timer); }) {}

void MachineHost::Begin(bool blocking_wrapper) {
  state_ = MakeProtocolState(config_, blocking_wrapper);
}

void MachineHost::End() {
  timers_.Clear();
  events_.clear();
  state_ = {};
}

// --- events --------------------------------------------------------------------------------------

void MachineHost::TakeQueued() {
  if (std::exchange(taking_, true)) return;
  while (!events_.empty()) {
    const Event next = std::move(events_.front());
    events_.pop_front();
    Take(next);
  }
  taking_ = false;
}

void MachineHost::Take(const Event& event) {
  std::vector<Effect> effects;
  Step(config_, state_, clock_.Local(), entropy_, event, effects);
  owner_.OnStep();
  for (Effect& effect : effects) {
    std::visit([this](auto& what) { Do(what); }, effect);
  }
}

void MachineHost::OnTimer(TimerId timer) {
  Give(TimerFired{.timer = timer});
  owner_.OnDrained();
}

// --- transactions --------------------------------------------------------------------------------

void MachineHost::Do(RunTransaction& effect) {
  Transaction& transaction = effect.transaction;
  Flight& flight = flights_[effect.request];
  flight = {.run = 0,
            .step = transaction.step,
            .writes = transaction.mode == Mode::kReadWrite,
            .has_mutations = !transaction.mutations.empty(),
            .has_test = !std::holds_alternative<NoTest>(transaction.body),
            .began = MonotonicNow()};
  if (transaction.give_up_at) {
    transaction.give_up_at = clock_.ToMonotonic(*transaction.give_up_at);
  }
  // Runs on a thread of the client.
  auto done = [this, keep_alive = owner_.KeepAlive(),
               request = effect.request](TransactionResult result) {
    loop_.Post([this, keep_alive, request, result = std::move(result)]() mutable {
      OnEnded(request, std::move(result));
    });
  };
  flight.run = owner_.Run(effect.request, std::move(transaction), std::move(done));
}

void MachineHost::OnEnded(RequestId request, TransactionResult result) {
  const Flight flight = flights_.extract(request).mapped();
  owner_.OnTransactionEnded(request, flight, result);
  if (result.commit_sent) result.commit_sent = clock_.FromMonotonic(*result.commit_sent);
  Give(TransactionEnded{.request = request, .step = flight.step, .result = std::move(result)});
  owner_.OnDrained();
}

void MachineHost::Do(const CancelTransaction& effect) {
  const auto found = flights_.find(effect.request);
  if (found != flights_.end()) client_.Cancel(found->second.run);
}

void MachineHost::CancelReads() {
  for (const auto& [request, flight] : flights_) {
    if (!flight.writes) client_.Cancel(flight.run);
  }
}

void MachineHost::CancelTransactions() {
  for (const auto& [request, flight] : flights_) client_.Cancel(flight.run);
}

}  // namespace whorl::real_client
