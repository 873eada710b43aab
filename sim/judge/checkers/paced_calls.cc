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
  if (part.process != process) part = {.process = process, .steps = {}};
  return part;
}

PacedCalls::Repeats& PacedCalls::RepeatsOf(Part& part, StepName step) {
  const auto known = std::ranges::find(part.steps, step, &Repeats::step);
  if (known != part.steps.end()) return *known;
  return part.steps.emplace_back(Repeats{.step = step, .ending = std::nullopt, .starts = {}});
}

void PacedCalls::On(const TransactionStarted& x, const Now& now) {
  if (x.step == steps::kHasLock) return;
  Part& part = PartOf(x.process, x.lock, now.setup);
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
  if (x.step == steps::kHasLock) return;
  Part& part = parts[now.setup.ParticipationIndex(x.process.node, x.lock)];
  if (part.process != x.process) return;
  Repeats& repeats = RepeatsOf(part, x.step);
  const Ending ending = {.outcome = x.outcome, .code = x.code};
  if (repeats.ending && *repeats.ending != ending) repeats.starts.clear();
  repeats.ending = ending;
}

}  // namespace whorl::sim
