#include "sim/judge/checkers/told_of_leadership.h"

#include <algorithm>
#include <string>

namespace whorl::sim {
namespace {

constexpr Duration kToldWithin = Milliseconds(10);

// Whether its application is called back.
bool IsCalledBack(ProcessId process, const Now& now) {
  return now.ledger.IsCurrent(process) && now.setup.Node(process.node).use != Use::kLock;
}

// When it has to be told of what changes now; kNever if it need not be told.
Instant DueOf(const ToldOfLeadership::Part& part, const Now& now) {
  const Duration allowed = kToldWithin + now.setup.host_delay;
  if (!part.ended) return now.at + allowed;
  const std::optional<Duration>& more = now.setup.rules->told_of_stop_within;
  return more ? now.at + *more + allowed : kNever;
}

}  // namespace

void ToldOfLeadership::Update(Part& part, const Now& now) {
  const bool agree = part.told == part.believes;
  if (agree) part.overdue = false;
  if (agree || part.overdue || now.ledger.IsPaused(part.process.node)) {
    part.due = kNever;
  } else if (part.due == kNever) {
    part.due = DueOf(part, now);
  }
  due_times.Set(IndexOf(part), part.due);
}

void ToldOfLeadership::Update(ProcessId process, const Now& now) {
  if (!IsCalledBack(process, now)) return;
  for (const uint16_t lock : now.setup.Node(process.node).locks) {
    Part& part = parts[now.setup.ParticipationIndex(process.node, lock)];
    if (part.process == process) Update(part, now);
  }
}

void ToldOfLeadership::Forget(ProcessId process, const Now& now) {
  for (const uint16_t lock : now.setup.Node(process.node).locks) {
    Part& part = parts[now.setup.ParticipationIndex(process.node, lock)];
    if (part.process.incarnation > process.incarnation) continue;
    part = {.process = process};
    due_times.Set(IndexOf(part), kNever);
  }
}

void ToldOfLeadership::On(const ProcessStopped& x, const Now& now) {
  for (const uint16_t lock : now.setup.Node(x.process.node).locks) {
    On(ParticipationEnded{.process = x.process, .lock = lock}, now);
  }
}

// What was due before has the time that a stop allows.
void ToldOfLeadership::On(const ParticipationEnded& x, const Now& now) {
  if (!IsCalledBack(x.process, now)) return;
  Part& part = parts[now.setup.ParticipationIndex(x.process.node, x.lock)];
  if (part.process != x.process || part.ended) return;
  part.ended = true;
  part.due = kNever;
  Update(part, now);
}

void ToldOfLeadership::On(const BeliefChanged& x, const Now& now) {
  if (!IsCalledBack(x.process, now)) return;
  Part& part = parts[now.setup.ParticipationIndex(x.process.node, x.lock)];
  if (part.process != x.process) return;
  part.believes = x.believes;
  Update(part, now);
}

void ToldOfLeadership::On(const CalledBack& x, const Now& now) {
  if (!IsCalledBack(x.process, now)) return;
  Part& part = parts[now.setup.ParticipationIndex(x.process.node, x.lock)];
  if (part.process != x.process) return;
  const bool begins = x.leader && !part.told;
  part.told = x.leader;
  if (begins && !part.believes) {
    part.overdue = true;
    now.Violated(kInvariant, x.lock, [&] {
      return now.NameOf(x.process) + " was told that it leads lock " + now.QuotedLock(x.lock) +
             ", which its process does not believe";
    });
  }
  Update(part, now);
}

void ToldOfLeadership::Expire(const Now& now) {
  for (const auto& [index, due] : due_times.TakePassed(now.at)) {
    Part& part = parts[index];
    const auto lock = static_cast<uint16_t>(index % now.setup.locks.size());
    now.Violated({.invariant = kInvariant, .lock = lock, .at = due, .by = {}}, [&] {
      return now.NameOf(part.process) + " was not told that it " +
             (part.believes ? "leads" : "no longer leads") + " lock " + now.QuotedLock(lock);
    });
    part.due = kNever;
    part.overdue = true;
  }
}

}  // namespace whorl::sim
