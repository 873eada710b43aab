#include "sim/judge/checkers/paced_calls.h"

#include <algorithm>

#include "sim/scenario/rules.h"

namespace whorl::sim {
namespace {

std::string TextOf(const std::optional<PacedCalls::Ending>& ending) {
  if (!ending) return "and none has ended";
  const std::string_view word =
      ending->code == Code::kOk ? WordOf(ending->outcome) : WordOf(ending->code);
  return "and the last ended " + std::string(word);
}

void ForgetBeforeLastSecond(std::vector<Instant>& times, Instant now) {
  std::erase_if(times, [now](Instant time) { return time + Seconds(1) <= now; });
}

}  // namespace

PacedCalls::Part& PacedCalls::PartOf(ProcessId process, uint16_t lock, const CheckerSetup& setup) {
  Part& part = parts[setup.ParticipationIndex(process.node, lock)];
  if (part.process != process) part = {.process = process, .steps = {}, .open = {}};
  return part;
}

PacedCalls::Repeats& PacedCalls::RepeatsOf(Part& part, StepName step) {
  const auto known = std::ranges::find(part.steps, step, &Repeats::step);
  if (known != part.steps.end()) return *known;
  return part.steps.emplace_back(Repeats{.step = step, .ending = std::nullopt, .starts = {}});
}

void PacedCalls::On(const TransactionStarted& x, const Now& now) {
  Part& part = PartOf(x.process, x.lock, now.setup);
  std::erase_if(part.open, [&x](const Calls& calls) { return calls.request == x.request; });
  part.open.push_back({.request = x.request});
  if (x.step == steps::kHasLock) return;
  Repeats& repeats = RepeatsOf(part, x.step);
  ForgetBeforeLastSecond(repeats.starts, now.at);
  repeats.starts.push_back(now.at);
  const int64_t most = StartsInSecondMax(now.setup.Node(x.process.node).lease);
  if (std::ssize(repeats.starts) <= most) return;
  now.Violated(kInvariant, x.lock, [&] {
    return now.NameOf(x.process) + " started " + std::to_string(repeats.starts.size()) + " times " +
           std::string(WordOf(x.step)) + " of lock " + now.QuotedLock(x.lock) +
           " within a second, where at most " + std::to_string(most) + " are paced, " +
           TextOf(repeats.ending);
  });
  repeats.starts.clear();
}

// What an older process of the node hears says nothing of the newest.
void PacedCalls::On(const TransactionFinished& x, const Now& now) {
  Part& part = parts[now.setup.ParticipationIndex(x.process.node, x.lock)];
  if (part.process != x.process) return;
  std::erase_if(part.open, [&x](const Calls& calls) { return calls.request == x.request; });
  if (x.step == steps::kHasLock) return;
  Repeats& repeats = RepeatsOf(part, x.step);
  const Ending ending = {.outcome = x.outcome, .code = x.code};
  if (repeats.ending && *repeats.ending != ending) repeats.starts.clear();
  repeats.ending = ending;
}

PacedCalls::Calls* PacedCalls::CallsOf(const CallName& call, const Now& now) {
  Part& part = parts[now.setup.ParticipationIndex(call.process.node, call.lock)];
  if (part.process != call.process) return nullptr;
  const auto found = std::ranges::find(part.open, call.request, &Calls::request);
  return found == part.open.end() ? nullptr : &*found;
}

void PacedCalls::On(const SessionCreated& x, const Now& now) {
  for (const uint16_t lock : now.setup.Node(x.process.node).locks) {
    Part& part = parts[now.setup.ParticipationIndex(x.process.node, lock)];
    if (part.process != x.process) continue;
    for (Calls& calls : part.open) calls.failed = true;
  }
}

void PacedCalls::On(const CallSent& x, const Now& now) {
  // A call for a session has the name of the transaction that waits for it.
  static const auto session = static_cast<uint8_t>(Request(CreateSession{}).index());
  Calls* calls = x.request == session ? nullptr : CallsOf(x.call, now);
  if (calls == nullptr) return;
  if (now.at - calls->second >= Seconds(1)) {
    calls->second = now.at;
    calls->in_second = 0;
  }
  ++calls->in_second;
  if (!calls->failed) ++calls->sent;
  const int64_t needed = now.setup.rules->calls_of_transaction;
  // Spanner may ask a real client to confirm a Commit by another one.
  const int64_t most = needed + (now.setup.host_delay > Duration{} ? 1 : 0);
  const bool too_many = !calls->failed && needed > 0 && calls->sent > most;
  if (!too_many && calls->in_second <= kCallsInSecondMax) return;
  now.Violated(kInvariant, x.call.lock, [&] {
    const std::string who = now.NameOf(x.call.process) + " sent ";
    const std::string what =
        " calls of " + std::string(WordOf(x.step)) + " of lock " + now.QuotedLock(x.call.lock);
    if (too_many) {
      return who + std::to_string(calls->sent) + what + ", none of which had failed, where " +
             std::to_string(most) + " are enough";
    }
    return who + std::to_string(calls->in_second) + what +
           " within a second, for one transaction, where at most " +
           std::to_string(kCallsInSecondMax) + " are paced";
  });
  calls->in_second = 0;
  calls->failed = true;
}

}  // namespace whorl::sim
