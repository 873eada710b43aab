#include "sim/report/explain.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "sim/judge/expectations.h"
#include "sim/report/history.h"
#include "sim/report/row_text.h"
#include "sim/report/story.h"
#include "sim/report/transaction_text.h"
#include "sim/scenario/names.h"
#include "sim/scenario/rules.h"
#include "sim/scenario/writer.h"

namespace whorl::sim {
namespace {

constexpr size_t kMaxRound = 10;    // transactions
constexpr size_t kMaxAtTheEnd = 6;  // nodes whose state the last line shows

std::string JoinedWithCommas(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

class StoryBuilder {
 public:
  StoryBuilder(const Scenario& scenario, const InvariantResult& violated, const History& history,
               const Aftermath* aftermath)
      : scenario_(scenario),
        names_(NamesOf(scenario)),
        rules_(RulesOf(scenario.protocol)),
        violated_(violated),
        history_(history),
        aftermath_(aftermath),
        describer_(scenario, history),
        at_(violated.first->at) {}

  Story Build() {
    FindSubject();
    if (IsHandover()) {
      AddHandover();
    } else if (process_ == ProcessId{}) {
      AddWedge();
    } else {
      AddProcess();
    }
    const TransactionRecord* grant = LastGrant({}, from_);
    term_ = grant == nullptr ? Instant{} : std::min(*grant->committed, from_);
    CollectInvolved();
    AddOthers();
    AddStruck();
    AddClocks();
    AddConfiguration();
    AddFaults();
    AddProcessChanges();
    return Finish();
  }

 private:
  bool IsWedge() const { return violated_.invariant == Invariant::kNoWedge; }
  bool IsHandover() const { return violated_.invariant == Invariant::kPromptHandover; }
  // Nobody has the lock, so that no process is to blame.
  bool IsOfNobody() const { return IsWedge() || (IsHandover() && process_ == ProcessId{}); }
  std::string Name(ProcessId process) const {
    return process == ProcessId{} ? "nobody" : names_.ShortProcess(process);
  }
  StoryDraft& Add(Instant at, Weight weight, ProcessId who, std::string text) {
    drafts_.push_back({.at = at,
                       .node = who.node,
                       .order = drafts_.size(),
                       .weight = weight,
                       .who = who == ProcessId{} ? "" : Name(who),
                       .text = std::move(text),
                       .same = {},
                       .last = at});
    return drafts_.back();
  }

  // --- the subject -----------------------------------------------------------------------------

  void FindSubject() {
    if (IsWedge()) {
      lock_ = history_.orphan();
      return;
    }
    if (IsHandover()) {
      // The last observation only showed that the time was over. The report names the lock in its text alone.
      while (lock_ + 1U < scenario_.locks.size() && !IsToldOf(scenario_.locks[lock_])) ++lock_;
      process_ = history_.holder_before_last(lock_);
      return;
    }
    std::visit(
        [&](const auto& x) {
          if constexpr (requires { x.lock; }) lock_ = x.lock;
          if constexpr (requires { x.process; }) process_ = x.process;
          if constexpr (requires { x.writer; }) process_ = x.writer;
        },
        history_.last().what);
    if (const auto* row = std::get_if<RowCommitted>(&history_.last().what)) {
      lock_ = history_.LockOf({row->before, row->after}).value_or(lock_);
    }
  }

  bool IsToldOf(std::string_view lock) const {
    return violated_.first->text.find(Cat("lock ", Quoted(lock))) != std::string::npos;
  }

  // --- one transaction -------------------------------------------------------------------------

  void AddTransaction(const TransactionRecord& record, Weight weight) {
    if (!added_.insert(&record).second) return;
    StoryDraft& draft = Add(TransactionDescriber::TimeOf(record), weight, record.process,
                            describer_.TextOf(record));
    if (!record.finished && !record.committed) draft.rank = Rank::kUnfinished;
    if (weight < Weight::kAct) return;
    draft.same = Cat(Name(record.process), " ", WordOf(record.step), " ", WordOf(record.code), " ",
                     record.rows.empty() ? "" : history_.KeyOf(record.rows.front()));
  }

  // --- the round -------------------------------------------------------------------------------

  const TransactionRecord* TransactionBefore(
      const TransactionRecord& record,
      const std::function<bool(const TransactionRecord&)>& wanted) const {
    for (const TransactionRecord& other : std::views::reverse(history_.transactions())) {
      if (&other == &record || other.started > record.started) continue;
      if (other.process == record.process && other.lock == record.lock && wanted(other)) {
        return &other;
      }
    }
    return nullptr;
  }

  // The consecutive transactions that end with `last`: a process that acts on a reply at once
  // begins its next transaction at the instant at which the one before finishes.
  std::vector<const TransactionRecord*> RoundOf(const TransactionRecord& last) const {
    std::vector<const TransactionRecord*> round = {&last};
    while (round.size() < kMaxRound) {
      const TransactionRecord& first = *round.front();
      const TransactionRecord* before =
          TransactionBefore(first, [&](const TransactionRecord& other) {
            return other.finished == first.started && TransactionDescriber::IsQuestion(other) ==
                                                          TransactionDescriber::IsQuestion(first);
          });
      if (before == nullptr) break;
      round.insert(round.begin(), before);
    }
    const bool has_read = std::ranges::any_of(
        round, [this](const TransactionRecord* record) { return describer_.IsRead(*record); });
    if (has_read) return round;
    const TransactionRecord& first = *round.front();
    const TransactionRecord* read = TransactionBefore(first, [&](const TransactionRecord& other) {
      return describer_.IsRead(other) && other.finished && *other.finished <= first.started &&
             TransactionDescriber::IsQuestion(other) == TransactionDescriber::IsQuestion(first);
    });
    if (read != nullptr) round.insert(round.begin(), read);
    return round;
  }

  bool GrantsTheLock(const TransactionRecord& record) const {
    return std::ranges::any_of(record.rows, [&](const RowChange& change) {
      return change.takes_the_lock && history_.LockOf(change) == lock_;
    });
  }

  const TransactionRecord* LastGrant(ProcessId by, Instant before) const {
    for (const TransactionRecord& record : std::views::reverse(history_.transactions())) {
      const bool is_theirs = by == ProcessId{} || record.process == by;
      if (is_theirs && record.committed && *record.committed <= before && GrantsTheLock(record)) {
        return &record;
      }
    }
    return nullptr;
  }

  // The transaction that led to the violating observation; null if there is none.
  const TransactionRecord* CauseOf() const {
    const auto* row = std::get_if<RowCommitted>(&history_.last().what);
    const TransactionRecord* cause = nullptr;
    for (const TransactionRecord& record : history_.transactions()) {
      if (record.process != process_) continue;
      if (row != nullptr) {
        if (record.committed && record.commit == row->commit) cause = &record;
      } else if (record.lock == lock_ && record.finished) {
        if (cause == nullptr || *record.finished >= *cause->finished) cause = &record;
      }
    }
    return cause;
  }

  void AddRound(const TransactionRecord& last) {
    for (const TransactionRecord* record : RoundOf(last)) {
      AddTransaction(*record, Weight::kRound);
      from_ = std::min(from_, record->started);
    }
  }

  void AddProcess() {
    from_ = at_;
    const TransactionRecord* cause = CauseOf();
    const bool is_commit = std::holds_alternative<RowCommitted>(history_.last().what);
    if (cause != nullptr) AddRound(*cause);
    if (is_commit && cause != nullptr) {
      StoryDraft& event = drafts_.back();
      event.weight = Weight::kEvent;
      event.rank = Rank::kEvent;
      event.text += Mark();
      AddKnowledge(*cause);
      return;
    }
    if (const TransactionRecord* grant = LastGrant(process_, at_)) AddRound(*grant);
    Add(at_, Weight::kEvent, process_, EventText() + Mark()).rank = Rank::kEvent;
  }

  std::string Mark() const { return Cat("   <- ", WordOf(violated_.invariant)); }

  std::string EventText() const {
    const ObservedEvent& what = history_.last().what;
    if (std::holds_alternative<BeliefChanged>(what)) return "begins to believe that it leads";
    if (const auto* x = std::get_if<QuestionAnswered>(&what)) {
      return AnswerText(x->answer, x->asked_at);
    }
    if (const auto* x = std::get_if<LeadershipViewChanged>(&what)) {
      return Cat("takes the token ",
                 x->standing.own_token ? TokenText(*x->standing.own_token) : "none",
                 " for its own");
    }
    if (const auto* x = std::get_if<WorkChanged>(&what)) {
      return x->at_work ? "begins work" : "ends work";
    }
    if (const auto* x = std::get_if<WriteArrived>(&what)) {
      return Cat("a write with token ", x->token ? std::to_string(*x->token) : "none", " is ",
                 x->accepted ? "accepted" : "refused");
    }
    return "comes to it";
  }

  static std::string AnswerText(const Answer& answer, Instant asked) {
    return Cat(WordOf(answer.question), ", asked at ", InstantText(asked), ": ",
               answer.yes ? "yes" : "no",
               answer.token ? Cat(", token ", std::to_string(*answer.token)) : "");
  }

  // Adds how old the read was on which a commit was based, and who changed the rows since.
  void AddKnowledge(const TransactionRecord& cause) {
    if (cause.lock != lock_) return;  // the transaction was for another lock
    const TransactionRecord* read = nullptr;
    for (const TransactionRecord* record : RoundOf(cause)) {
      if (describer_.IsRead(*record) && record != &cause) read = record;
    }
    if (read == nullptr) return;
    std::vector<std::string> writers;
    for (const TransactionRecord& record : history_.transactions()) {
      if (record.process == process_ || !record.committed || !IsRelated(record)) continue;
      if (*record.committed <= *read->served || *record.committed >= *cause.committed) continue;
      const std::string name = record.process == ProcessId{} ? "an operator" : Name(record.process);
      if (std::ranges::find(writers, name) == writers.end()) writers.push_back(name);
    }
    const std::string since =
        writers.empty() ? "nobody else has changed these rows since"
                        : Cat(JoinedWithCommas(writers), writers.size() > 1 ? " have" : " has",
                              " changed these rows since");
    Add(at_, Weight::kEvent, process_,
        Cat("its last look (", WordOf(read->step), ") was ",
            AfterText(*cause.committed - *read->served), " before, and ", since))
        .rank = Rank::kEvent;
  }

  // --- other processes -------------------------------------------------------------------------

  bool IsRelated(const TransactionRecord& record) const {
    return std::ranges::any_of(record.rows, [&](const RowChange& change) {
      return history_.LockOf(change) == lock_ ||
             rules_.is_side_row(scenario_.locks[lock_], history_.KeyOf(change));
    });
  }

  // Whether the transaction did more than renew a lease.
  bool ChangesMuch(const TransactionRecord& record) const {
    return GrantsTheLock(record) || std::ranges::any_of(record.rows, [](const RowChange& change) {
             return change.before.has_value() != change.after.has_value();
           });
  }

  void AddWedge() {
    from_ = history_.orphaned_since(lock_).value_or(Instant{});
    if (const TransactionRecord* grant = LastGrant({}, from_)) {
      AddTransaction(*grant, Weight::kRound);
    }
    for (const TransactionRecord& record : history_.transactions()) {
      if (record.lock != lock_ || !record.finished || *record.finished < from_) continue;
      if (record.outcome != Outcome::kCommitted && !describer_.IsRead(record)) {
        AddTransaction(record, Weight::kAct);
      }
    }
    Add(at_, Weight::kEvent, {},
        Cat("nobody has had lock ", Quoted(scenario_.locks[lock_]), " since ", InstantText(from_),
            Mark()))
        .rank = Rank::kEvent;
  }

  // A lock was not given back by the process that holds it, or nobody has taken it since it was.
  void AddHandover() {
    from_ = IsOfNobody() ? GivenBackAt() : PartEndedAt();
    for (const TransactionRecord& record : history_.transactions()) {
      const bool is_theirs = IsOfNobody() || record.process == process_;
      if (record.lock != lock_ || record.started < from_ || !is_theirs) continue;
      const bool has_failed = !record.finished || record.outcome != Outcome::kCommitted;
      if (has_failed && !describer_.IsRead(record)) AddTransaction(record, Weight::kAct);
    }
    const std::string lock = Quoted(scenario_.locks[lock_]);
    if (IsOfNobody()) {
      Add(at_, Weight::kEvent, {},
          Cat("nobody has taken lock ", lock, " since it was given back", Mark()))
          .rank = Rank::kEvent;
      return;
    }
    const LastEnds ends = history_.last_ends(process_, lock_);
    if (ends.work && *ends.work >= from_) {
      Add(*ends.work, Weight::kBelief, process_, "its work has stopped");
    }
    if (ends.loss && *ends.loss >= from_) {
      Add(*ends.loss, Weight::kBelief, process_,
          Cat("notes that it lost the lock", ends.why_lost.empty() ? "" : ": ", ends.why_lost));
    }
    Add(at_, Weight::kEvent, process_, Cat("has not given lock ", lock, " back", Mark())).rank =
        Rank::kEvent;
  }

  // When the last change released the lock's row, or deleted it.
  Instant GivenBackAt() const {
    for (const TransactionRecord& record : std::views::reverse(history_.transactions())) {
      const bool is_of_lock = std::ranges::any_of(record.rows, [&](const RowChange& change) {
        return history_.LockOf(change) == lock_ &&
               (!change.after || rules_.is_released(*change.after));
      });
      if (is_of_lock && record.committed && *record.committed <= at_) return record.started;
    }
    return at_;
  }
  // When the process was told to end its part in the lock, or ceased to believe, whichever came first.
  Instant PartEndedAt() const {
    Instant from = at_;
    for (const ProcessChange& change : std::views::reverse(history_.process_changes())) {
      if (change.process != process_) continue;
      const bool is_of_process = change.kind == ProcessChangeKind::kStopped;
      const bool is_of_lock =
          change.lock == lock_ && (change.kind == ProcessChangeKind::kLapsed ||
                                   change.kind == ProcessChangeKind::kContextEnded);
      if (is_of_process || is_of_lock) {
        from = change.at;
      } else if (change.lock == lock_ && change.kind == ProcessChangeKind::kBelieves) {
        break;  // what came before was of another term
      }
    }
    return from;
  }

  void CollectInvolved() {
    if (IsOfNobody()) {
      for (size_t i = 0; i < scenario_.nodes.size(); ++i) Involve(static_cast<int16_t>(i));
      return;
    }
    Involve(process_.node);
    for (const TransactionRecord* record : added_) Involve(record->seen.owner.node);
    for (const TransactionRecord& record : history_.transactions()) {
      if (record.committed && *record.committed >= from_ && IsRelated(record) &&
          ChangesMuch(record)) {
        Involve(record.process.node);
      }
    }
    const TransactionRecord* grant = LastGrant({}, from_);
    if (grant != nullptr) Involve(grant->process.node);
    for (const ProcessId other : OtherBelievers()) Involve(other.node);
  }
  void Involve(int16_t node) {
    if (node >= 0) involved_.insert(node);
  }

  std::vector<ProcessId> OtherBelievers() const {
    std::vector<ProcessId> others;
    for (size_t i = 0; i < scenario_.nodes.size(); ++i) {
      const ProcessId other = history_.node(static_cast<int16_t>(i)).process;
      if (other != process_ && history_.Believes(other, lock_)) others.push_back(other);
    }
    return others;
  }

  void AddOthers() {
    for (const TransactionRecord& record : history_.transactions()) {
      if (!record.committed || *record.committed < from_ || !IsRelated(record)) continue;
      AddTransaction(record, ChangesMuch(record) ? Weight::kAct : Weight::kDetail);
    }
    if (const TransactionRecord* grant = LastGrant({}, from_)) {
      AddTransaction(*grant, Weight::kContext);
    }
    if (IsOfNobody()) return;
    for (const ProcessId other : OtherBelievers()) AddBeliever(other);
    if (!IsHandover()) AddOtherAnswer();
  }

  // Adds the transactions of the last term before the story that failed, that had to wait, or of which their process
  // heard late or nothing.
  void AddStruck() {
    for (const TransactionRecord& record : history_.transactions()) {
      if (record.lock != lock_ || record.started < term_ || record.started >= from_) continue;
      if (!involved_.contains(record.process.node)) continue;
      const bool is_well = record.finished && record.outcome == Outcome::kCommitted;
      const bool is_late =
          is_well && record.committed && *record.finished - *record.committed > kNoticeable;
      if (is_well && !is_late && record.waited < kNoticeable) continue;
      AddTransaction(record, Weight::kContext);
    }
  }

  // Adds why another process still believes: what it heard last, and what it waits for.
  void AddBeliever(ProcessId other) {
    const TransactionRecord* last = nullptr;
    for (const TransactionRecord& record : history_.transactions()) {
      if (record.process != other || record.lock != lock_) continue;
      if (!record.finished && !record.committed) AddTransaction(record, Weight::kAct);
      if (record.finished && record.outcome == Outcome::kCommitted) last = &record;
    }
    // A reply that came long after its commit is why a process believes for too long.
    if (last != nullptr && last->committed && *last->finished - *last->committed > kNoticeable) {
      AddTransaction(*last, Weight::kAct);
    }
    if (last != nullptr) {
      added_.insert(last);
      Add(*last->finished, Weight::kAct, other,
          Cat(WordOf(last->step), " ended well, the last of its transactions to do so"));
    }
    for (const ProcessChange& change : std::views::reverse(history_.process_changes())) {
      if (change.process != other || change.lock != lock_) continue;
      if (change.kind == ProcessChangeKind::kBelieves && change.at < from_) {
        Add(change.at, Weight::kBelief, other, "begins to believe that it leads");
      }
      break;
    }
  }

  // If the violation is an answer, adds the last "yes" to another process.
  void AddOtherAnswer() {
    if (!std::holds_alternative<QuestionAnswered>(history_.last().what)) return;
    for (const Answered& answered : std::views::reverse(history_.answers())) {
      if (answered.lock != lock_ || answered.process == process_ || !answered.answer.yes) continue;
      Add(answered.at, Weight::kAct, answered.process, AnswerText(answered.answer, answered.asked));
      return;
    }
  }

  // Adds the errors of Spanner's clocks that the scenario starts with.
  void AddClocks() {
    const SpannerSpec& spanner = scenario_.spanner;
    std::string text;
    if (spanner.current_timestamp_error != Duration{}) {
      text = Cat("CURRENT_TIMESTAMP is wrong by ", FormatDuration(spanner.current_timestamp_error));
    }
    if (!spanner.truetime.truthful) {
      text += Cat(text.empty() ? "" : ", ", "TrueTime is wrong by ",
                  FormatDuration(spanner.truetime.error));
    }
    if (!text.empty()) Add(Instant{}, Weight::kContext, {}, text).who = "Spanner";
  }

  // Adds settings of the nodes that took part that are wrong or differ: causes that no event shows.
  void AddConfiguration() {
    for (const int16_t node : involved_) {
      const NodeSpec& spec = scenario_.nodes[static_cast<size_t>(node)];
      std::vector<std::string> parts;
      if (spec.clock.offset != Duration{}) {
        parts.push_back(Cat("its wall clock is ", FormatDuration({std::abs(spec.clock.offset.ns)}),
                            spec.clock.offset > Duration{} ? " ahead" : " behind"));
      }
      if (spec.clock.rate_ppm != 0) {
        parts.push_back(Cat("its clocks run ", std::to_string(std::abs(spec.clock.rate_ppm)),
                            " ppm ", spec.clock.rate_ppm > 0 ? "fast" : "slow"));
      }
      if (DiffersFromInvolved(node, &NodeSpec::lease)) {
        parts.push_back(Cat("its lease is ", FormatDuration(spec.lease)));
      }
      for (const int16_t other : involved_) {
        const NodeSpec& another = scenario_.nodes[static_cast<size_t>(other)];
        if (other == node || spec.id.empty() || another.id != spec.id) continue;
        parts.push_back(Cat("its id is ", Quoted(spec.id), ", as is that of ", another.name));
      }
      for (const std::string& part : parts) {
        StoryDraft& draft = Add(Instant{}, Weight::kContext, {}, part);
        draft.who = spec.name;
        draft.node = node;
      }
    }
  }
  template <typename Field>
  bool DiffersFromInvolved(int16_t node, Field field) const {
    return std::ranges::any_of(involved_, [&](int16_t other) {
      return scenario_.nodes[static_cast<size_t>(other)].*field !=
             scenario_.nodes[static_cast<size_t>(node)].*field;
    });
  }

  void AddFaults() {
    for (const FaultSpan& span : history_.faults()) {
      const FaultSpec& fault = scenario_.faults[span.fault];
      const bool is_over = span.to && *span.to < from_ && !IsForGood(span) && !IsWhyDown(span);
      const bool concerns_all = fault.node < 0;  // it is Spanner's, or the leader's
      const bool is_close = concerns_all || involved_.contains(fault.node);
      if (is_over && (span.from < term_ || !is_close)) continue;
      const bool is_short = span.to == span.from;
      const std::string until = span.to ? Cat(" until ", InstantText(*span.to)) : ", not over yet";
      const Weight weight = is_over    ? Weight::kContext
                            : is_close ? Weight::kFault
                                       : Weight::kDetail;
      const std::string keys = FaultKeysText(fault, scenario_);
      StoryDraft& draft =
          Add(span.from, weight, {},
              Cat("fault: ", FaultKindText(fault.kind()), keys.empty() ? "" : ", ", keys, " (line ",
                  std::to_string(fault.line), ")", is_short ? "" : until));
      draft.who = fault.node == FaultSpec::kLeader ? std::string(kLeaderWord)
                  : concerns_all                   ? "Spanner"
                                                   : names_.Node(fault.node);
      draft.node = concerns_all ? FaultSpec::kNoNode : fault.node;
      draft.rank =
          std::holds_alternative<When>(fault.trigger) ? Rank::kTriggeredFault : Rank::kTimedFault;
    }
  }

  // Whether the fault sets a clock for good: its effect stays although the fault ends at once.
  bool IsForGood(const FaultSpan& span) const {
    const FaultSpec& fault = scenario_.faults[span.fault];
    return StaysSet(fault.what) && !LastsOf(fault.what);
  }
  // Whether the fault is the reason why a process that took part is down, such as a crash, which
  // ends at once.
  bool IsWhyDown(const FaultSpan& span) const {
    const int16_t node = scenario_.faults[span.fault].node;
    return involved_.contains(node) && history_.node(node).gone_at == span.from;
  }

  void AddProcessChanges() {
    for (const ProcessChange& change : history_.process_changes()) {
      if (change.at < from_ || !involved_.contains(change.process.node)) continue;
      const bool is_belief =
          change.kind == ProcessChangeKind::kBelieves || change.kind == ProcessChangeKind::kLapsed;
      if (is_belief && (change.lock != lock_ || change.at == at_)) continue;
      if (!is_belief && IsExplainedByFault(change)) continue;
      Add(change.at, is_belief ? Weight::kBelief : Weight::kContext, change.process,
          std::string(ProcessChangeText(change.kind)))
          .rank = Rank::kUnfinished;
    }
  }
  bool IsExplainedByFault(const ProcessChange& change) const {
    return std::ranges::any_of(history_.faults(), [&](const FaultSpan& span) {
      return scenario_.faults[span.fault].node == change.process.node && span.from == change.at;
    });
  }
  static std::string_view ProcessChangeText(ProcessChangeKind kind) {
    switch (kind) {
      case ProcessChangeKind::kStarted:
        return "starts";
      case ProcessChangeKind::kStopped:
        return "is told to stop";
      case ProcessChangeKind::kGone:
        return "is gone";
      case ProcessChangeKind::kContextEnded:
        return "its context ends";
      case ProcessChangeKind::kBelieves:
        return "begins to believe that it leads";
      case ProcessChangeKind::kLapsed:
        return "believes no longer that it leads";
    }
    return "";
  }

  // --- the whole story -------------------------------------------------------------------------

  Story Finish() {
    // A missed deadline is noticed by a later event, which is not part of the story.
    std::erase_if(drafts_, [this](const StoryDraft& draft) { return draft.at > at_; });
    Story story{.invariant = std::string(WordOf(violated_.invariant)), .at = at_};
    if (aftermath_ != nullptr && !IsOfNobody()) story.after = aftermath_->Lines(lock_);
    const size_t room = kMaxStoryLines - 2 - story.after.size();
    for (const StoryDraft& draft : FitIn(room, std::move(drafts_), story.left_out)) {
      Involve(draft.node);
      story.lines.push_back({.at = draft.at, .who = draft.who, .text = draft.Text()});
    }
    story.head = HeadText();
    story.end = EndText();
    return story;
  }

  std::string HeadText() const {
    std::vector<std::string> others;
    for (const int16_t node : involved_) {
      if (node != process_.node) others.push_back(names_.Node(node));
    }
    if (others.size() > kMaxAtTheEnd) {
      const std::string rest = std::to_string(others.size() - kMaxAtTheEnd);
      others.resize(kMaxAtTheEnd);
      others.push_back(Cat(rest, " more"));
    }
    std::string text = Cat(WordOf(violated_.invariant), " violated at ", InstantText(at_), " s");
    if (process_ != ProcessId{}) text += Cat(" by ", Name(process_));
    if (!others.empty()) text += Cat(" (", JoinedWithCommas(others), " took part)");
    return Cat(text, ": ", violated_.first->text);
  }

  std::string EndText() const {
    std::vector<std::string> parts;
    for (const int16_t node : involved_) {
      if (parts.size() == kMaxAtTheEnd) break;
      parts.push_back(Cat(names_.Node(node), " ", StateText(history_.node(node))));
    }
    std::vector<std::string> believers;
    for (const ProcessId other : OtherBelievers()) believers.push_back(Name(other));
    if (process_ != ProcessId{} && history_.Believes(process_, lock_)) {
      believers.insert(believers.begin(), Name(process_));
    }
    const std::string belief = believers.empty() ? "nobody believes that it leads"
                               : believers.size() == 1
                                   ? Cat(believers.front(), " believes that it leads")
                                   : Cat(JoinedWithCommas(believers), " believe that they lead");
    std::string text;
    for (const std::string& part : parts) text += part + "; ";
    return text + belief;
  }
  static std::string StateText(const History::NodeState& node) {
    if (node.process == ProcessId{}) return "has not started";
    if (!node.runs) return node.crashed ? "has crashed" : "is gone";
    std::string text = node.paused ? "is paused" : node.stopped ? "was told to stop" : "runs";
    if (node.link_to != LinkState::kUp || node.link_from != LinkState::kUp) {
      text += ", cut off from Spanner";
    }
    return text;
  }

  const Scenario& scenario_;
  const Names names_;
  const Rules& rules_;
  const InvariantResult& violated_;
  const History& history_;
  const Aftermath* aftermath_;  // may be null
  const TransactionDescriber describer_;
  const Instant at_;
  ProcessId process_;  // nobody for a wedge, and if nobody has taken a lock that was given back
  uint16_t lock_ = 0;
  Instant from_;  // when the story begins
  Instant term_;  // when the lock was last granted before that
  std::vector<StoryDraft> drafts_;
  std::set<const TransactionRecord*> added_;
  std::set<int16_t> involved_;
};

// Hears a run once for both.
struct HistoryAndAftermath : public ObservationSink {
  HistoryAndAftermath(const Scenario& scenario, uint64_t last)
      : history(scenario, last), aftermath(scenario, last) {}

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override {
    history.Hear(observation, ordinal, hash);
    aftermath.Hear(observation, ordinal, hash);
  }

  History history;
  Aftermath aftermath;
};

}  // namespace

const InvariantResult* FirstViolated(const CheckReport& checks, std::optional<Invariant> wanted) {
  const InvariantResult* first = nullptr;
  for (const InvariantResult& invariant : checks.invariants) {
    if (!invariant.first || (wanted && invariant.invariant != *wanted)) continue;
    if (first == nullptr || invariant.first->observation < first->first->observation) {
      first = &invariant;
    }
  }
  return first;
}

Story StoryOf(const Scenario& scenario, const InvariantResult& violated, const History& history,
              const Aftermath* aftermath) {
  return StoryBuilder(scenario, violated, history, aftermath).Build();
}

Story Explain(const Scenario& scenario, const RunResult& result,
              std::optional<Invariant> invariant) {
  return Explain(scenario, result, invariant,
                 [&](ObservationSink& sink) { RunScenario(scenario, result.seed, &sink); });
}

Story Explain(const Scenario& scenario, const RunResult& result, std::optional<Invariant> invariant,
              const Replay& replay) {
  const InvariantResult* violated = FirstViolated(result.checks, invariant);
  if (violated == nullptr) {
    return {.asked = invariant ? std::string(WordOf(*invariant)) : std::string()};
  }
  HistoryAndAftermath heard(scenario, violated->first->observation);
  replay(heard);
  return StoryOf(scenario, *violated, heard.history, &heard.aftermath);
}

}  // namespace whorl::sim
