#include "sim/judge/checkers/reasoned_step_down.h"

#include <algorithm>
#include <string>

namespace whorl::sim {
namespace {

bool IsItsOwn(const SteppedDown& x, const Now& now) {
  const std::optional<Version>& newest = now.ledger.Newest(x.lock);
  return newest && newest->held && !newest->released && newest->owner == x.process;
}

bool HasLedLongEnough(Duration lead, const Now& now, ProcessId process) {
  const std::optional<int64_t>& least = now.setup.least_lead_percent;
  return least && lead >= now.setup.Node(process.node).lease * *least / 100;
}

}  // namespace

ReasonedStepDown::Part* ReasonedStepDown::PartOf(ProcessId process, uint16_t lock,
                                                 const CheckerSetup& setup) {
  if (process == ProcessId{}) return nullptr;
  Part& part = parts[setup.ParticipationIndex(process.node, lock)];
  return part.process == process ? &part : nullptr;
}

bool ReasonedStepDown::ClockChangedSince(const Part& part) const {
  const auto since = [&part](Instant at) { return at != kNever && at >= part.term_began; };
  return since(spanner_changed) || since(clock_changed[static_cast<size_t>(part.process.node)]);
}

void ReasonedStepDown::On(const ProcessStarted& x, const Now& now) {
  for (const uint16_t lock : now.setup.Node(x.process.node).locks) {
    parts[now.setup.ParticipationIndex(x.process.node, lock)] = {.process = x.process};
  }
}

void ReasonedStepDown::On(const TransactionStarted& x, const Now& now) {
  Part* part = PartOf(x.process, x.lock, now.setup);
  if (part == nullptr) return;
  std::erase_if(part->open, [&x](const Open& open) { return open.request == x.request; });
  part->open.push_back({.request = x.request, .step = x.step, .started = now.at});
}

// The ledger has not heard of the change yet. Which of several transactions of a step it was is not said: the
// first one makes the judge believe the least.
void ReasonedStepDown::On(const RowCommitted& x, const Now& now) {
  Part* part = PartOf(x.writer, x.lock, now.setup);
  const Row& row = x.after ? *x.after : *x.before;
  if (part == nullptr || row[now.setup.rules->key_column] != now.setup.locks[x.lock].key) return;
  const bool takes = TakesTheLock(*now.setup.rules, x, now.ledger.OwnerOf(x.lock));
  std::optional<Instant> first = part->unknown;
  for (Open& open : part->open) {
    if (open.step != x.step) continue;
    open.renews = !takes;
    first = std::min(first.value_or(open.started), open.started);
  }
  if (!takes) return;
  part->renewed = first;
  part->term_began = first.value_or(now.at);
}

void ReasonedStepDown::On(const TransactionFinished& x, const Now& now) {
  Part* part = PartOf(x.process, x.lock, now.setup);
  if (part == nullptr) return;
  const auto open = std::ranges::find(part->open, x.request, &Open::request);
  if (open == part->open.end()) return;
  if (x.outcome == Outcome::kCommitted && open->renews) {
    part->renewed = std::max(part->renewed.value_or(open->started), open->started);
    // One of its step that is under way beside it may have been committed before it, and then renews no more.
    for (Open& other : part->open) {
      if (other.step == open->step) other.started = std::min(other.started, open->started);
    }
  } else if (x.outcome == Outcome::kUnknown) {
    part->unknown = std::min(part->unknown.value_or(open->started), open->started);
  }
  part->open.erase(open);
}

void ReasonedStepDown::On(const BeliefBegan& x, const Now& now) {
  Part* part = PartOf(x.process, x.lock, now.setup);
  if (part == nullptr) return;
  if (!part->renewed) part->term_began = now.at;
  part->lapse.reset();
}

void ReasonedStepDown::On(const BeliefChanged& x, const Now& now) {
  Part* part = PartOf(x.process, x.lock, now.setup);
  if (part == nullptr || x.believes || part->lapse) return;
  part->lapse = Lapse{.at = now.at, .renewed = part->renewed};
}

void ReasonedStepDown::On(const SteppedDown& x, const Now& now) {
  Part* part = PartOf(x.process, x.lock, now.setup);
  if (part == nullptr) return;
  // What it hears after its belief has lapsed comes too late.
  const Lapse end = part->lapse.value_or(Lapse{.at = now.at, .renewed = part->renewed});
  part->unknown.reset();
  if (!end.renewed || !IsItsOwn(x, now) || ClockChangedSince(*part)) return;
  const Duration lead = end.at - *end.renewed;
  if (HasLedLongEnough(lead, now, x.process)) return;
  now.Violated(kInvariant, x.lock, [&] {
    return now.NameOf(x.process) + " ceased to lead lock " + now.QuotedLock(x.lock) +
           ", which is still its own, " + FormatDuration(lead) +
           " after it began to renew a lease of " +
           FormatDuration(now.setup.Node(x.process.node).lease);
  });
}

}  // namespace whorl::sim
