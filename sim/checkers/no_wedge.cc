#include "sim/checkers/no_wedge.h"

#include <algorithm>
#include <utility>

namespace whorl::sim {
namespace {

using Clock = NoWedge::Clock;

// Of those that were there before, since when stays.
void Follow(std::vector<NoWedge::Waiting>& waiting, const std::vector<ProcessId>& candidates,
            Instant now) {
  std::vector<NoWedge::Waiting> all;
  all.reserve(candidates.size());
  for (const ProcessId candidate : candidates) {
    const auto known = std::ranges::find(waiting, candidate, &NoWedge::Waiting::candidate);
    all.push_back({.candidate = candidate, .since = known == waiting.end() ? now : known->since});
  }
  waiting = std::move(all);
}

// REQUIRES: somebody waits.
Instant FirstOf(const std::vector<NoWedge::Waiting>& waiting) {
  return std::ranges::min_element(waiting, {}, &NoWedge::Waiting::since)->since;
}

bool EndsBefore(const Clock& a, const Clock& b) { return a.deadline < b.deadline; }

Instant LeastDeadline(const std::vector<Clock>& clocks) {
  const auto least = std::min_element(clocks.begin(), clocks.end(), EndsBefore);
  return least == clocks.end() ? kNever : least->deadline;
}

}  // namespace

void NoWedge::Settle(uint16_t lock, const Now& now) {
  const bool runs =
      was_quiet && now.ledger.CandidateCount(lock) > 0 && now.ledger.AnsweredCount(lock) == 0;
  Clock& clock = clocks[lock];
  if (!runs && !clock.runs) return;
  const bool has_passed = clock.runs && clock.deadline == kNever;
  const bool was_next = clock.deadline == next_deadline;
  clock.runs = runs;
  Follow(clock.waiting, runs ? now.ledger.Candidates(lock, now.setup) : std::vector<ProcessId>{},
         now.at);
  clock.deadline =
      runs && !has_passed ? FirstOf(clock.waiting) + now.setup.locks[lock].wedge_bound : kNever;
  next_deadline = was_next ? LeastDeadline(clocks) : std::min(next_deadline, clock.deadline);
}

void NoWedge::SettleAll(const Now& now) {
  was_quiet = now.ledger.IsQuiet();
  for (size_t lock = 0; lock < clocks.size(); ++lock) Settle(static_cast<uint16_t>(lock), now);
}

void NoWedge::Expire(const Now& now) {
  while (next_deadline <= now.at) {
    const auto first = std::min_element(clocks.begin(), clocks.end(), EndsBefore);
    const auto lock = static_cast<uint16_t>(first - clocks.begin());
    tally.Add(now, first->deadline, [&] {
      return "for " + FormatDuration(now.setup.locks[lock].wedge_bound) +
             " without a disturbance nobody would have been answered that it has lock " +
             now.LockName(lock);
    });
    first->deadline = kNever;
    next_deadline = LeastDeadline(clocks);
  }
}

std::string NoWedge::UnknownBecause(const Now& end) const {
  const auto last =
      std::max_element(clocks.begin(), clocks.end(), [](const Clock& a, const Clock& b) {
        const auto key = [](const Clock& c) {
          return c.deadline == kNever ? Instant{} : c.deadline;
        };
        return key(a) < key(b);
      });
  if (last == clocks.end() || !last->runs || last->deadline == kNever) return "";
  const auto lock = static_cast<uint16_t>(last - clocks.begin());
  const Duration bound = end.setup.locks[lock].wedge_bound;
  const Duration left = last->deadline - end.at;
  return "at the end nobody had held lock " + end.LockName(lock) + " for " +
         FormatDuration(bound - left) + " of the " + FormatDuration(bound) +
         " that may pass; the run should last " + FormatDuration(left) + " longer";
}

}  // namespace whorl::sim
