#include "sim/judge/checkers/answered_in_time.h"

#include <algorithm>
#include <string>

namespace whorl::sim {
namespace {

constexpr Duration kAnsweredWithin = Milliseconds(10);

}  // namespace

AnsweredInTime::Part* AnsweredInTime::PartOf(ProcessId process, uint16_t lock, const Now& now) {
  Part& part = parts[now.setup.ParticipationIndex(process.node, lock)];
  return part.process == process && now.ledger.IsCurrent(process) ? &part : nullptr;
}

void AnsweredInTime::Update(Part& part, const Now& now) {
  const Duration allowed = kAnsweredWithin + now.setup.host_delay;
  const bool paused = now.ledger.IsPaused(part.process.node);
  if (part.asked == 0 && !part.locks) part.overdue = false;
  if (part.asked == 0 || part.asking > 0 || paused || part.overdue) {
    part.due = kNever;
  } else if (part.due == kNever) {
    part.due = now.at + allowed;
  }
  if (!part.locks || !part.ended || paused || part.overdue) {
    part.lock_due = kNever;
  } else if (part.lock_due == kNever && part.asking == 0) {
    // Once more for a clock that is slow.
    part.lock_due = now.at + now.setup.rules->lock_looks_every * 11 / 10 + allowed;
  }
  due_times.Set(IndexOf(part), std::min(part.due, part.lock_due));
}

void AnsweredInTime::Update(ProcessId process, const Now& now) {
  for (const uint16_t lock : now.setup.Node(process.node).locks) {
    if (Part* part = PartOf(process, lock, now)) Update(*part, now);
  }
}

void AnsweredInTime::Forget(ProcessId process, const Now& now) {
  for (const uint16_t lock : now.setup.Node(process.node).locks) {
    Part& part = parts[now.setup.ParticipationIndex(process.node, lock)];
    if (part.process.incarnation > process.incarnation) continue;
    part = {.process = process};
    due_times.Set(IndexOf(part), kNever);
  }
}

void AnsweredInTime::On(const ParticipationEnded& x, const Now& now) {
  Part* part = PartOf(x.process, x.lock, now);
  if (part == nullptr) return;
  part->ended = true;
  Update(*part, now);
}

void AnsweredInTime::On(const QuestionAsked& x, const Now& now) {
  Part* part = PartOf(x.process, x.lock, now);
  if (part == nullptr) return;
  if (x.question == Question::kLock) {
    part->locks = true;
    part->ended = false;  // one that locks again takes part again, with a new context
  } else {
    ++part->asked;
  }
  Update(*part, now);
}

void AnsweredInTime::On(const QuestionAnswered& x, const Now& now) {
  Part* part = PartOf(x.process, x.lock, now);
  if (part == nullptr) return;
  if (x.answer.question == Question::kLock) {
    part->locks = false;
  } else {
    part->asked = std::max(part->asked - 1, 0);
  }
  Update(*part, now);
}

void AnsweredInTime::CountAsking(ProcessId process, uint16_t lock, int32_t more, const Now& now) {
  Part* part = PartOf(process, lock, now);
  if (part == nullptr) return;
  part->asking = std::max(part->asking + more, 0);
  Update(*part, now);
}

void AnsweredInTime::Expire(const Now& now) {
  for (const auto& [index, due] : due_times.TakePassed(now.at)) {
    Part& part = parts[index];
    const auto lock = static_cast<uint16_t>(index % now.setup.locks.size());
    now.Violated({.invariant = kInvariant, .lock = lock, .at = due, .by = {}}, [&] {
      return now.NameOf(part.process) +
             (due == part.due ? " has not answered a question about lock "
                              : " has not answered Lock(), whose context has ended, of lock ") +
             now.QuotedLock(lock);
    });
    part.due = part.lock_due = kNever;
    part.overdue = true;
  }
}

}  // namespace whorl::sim
