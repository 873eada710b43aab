#include "sim/report/history.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <utility>
#include <variant>

#include "sim/judge/ledger.h"
#include "sim/report/row_text.h"
#include "sim/world/latency.h"

namespace whorl::sim {
namespace {

// How many Commits that Spanner has not served are remembered.
constexpr size_t kMaxSent = 10'000;

template <typename T>
bool Is(uint8_t request) {
  return request == Request(T{}).index();
}
bool IsStatement(uint8_t request) {
  return Is<ExecuteSql>(request) || Is<Read>(request) || Is<ExecuteBatchDml>(request);
}

}  // namespace

History::History(const Scenario& scenario, uint64_t last)
    : last_(last),
      rules_(RulesOf(scenario.protocol)),
      checkers_(scenario, RoundTripP999(scenario.spanner.preset)),
      orphaned_(scenario.locks.size(), Instant{}),
      holders_before_last_(scenario.locks.size()),
      nodes_(scenario.nodes.size()),
      rows_(scenario.locks.size()) {}

void History::Hear(const Observation& observation, uint64_t ordinal, uint64_t /*hash*/) {
  if (ordinal > last_) return;
  const Ledger& ledger = checkers_.ledger();
  if (ordinal == last_) {
    for (size_t i = rows_.size(); i > 0; --i) {
      const auto lock = static_cast<uint16_t>(i - 1);
      if (ledger.AnsweredCount(lock) == 0 && ledger.CandidateCount(lock) > 0) orphan_ = lock;
      const std::optional<Version>& newest = ledger.Newest(lock);
      if (newest && newest->held && !newest->released) holders_before_last_[lock] = newest->owner;
    }
  }
  observation_ = observation;
  checkers_.Observe(observation);
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (ledger.AnsweredCount(static_cast<uint16_t>(i)) > 0) {
      orphaned_[i].reset();
    } else if (!orphaned_[i]) {
      orphaned_[i] = now();
    }
  }
  std::visit([this](const auto& what) { On(what); }, observation.what);
}

bool History::Believes(ProcessId process, uint16_t lock) const {
  for (const ProcessChange& change : std::views::reverse(process_changes_)) {
    const bool is_belief =
        change.kind == ProcessChangeKind::kBelieves || change.kind == ProcessChangeKind::kLapsed;
    if (is_belief && change.process == process && change.lock == lock) {
      return change.kind == ProcessChangeKind::kBelieves;
    }
  }
  return false;
}

LastEnds History::last_ends(ProcessId process, uint16_t lock) const {
  const auto found = last_ends_.find({process, lock});
  return found == last_ends_.end() ? LastEnds{} : found->second;
}

std::string History::KeyOf(const RowChange& row) const {
  return RowKeyText(row.after ? *row.after : *row.before, rules_.key_column);
}

std::optional<uint16_t> History::LockOf(const RowChange& row) const {
  return checkers_.setup().LockOfRow(row.after ? *row.after : *row.before);
}

// --- processes and faults ------------------------------------------------------------------------

void History::On(const ProcessStarted& x) {
  NodeState& node = NodeOf(x.process);
  node = {.process = x.process, .runs = true, .link_to = node.link_to, .link_from = node.link_from};
  AddProcessChange(ProcessChangeKind::kStarted, x.process);
}
void History::On(const ProcessStopped& x) {
  NodeOf(x.process).stopped = true;
  AddProcessChange(ProcessChangeKind::kStopped, x.process);
}
void History::On(const ProcessGone& x) {
  NodeState& node = NodeOf(x.process);
  node.runs = false;
  node.paused = false;
  node.crashed = x.crashed;
  node.gone_at = now();
  AddProcessChange(ProcessChangeKind::kGone, x.process);
}
void History::On(const ProcessPaused& x) { NodeOf(x.process).paused = true; }
void History::On(const ProcessResumed& x) { NodeOf(x.process).paused = false; }
void History::On(const ParticipationEnded& x) {
  // That a process which was asked to stop ends its part is not recorded: it follows from the request.
  if (!NodeOf(x.process).stopped) {
    AddProcessChange(ProcessChangeKind::kContextEnded, x.process, x.lock);
  }
}
void History::On(const LinkChanged& x) {
  NodeState& node = nodes_[static_cast<size_t>(x.node)];
  if (x.direction != Direction::kFrom) node.link_to = x.link;
  if (x.direction != Direction::kTo) node.link_from = x.link;
}
void History::On(const FaultBegan& x) {
  faults_.push_back({.fault = x.fault, .from = now(), .to = std::nullopt});
}
void History::On(const FaultEnded& x) {
  for (FaultSpan& span : std::views::reverse(faults_)) {
    if (span.fault != x.fault || span.to) continue;
    span.to = now();
    return;
  }
}

// --- transactions --------------------------------------------------------------------------------

