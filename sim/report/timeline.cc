#include "sim/report/timeline.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "sim/report/row_text.h"
#include "sim/world/latency.h"

namespace whorl::sim {
namespace {

Value ColumnOf(const std::optional<Row>& row, size_t column) {
  return row.has_value() && column < row->size() ? (*row)[column] : Value(Null{});
}

Tone ToneOf(bool good) { return good ? Tone::kGood : Tone::kWarning; }

std::string_view LinkWords(LinkState link) {
  switch (link) {
    case LinkState::kUp:
      return "link up";
    case LinkState::kBlackHoled:
      return "link black-holed";
    case LinkState::kRefused:
      return "link refused";
  }
  return "link";
}

std::string SignedText(Duration duration) {
  return Cat(duration >= Duration{} ? "+" : "", FormatDuration(duration));
}

TimelineLine ViolationLine(const InvariantResult& result) {
  const Violation& first = *result.first;
  return {.at = first.at,
          .ordinal = first.observation,
          .node = TimelineLine::kAll,
          .lane = Lane::kAbsent,
          .tone = Tone::kBad,
          .text = Cat("!! ", WordOf(result.invariant), " violated: ", first.text)};
}

}  // namespace

Timeline::Timeline(const Scenario& scenario)
    : scenario_(scenario),
      names_(NamesOf(scenario)),
      rules_(RulesOf(scenario.protocol)),
      setup_(MakeCheckerSetup(scenario, RoundTripP999(scenario.spanner.preset))),
      ledger_(setup_),
      writes_(scenario.locks.size()),
      activities_(scenario.nodes.size()),
      last_shown_(scenario.nodes.size() * scenario.locks.size()),
      fault_began_(scenario.faults.size()) {}

void Timeline::Hear(const Observation& observation, uint64_t ordinal, uint64_t /*hash*/) {
  now_ = observation.at;
  ordinal_ = ordinal;
  std::visit([this](const auto& what) { On(what); }, observation.what);
}

std::vector<TimelineLine> Timeline::Lines(const CheckReport& checks) const {
  std::vector<TimelineLine> lines = lines_;
  for (const InvariantResult& result : checks.invariants) {
    if (!result.first.has_value()) continue;
    TimelineLine line = ViolationLine(result);
    const auto place = std::ranges::find_if(lines, [&](const TimelineLine& other) {
      return other.at > line.at || (other.at == line.at && other.ordinal > line.ordinal);
    });
    lines.insert(place, std::move(line));
  }
  return lines;
}

void Timeline::Print(const CheckReport& checks, const TimelineStyle& style,
                     std::ostream& out) const {
  PrintTimelineLines(names_.nodes, Lines(checks), style, out);
  if (left_out_ > 0) {
    out << "and " << GroupedText(static_cast<int64_t>(left_out_))
        << " more transitions, which a trace would show\n";
  }
}

// --- processes ---------------------------------------------------------------------------------

void Timeline::On(const ProcessStarted& x) {
  ActivityOf(x.process.node) = {.runs = true};
  for (size_t lock = 0; lock < scenario_.locks.size(); ++lock) {
    LastShownOf(x.process, static_cast<uint16_t>(lock)) = {};
  }
  const bool again = x.process.incarnation > 1;
  Add(x.process.node, Tone::kPlain,
      again ? Cat("started, #", std::to_string(x.process.incarnation)) : "started");
}
void Timeline::On(const ProcessStopped& x) { Add(x.process.node, Tone::kWarning, "told to stop"); }
void Timeline::On(const ProcessGone& x) {
  // The lapse of the process's beliefs is observed separately.
  ActivityOf(x.process.node).runs = false;
  Add(x.process.node, Tone::kWarning, x.crashed ? "crashed" : "gone");
}
void Timeline::On(const ProcessPaused& x) {
  ActivityOf(x.process.node).paused = true;
  Add(x.process.node, Tone::kWarning, "paused");
}
void Timeline::On(const ProcessResumed& x) {
  ActivityOf(x.process.node).paused = false;
  Add(x.process.node, Tone::kPlain, "resumed");
}
void Timeline::On(const ParticipationEnded& x) {
  Add(x.process.node, Tone::kWarning,
      Cat(Prefix(x.lock), "context ", x.reason == StopReason::kDeadline ? "expired" : "cancelled"));
}

// --- faults ------------------------------------------------------------------------------------

void Timeline::On(const LinkChanged& x) {
  Add(x.node, ToneOf(x.link == LinkState::kUp), Cat(LinkWords(x.link), WayText(x.direction)));
}
void Timeline::On(const SpannerAvailability& x) {
  Add(TimelineLine::kSpanner, ToneOf(x.available), x.available ? "available" : "unavailable");
}
void Timeline::On(const ClockChanged& x) {
  if (x.stands) {
    Add(x.node, Tone::kWarning, "clocks stand still");
    return;
  }
  const std::string rate = x.rate_ppm == 0 ? ""
                                           : Cat(", rate ", x.rate_ppm > 0 ? "+" : "",
                                                 std::to_string(x.rate_ppm), " ppm");
  Add(x.node, Tone::kWarning, Cat("wall clock ", SignedText(x.error), rate));
}
void Timeline::On(const SpannerClocksChanged& x) {
  Add(TimelineLine::kSpanner, Tone::kWarning,
      Cat("TrueTime ", SignedText(x.truetime_error), " +-", FormatDuration(x.epsilon),
          ", CURRENT_TIMESTAMP ", SignedText(x.current_timestamp_error)));
}
void Timeline::On(const SessionLost& x) { Add(x.process.node, Tone::kWarning, "session deleted"); }
void Timeline::On(const SessionCreated& x) { Add(x.process.node, Tone::kPlain, "new session"); }
void Timeline::On(const FaultBegan& x) {
  if (x.fault >= scenario_.faults.size()) return;
  fault_began_[x.fault] = now_;
  Add(NodeOf(scenario_.faults[x.fault]), Tone::kWarning, Cat("fault ", FaultName(x.fault)));
}
void Timeline::On(const FaultEnded& x) {
  // The end of a fault without a duration is no news.
  if (x.fault >= scenario_.faults.size() || fault_began_[x.fault] == now_) return;
  Add(NodeOf(scenario_.faults[x.fault]), Tone::kPlain, Cat("over: ", FaultName(x.fault)));
}

// --- transactions and rows ---------------------------------------------------------------------

void Timeline::On(const TransactionFinished& x) {
  auto& failures = LastShownOf(x.process, x.lock).failures;
  if (x.outcome == Outcome::kCommitted) {
    failures.erase(x.step);
    return;
  }
  const std::pair failure(x.outcome, x.code);
  const auto [known, is_new] = failures.try_emplace(x.step, failure);
  if (!is_new && known->second == failure) return;
  known->second = failure;
  const std::string_view certainty = x.outcome == Outcome::kUnknown ? "outcome unknown, " : "";
  Add(x.process.node, Tone::kWarning,
      Cat(Prefix(x.lock), WordOf(x.step), ": ", certainty, WordOf(x.code)));
}

void Timeline::On(const RowCommitted& x) {
  if (const auto change = ledger_.On(x, setup_)) return OnLockRow(x, *change);
  if (x.before.has_value() == x.after.has_value()) return;
  const Value key = ColumnOf(x.after.has_value() ? x.after : x.before, rules_.key_column);
  Add(TimelineLine::kSpanner, Tone::kPlain,
      Cat(x.after.has_value() ? "+ " : "- ", KeyText(key), " by ", WriterText(x.writer)));
}

void Timeline::OnLockRow(const RowCommitted& x, const VersionChanged& change) {
  const std::string name = Cat(names_.Lock(change.lock), ": ");
  if (!x.after.has_value()) {
    const bool given_back = change.kind == TokenChange::kReleased;
    Add(TimelineLine::kSpanner, given_back ? Tone::kGood : Tone::kBad,
        Cat(name, given_back ? "given back by " : "row deleted by ", WriterText(x.writer)));
    return;
  }
  const bool takes_it = change.kind == TokenChange::kGranted;
  if (x.before.has_value() && !takes_it) {
    if (rules_.is_released(*x.after) && !rules_.is_released(*x.before)) {
      Add(TimelineLine::kSpanner, Tone::kGood, Cat(name, "given back by ", WriterText(x.writer)));
    }
    return;
  }
  if (takes_it && x.writer != ProcessId{}) writes_[change.lock].granted_at = now_;
  // After a grant, a failure is shown even if it was shown before.
  for (LastShown& last : last_shown_) last.failures.clear();
  Add(TimelineLine::kSpanner, Tone::kGood,
      Cat(name, GrantText(x), " by ", names_.ShortProcess(x.writer)));
}

std::string Timeline::GrantText(const RowCommitted& x) const {
  const size_t column = rules_.HolderColumn();
  const Value value = ColumnOf(x.after, column);
  if (rules_.token_column) return Cat("token ", ShortValueText(value));
  return Cat(names_.columns[column], " ", ShortValueText(value));
}

// --- beliefs, answers and writes ---------------------------------------------------------------

void Timeline::On(const BeliefChanged& x) {
  LastShown& last = LastShownOf(x.process, x.lock);
  if (last.believes == x.believes) return;
  last.believes = x.believes;
  last.lapsed = !x.believes;
  ActivityOf(x.process.node).beliefs += x.believes ? 1 : -1;
  Add(x.process.node, ToneOf(x.believes),
      Cat(Prefix(x.lock), x.believes ? "believes" : "belief lapsed"));
}
// Why a belief lapsed, where the protocol says so.
void Timeline::On(const Noted& x) {
  if (x.note.note == notes::kLostLock && !x.note.values.empty()) {
    Add(x.process.node, Tone::kWarning,
        Cat(Prefix(x.lock), WordOf(x.note.note), ": ", NoteValueText(x.note.values.front())));
    return;
  }
  if (x.note.note == notes::kClockStoodStill && !x.note.values.empty()) {
    Add(x.process.node, Tone::kWarning,
        Cat(WordOf(x.note.note), " for ", NoteValueText(x.note.values.front()), " ms"));
  }
}
void Timeline::On(const CalledBack& x) {
  LastShown& last = LastShownOf(x.process, x.lock);
  if (last.leader == x.leader) return;
  last.leader = x.leader;
  Add(x.process.node, ToneOf(x.leader), Cat(Prefix(x.lock), "callback ", x.leader ? "1" : "0"));
}
void Timeline::On(const QuestionAnswered& x) {
  const Question question = x.answer.question;
  if (question == Question::kHasLock || question == Question::kHasLock2) {
    OnHasLock(x);
  } else if (question == Question::kLock || question == Question::kUnlock) {
    const std::string outcome = x.answer.yes ? "done" : Printable(x.answer.text);
    Add(x.process.node, ToneOf(x.answer.yes), Cat(Prefix(x.lock), WordOf(question), ": ", outcome));
  }
}
void Timeline::OnHasLock(const QuestionAnswered& x) {
  LastShown& last = LastShownOf(x.process, x.lock);
  if (x.answer.yes) last.lapsed = false;
  if (last.has_lock == x.answer.yes) return;
  last.has_lock = x.answer.yes;
  Add(x.process.node, ToneOf(x.answer.yes),
      Cat(Prefix(x.lock), WordOf(x.answer.question), ": ", x.answer.yes ? "yes" : "no"));
}
void Timeline::On(const WriteSent& x) { writes_[x.lock].Send(x, now_); }
void Timeline::On(const WriteArrived& x) {
  LastShown& last = LastShownOf(x.process, x.lock);
  const LastShown::Write write = {
      .token = x.token,
      .accepted = x.accepted,
      .late = last.lapsed,
      .legitimate = writes_[x.lock].Arrive(x, ledger_.OwnerOf(x.lock), now_)};
  // A protocol with tokens writes to two resources. The one that does not fence accepts
  // everything, so what a leader writes there is no news.
  const bool has_tokens = rules_.token_column.has_value();
  if (!x.fenced && has_tokens && !last.lapsed && write.legitimate) return;
  LastShown::Writes& writes = x.fenced ? last.fenced_write : last.write;
  if (std::exchange(writes.last, write) == write) return CountWrite(writes);
  // The metric counts only stale writes whose token was not judged.
  const std::string_view judged = !has_tokens                       ? ""
                                  : !x.fenced                       ? ", not fenced"
                                  : x.accepted && !write.legitimate ? " by its token"
                                                                    : "";
  const std::string_view kind = !write.legitimate ? "stale "
                                : !x.accepted     ? "legitimate "
                                : write.late      ? "late "
                                                  : "";
  writes.count = 1;
  writes.text = Cat(Prefix(x.lock), kind, "write ", x.accepted ? "accepted" : "refused", judged);
  writes.line = lines_.size();
  const Tone tone = !x.accepted ? Tone::kBad : ToneOf(write.legitimate && !write.late);
  if (!Add(x.process.node, tone, writes.text)) writes.line = kNoLine;
}

void Timeline::CountWrite(LastShown::Writes& writes) {
  if (writes.last->legitimate && writes.last->accepted) return;
  ++writes.count;
  if (writes.line == kNoLine) return;
  lines_[writes.line].text =
      Cat(writes.text, ", ", GroupedText(writes.count), " until ", InstantText(now_));
}

// Only work that outlasts the belief is news: applications that take time to stop.
void Timeline::On(const WorkChanged& x) {
  if (x.at_work || LastShownOf(x.process, x.lock).believes) return;
  if (scenario_.workload.stop_takes.ns == 0) return;
  Add(x.process.node, Tone::kPlain, Cat(Prefix(x.lock), "work has stopped"));
}

// --- helpers -----------------------------------------------------------------------------------

// Which node leads is shown by what happens to it.
int16_t Timeline::NodeOf(const FaultSpec& fault) {
  return fault.node < 0 ? TimelineLine::kSpanner : fault.node;
}

bool Timeline::Add(int16_t node, Tone tone, std::string text) {
  if (lines_.size() >= kMaxLines) {
    ++left_out_;
    return false;
  }
  lines_.push_back({.at = now_,
                    .ordinal = ordinal_,
                    .node = node,
                    .lane = LaneOf(node),
                    .tone = tone,
                    .text = std::move(text)});
  return true;
}

Lane Timeline::LaneOf(int16_t node) const {
  if (node < 0) return Lane::kAbsent;
  const NodeActivity& activity = activities_[static_cast<size_t>(node)];
  if (!activity.runs) return Lane::kAbsent;
  if (activity.beliefs > 0) return activity.paused ? Lane::kPausedBelieving : Lane::kBelieves;
  return activity.paused ? Lane::kPaused : Lane::kRuns;
}

Timeline::LastShown& Timeline::LastShownOf(ProcessId process, uint16_t lock) {
  return last_shown_[static_cast<size_t>(process.node) * scenario_.locks.size() + lock];
}

std::string Timeline::Prefix(uint16_t lock) const {
  return scenario_.locks.size() > 1 ? Cat(names_.Lock(lock), ": ") : std::string();
}

// Initial rows come before all lines, so a later change by nobody is an operator's.
std::string Timeline::WriterText(ProcessId writer) const {
  return writer == ProcessId{} && now_ > Instant{} ? "an operator" : names_.ShortProcess(writer);
}

std::string Timeline::FaultName(uint32_t fault) const {
  const FaultSpec& spec = scenario_.faults[fault];
  const std::string detail = DetailOf(spec.what);
  const std::string place = spec.line > 0 ? Cat(" (line ", std::to_string(spec.line), ")") : "";
  return Cat(FaultKindText(spec.kind()), detail.empty() ? "" : " ", detail, place);
}

}  // namespace whorl::sim
