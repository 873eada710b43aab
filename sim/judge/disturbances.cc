#include "sim/judge/disturbances.h"

#include <algorithm>
#include <utility>

namespace whorl::sim {

void Disturbances::On(const TransactionStarted& x, const Ledger& ledger) {
  if (!ledger.IsCurrent(x.process)) return;
  std::vector<OpenTransaction>& open = OpenOf(x.process.node);
  const auto place = std::find_if(open.begin(), open.end(), [&x](const OpenTransaction& other) {
    return std::pair(other.lock, other.request) >= std::pair(x.lock, x.request);
  });
  if (place != open.end() && place->lock == x.lock && place->request == x.request) return;
  open.insert(place, {.lock = x.lock, .request = x.request, .step = x.step});
}

void Disturbances::On(const CallSent& x, const Ledger& ledger) {
  if (!ledger.IsCurrent(x.call.process)) return;
  for (OpenTransaction& open : OpenOf(x.call.process.node)) {
    if (open.lock == x.call.lock && open.request == x.call.request) {
      open.generation = x.call.generation;
    }
  }
}

void Disturbances::On(const CallHangs& x, const Ledger& ledger) {
  if (!ledger.IsCurrent(x.call.process)) return;
  for (OpenTransaction& open : OpenOf(x.call.process.node)) {
    if (!open.Sent(x.call) || open.hung) continue;
    open.hung = true;
    ++hanging_;
  }
}

std::optional<TransactionLeft> Disturbances::On(const TransactionFinished& x,
                                                const Ledger& ledger) {
  TransactionLeft left{.step = x.step, .outcome = x.outcome, .code = x.code};
  if (!ledger.IsCurrent(x.process)) return left;
  std::vector<OpenTransaction>& open = OpenOf(x.process.node);
  const auto found = std::find_if(open.begin(), open.end(), [&x](const OpenTransaction& other) {
    return other.lock == x.lock && other.request == x.request;
  });
  if (found == open.end()) return left;
  left.hung = found->hung;
  hanging_ -= found->hung ? 1 : 0;
  open.erase(found);
  return left;
}

bool Disturbances::IsAwaited(const CallName& call, const Ledger& ledger) const {
  return ledger.IsCurrent(call.process) &&
         std::ranges::any_of(OpenOf(call.process.node),
                             [&call](const OpenTransaction& open) { return open.Sent(call); });
}

std::optional<TransactionsAbandoned> Disturbances::On(const ProcessLost& x, const Ledger&) {
  std::vector<OpenTransaction>& open = OpenOf(x.process.node);
  if (open.empty()) return std::nullopt;
  TransactionsAbandoned abandoned;
  for (const OpenTransaction& transaction : open) {
    abandoned.steps.push_back(transaction.step);
    hanging_ -= transaction.hung ? 1 : 0;
  }
  open.clear();
  return abandoned;
}

}  // namespace whorl::sim