void History::Add(TransactionRecord record) {
  transactions_.push_back(std::move(record));
  if (transactions_.size() <= kMaxTransactions) return;
  transactions_.pop_front();
  ++forgotten_;
}

TransactionRecord* History::Open(const CallName& call) {
  const auto found = open_.find({call.process, call.lock, call.request});
  return found == open_.end() ? nullptr : At(found->second);
}

void History::On(const TransactionStarted& x) {
  open_[{x.process, x.lock, x.request}] = forgotten_ + transactions_.size();
  Add({.process = x.process,
       .lock = x.lock,
       .request = x.request,
       .step = x.step,
       .started = now()});
}
void History::On(const CallSent& x) {
  const auto open = open_.find({x.call.process, x.call.lock, x.call.request});
  if (!Is<Commit>(x.request) || open == open_.end()) return;
  sent_[x.call] = open->second;
  if (sent_.size() > kMaxSent) sent_.erase(sent_.begin());
}
void History::On(const CallWaits& x) {
  if (TransactionRecord* record = Open(x.call)) record->waits_since = now();
}
void History::On(const CallServed& x) {
  if (TransactionRecord* record = Open(x.call); record != nullptr && record->waits_since) {
    record->waited = record->waited + (now() - *std::exchange(record->waits_since, std::nullopt));
  }
  if (Is<Commit>(x.request)) {
    sent_.erase(x.call);
    return;
  }
  TransactionRecord* record = Open(x.call);
  if (record == nullptr || !IsStatement(x.request) || x.code != Code::kOk) return;
  record->served = now();
  record->seen = rows_[x.call.lock];
}
void History::On(const CallEnded& x) {
  TransactionRecord* record = Open(x.call);
  if (record == nullptr || x.code == Code::kOk) return;
  ++record->failed_calls;
  record->last_failure = x.code;
}
void History::On(const TransactionCommitted& x) {
  const auto sent = sent_.find(x.call);
  committing_.reset();
  TransactionRecord* record = sent == sent_.end() ? nullptr : At(sent->second);
  if (record == nullptr) return;
  committing_ = sent->second;
  record->committed = now();
  record->commit = x.commit;
}
void History::On(const TransactionFinished& x) {
  const auto open = open_.find({x.process, x.lock, x.request});
  if (open == open_.end()) return;
  if (TransactionRecord* record = At(open->second)) {
    record->finished = now();
    record->outcome = x.outcome;
    record->code = x.code;
  }
  open_.erase(open);
}

void History::On(const RowCommitted& x) {
  RowChange change = {.before = x.before, .after = x.after};
  if (const auto lock = LockOf(change)) {
    const auto& newest = checkers_.ledger().Newest(*lock);
    change.takes_the_lock = TakesTheLock(rules_, x, rows_[*lock].owner);
    rows_[*lock] = {.row = x.after,
                    .owner = newest ? newest->owner : ProcessId{},
                    .writer = x.writer,
                    .written = now()};
  }
  TransactionRecord* record = committing_ && x.writer != ProcessId{} ? At(*committing_) : nullptr;
  if (record != nullptr && record->process == x.writer && record->commit == x.commit) {
    record->rows.push_back(std::move(change));
    return;
  }
  // Initial rows, and changes by an operator.
  Add({.process = x.writer,
       .lock = x.lock,
       .step = x.step,
       .started = now(),
       .committed = now(),
       .commit = x.commit,
       .rows = {std::move(change)},
       .finished = now(),
       .outcome = Outcome::kCommitted});
}

// --- beliefs and answers -------------------------------------------------------------------------

void History::On(const BeliefChanged& x) {
  AddProcessChange(x.believes ? ProcessChangeKind::kBelieves : ProcessChangeKind::kLapsed,
                   x.process, x.lock);
}
void History::On(const WorkChanged& x) {
  if (!x.at_work) last_ends_[{x.process, x.lock}].work = now();
}
void History::On(const Noted& x) {
  if (x.note.note != notes::kLostLock) return;
  LastEnds& ends = last_ends_[{x.process, x.lock}];
  ends.loss = now();
  ends.why_lost = x.note.values.empty() ? std::string() : NoteValueText(x.note.values.front());
}
void History::On(const QuestionAnswered& x) {
  const auto before = std::ranges::find_if(std::views::reverse(answers_), [&](const Answered& a) {
    return a.process == x.process && a.lock == x.lock && a.answer.question == x.answer.question;
  });
  const bool is_new = before == std::views::reverse(answers_).end() ||
                      before->answer.yes != x.answer.yes || before->answer.token != x.answer.token;
  if (!is_new) return;
  answers_.push_back(
      {.at = now(), .asked = x.asked_at, .process = x.process, .lock = x.lock, .answer = x.answer});
}

}  // namespace whorl::sim
