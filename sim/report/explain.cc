#include "sim/report/explain.h"

#include <algorithm>
#include <functional>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "sim/judge/expectations.h"
#include "sim/report/deed_text.h"
#include "sim/report/history.h"
#include "sim/report/row_text.h"
#include "sim/report/story.h"
#include "sim/scenario/error_text.h"
#include "sim/scenario/names.h"
#include "sim/scenario/number_text.h"
#include "sim/scenario/rules.h"

namespace whorl::sim {
namespace {

constexpr size_t kMaxRound = 10;    // transactions
constexpr size_t kMaxAtTheEnd = 6;  // nodes whose state is told

// The invariant that was violated first, in time; the wanted one where there is such.
const InvariantResult* FirstOf(const CheckReport& checks, std::optional<Invariant> wanted) {
  const InvariantResult* first = nullptr;
  for (const InvariantResult& invariant : checks.invariants) {
    if (!invariant.first || (wanted && invariant.invariant != *wanted)) continue;
    if (first == nullptr || invariant.first->observation < first->first->observation) {
      first = &invariant;
    }
  }
  return first;
}

std::string JoinedWithCommas(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string AfterText(Duration duration) { return Cat(SecondsText(duration, 3), " s"); }

class Teller {
 public:
  Teller(const Scenario& scenario, const InvariantResult& violated, const History& history)
      : scenario_(scenario),
        names_(NamesOf(scenario)),
        rules_(RulesOf(scenario.protocol)),
        violated_(violated),
        history_(history),
        writer_(scenario, history),
        at_(violated.first->at) {}

  Story Tell() {
    FindSubject();
    if (process_ == ProcessId{}) {
      TellOfWedge();
    } else {
      TellOfProcess();
    }
    CollectInvolved();
    TellOfOthers();
    TellOfClocks();
    TellOfFaults();
    TellOfTurnings();
    return Finish();
  }

 private:
  bool IsWedge() const { return violated_.invariant == Invariant::kNoWedge; }
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

  // --- what it is about --------------------------------------------------------------------------

  void FindSubject() {
    if (IsWedge()) {
      lock_ = history_.orphan();
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

  // --- one transaction ---------------------------------------------------------------------------

  void AddDeed(const Deed& deed, Weight weight) {
    if (!told_.insert(&deed).second) return;
    StoryDraft& draft = Add(DeedWriter::TimeOf(deed), weight, deed.process, writer_.TextOf(deed));
    if (!deed.finished && !deed.committed) draft.rank = Rank::kUnfinished;
    if (weight < Weight::kAct) return;
    draft.same = Cat(Name(deed.process), " ", WordOf(deed.step), " ", WordOf(deed.code), " ",
                     deed.rows.empty() ? "" : history_.KeyOf(deed.rows.front()));
  }

  // --- the round ---------------------------------------------------------------------------------

  const Deed* DeedBefore(const Deed& deed, const std::function<bool(const Deed&)>& wanted) const {
    for (const Deed& other : std::views::reverse(history_.deeds())) {
      if (&other == &deed || other.started > deed.started) continue;
      if (other.process == deed.process && other.lock == deed.lock && wanted(other)) return &other;
    }
    return nullptr;
  }

  // A process that acts on a reply at once begins its next transaction when it hears of the last.
  std::vector<const Deed*> RoundOf(const Deed& last) const {
    std::vector<const Deed*> round = {&last};
    while (round.size() < kMaxRound) {
      const Deed& first = *round.front();
      const Deed* before = DeedBefore(first, [&](const Deed& other) {
        return other.finished == first.started &&
               DeedWriter::IsQuestion(other) == DeedWriter::IsQuestion(first);
      });
      if (before == nullptr) break;
      round.insert(round.begin(), before);
    }
    const bool has_read =
        std::ranges::any_of(round, [this](const Deed* deed) { return writer_.IsRead(*deed); });
    if (has_read) return round;
    const Deed& first = *round.front();
    const Deed* read = DeedBefore(first, [&](const Deed& other) {
      return writer_.IsRead(other) && other.finished && *other.finished <= first.started &&
             DeedWriter::IsQuestion(other) == DeedWriter::IsQuestion(first);
    });
    if (read != nullptr) round.insert(round.begin(), read);
    return round;
  }

  bool GrantsTheLock(const Deed& deed) const {
    return std::ranges::any_of(deed.rows, [&](const RowChange& change) {
      return change.takes_the_lock && history_.LockOf(change) == lock_;
    });
  }

  const Deed* LastGrant(ProcessId by, Instant before) const {
    for (const Deed& deed : std::views::reverse(history_.deeds())) {
      const bool is_theirs = by == ProcessId{} || deed.process == by;
      if (is_theirs && deed.committed && *deed.committed <= before && GrantsTheLock(deed)) {
        return &deed;
      }
    }
    return nullptr;
  }

  // By which the violating observation came about.
  const Deed* CauseOf() const {
    const auto* row = std::get_if<RowCommitted>(&history_.last().what);
    const Deed* cause = nullptr;
    for (const Deed& deed : history_.deeds()) {
      if (deed.process != process_) continue;
      if (row != nullptr) {
        if (deed.committed && deed.commit == row->commit) cause = &deed;
      } else if (deed.lock == lock_ && deed.finished) {
        if (cause == nullptr || *deed.finished >= *cause->finished) cause = &deed;
      }
    }
    return cause;
  }

  void TellRound(const Deed& last) {
    for (const Deed* deed : RoundOf(last)) {
      AddDeed(*deed, Weight::kRound);
      from_ = std::min(from_, deed->started);
    }
  }

  void TellOfProcess() {
    from_ = at_;
    const Deed* cause = CauseOf();
    const bool is_commit = std::holds_alternative<RowCommitted>(history_.last().what);
    if (cause != nullptr) TellRound(*cause);
    if (is_commit && cause != nullptr) {
      StoryDraft& event = drafts_.back();
      event.weight = Weight::kEvent;
      event.rank = Rank::kEvent;
      event.text += Mark();
      TellKnowledge(*cause);
      return;
    }
    if (const Deed* grant = LastGrant(process_, at_)) TellRound(*grant);
    Add(at_, Weight::kEvent, process_, EventText() + Mark()).rank = Rank::kEvent;
  }

  std::string Mark() const { return Cat("   <- ", WordOf(violated_.invariant)); }

  std::string EventText() const {
    const Happening& what = history_.last().what;
    if (std::holds_alternative<BeliefChanged>(what)) return "begins to believe that it leads";
    if (const auto* x = std::get_if<QuestionAnswered>(&what)) {
      return AnswerText(x->answer, x->asked_at);
    }
    if (const auto* x = std::get_if<StandingChanged>(&what)) {
      return Cat("takes the token ",
                 x->standing.own_token ? TimeText(ToInstant(*x->standing.own_token)) : "none",
                 " for its own");
    }
    if (const auto* x = std::get_if<WriteArrived>(&what)) {
      return Cat("a write with token ", x->token ? std::to_string(*x->token) : "none", " is ",
                 x->accepted ? "accepted" : "refused");
    }
    return "comes to it";
  }

  static std::string AnswerText(const Answer& answer, Instant asked) {
    return Cat(WordOf(answer.question), ", asked at ", TimeText(asked), ": ",
               answer.yes ? "yes" : "no",
               answer.token ? Cat(", token ", std::to_string(*answer.token)) : "");
  }

  // How old the knowledge was on which a commit was decided, and what it missed.
  void TellKnowledge(const Deed& cause) {
    if (cause.lock != lock_) return;  // it was about another lock's row
    const Deed* read = nullptr;
    for (const Deed* deed : RoundOf(cause)) {
      if (writer_.IsRead(*deed) && deed != &cause) read = deed;
    }
    if (read == nullptr) return;
    std::vector<std::string> writers;
    for (const Deed& deed : history_.deeds()) {
      if (deed.process == process_ || !deed.committed || !IsRelated(deed)) continue;
      if (*deed.committed <= *read->served || *deed.committed >= *cause.committed) continue;
      const std::string name = deed.process == ProcessId{} ? "an operator" : Name(deed.process);
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

  // --- everybody else ----------------------------------------------------------------------------

  bool IsRelated(const Deed& deed) const {
    return std::ranges::any_of(deed.rows, [&](const RowChange& change) {
      return history_.LockOf(change) == lock_ ||
             rules_.is_side_row(scenario_.locks[lock_], history_.KeyOf(change));
    });
  }

  // Whether it did more than to renew what was there.
  bool ChangesMuch(const Deed& deed) const {
    return GrantsTheLock(deed) || std::ranges::any_of(deed.rows, [](const RowChange& change) {
             return change.before.has_value() != change.after.has_value();
           });
  }

  void TellOfWedge() {
    from_ = history_.orphaned_since(lock_).value_or(Instant{});
    if (const Deed* grant = LastGrant({}, from_)) AddDeed(*grant, Weight::kRound);
    for (const Deed& deed : history_.deeds()) {
      if (deed.lock != lock_ || !deed.finished || *deed.finished < from_) continue;
      if (deed.outcome != Outcome::kCommitted && !writer_.IsRead(deed)) AddDeed(deed, Weight::kAct);
    }
    Add(at_, Weight::kEvent, {},
        Cat("nobody has had lock ", scenario_.locks[lock_], " since ", TimeText(from_), Mark()))
        .rank = Rank::kEvent;
  }

  void CollectInvolved() {
    if (IsWedge()) {
      for (size_t i = 0; i < scenario_.nodes.size(); ++i) Involve(static_cast<int16_t>(i));
      return;
    }
    Involve(process_.node);
    for (const Deed* deed : told_) Involve(deed->seen.owner.node);
    for (const Deed& deed : history_.deeds()) {
      if (deed.committed && *deed.committed >= from_ && IsRelated(deed) && ChangesMuch(deed)) {
        Involve(deed.process.node);
      }
    }
    const Deed* grant = LastGrant({}, from_);
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

  void TellOfOthers() {
    for (const Deed& deed : history_.deeds()) {
      if (!deed.committed || *deed.committed < from_ || !IsRelated(deed)) continue;
      AddDeed(deed, ChangesMuch(deed) ? Weight::kAct : Weight::kDetail);
    }
    if (const Deed* grant = LastGrant({}, from_)) AddDeed(*grant, Weight::kContext);
    if (IsWedge()) return;
    for (const ProcessId other : OtherBelievers()) TellOfBeliever(other);
    TellOfOtherAnswers();
  }

  // Why somebody else still believes: what it heard last, and what it waits for.
  void TellOfBeliever(ProcessId other) {
    const Deed* last = nullptr;
    for (const Deed& deed : history_.deeds()) {
      if (deed.process != other || deed.lock != lock_) continue;
      if (!deed.finished && !deed.committed) AddDeed(deed, Weight::kAct);
      if (deed.finished && deed.outcome == Outcome::kCommitted) last = &deed;
    }
    if (last != nullptr) {
      told_.insert(last);
      Add(*last->finished, Weight::kAct, other,
          Cat(WordOf(last->step), " ended well, the last of its transactions to do so"));
    }
    for (const Turning& turning : std::views::reverse(history_.turnings())) {
      if (turning.process != other || turning.lock != lock_) continue;
      if (turning.kind == TurnKind::kBelieves && turning.at < from_) {
        Add(turning.at, Weight::kBelief, other, "begins to believe that it leads");
      }
      break;
    }
  }

  // The last "yes" to somebody else, where the violation is an answer.
  void TellOfOtherAnswers() {
    if (!std::holds_alternative<QuestionAnswered>(history_.last().what)) return;
    for (const Answered& answered : std::views::reverse(history_.answers())) {
      if (answered.lock != lock_ || answered.process == process_ || !answered.answer.yes) continue;
      Add(answered.at, Weight::kAct, answered.process, AnswerText(answered.answer, answered.asked));
      return;
    }
  }

  // What the scenario itself gives Spanner for clocks, where they are wrong.
  void TellOfClocks() {
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

  void TellOfFaults() {
    for (const FaultSpan& span : history_.faults()) {
      if (span.to && *span.to < from_ && !IsForGood(span) && !IsWhyDown(span)) continue;
      const FaultSpec& fault = scenario_.faults[span.fault];
      const bool is_short = span.to == span.from;
      const std::string until = span.to ? Cat(" until ", TimeText(*span.to)) : ", not over yet";
      const bool concerns_all = fault.node == FaultSpec::kNoNode;  // it is Spanner's
      const Weight weight =
          concerns_all || involved_.contains(fault.node) ? Weight::kFault : Weight::kDetail;
      StoryDraft& draft = Add(span.from, weight, {},
                              Cat("fault: ", FaultKindText(fault.kind()), " (line ",
                                  std::to_string(fault.line), ")", is_short ? "" : until));
      draft.who = concerns_all ? "Spanner" : names_.Node(fault.node);
      draft.node = fault.node;
      draft.rank =
          std::holds_alternative<When>(fault.trigger) ? Rank::kTriggeredFault : Rank::kTimedFault;
    }
  }

  // A clock that was set stays so, though the fault is over at once.
  bool IsForGood(const FaultSpan& span) const {
    const FaultSpec& fault = scenario_.faults[span.fault];
    return StaysSet(fault.what) && !LastsOf(fault.what);
  }
  // A crash is over at once, and yet is why a process that took part is not there.
  bool IsWhyDown(const FaultSpan& span) const {
    const int16_t node = scenario_.faults[span.fault].node;
    return involved_.contains(node) && history_.node(node).gone_at == span.from;
  }

  void TellOfTurnings() {
    for (const Turning& turning : history_.turnings()) {
      if (turning.at < from_ || !involved_.contains(turning.process.node)) continue;
      const bool is_belief =
          turning.kind == TurnKind::kBelieves || turning.kind == TurnKind::kLapsed;
      if (is_belief && (turning.lock != lock_ || turning.at == at_)) continue;
      if (!is_belief && IsToldByFault(turning)) continue;
      Add(turning.at, is_belief ? Weight::kBelief : Weight::kContext, turning.process,
          std::string(TurnText(turning.kind)))
          .rank = Rank::kUnfinished;
    }
  }
  bool IsToldByFault(const Turning& turning) const {
    return std::ranges::any_of(history_.faults(), [&](const FaultSpan& span) {
      return scenario_.faults[span.fault].node == turning.process.node && span.from == turning.at;
    });
  }
  static std::string_view TurnText(TurnKind kind) {
    switch (kind) {
      case TurnKind::kStarted:
        return "starts";
      case TurnKind::kStopped:
        return "is told to stop";
      case TurnKind::kGone:
        return "is gone";
      case TurnKind::kContextEnded:
        return "its context ends";
      case TurnKind::kBelieves:
        return "begins to believe that it leads";
      case TurnKind::kLapsed:
        return "believes no longer that it leads";
    }
    return "";
  }

  // --- the whole ---------------------------------------------------------------------------------

  Story Finish() {
    // A deadline is noticed by what happens after it, which is no part of the story.
    std::erase_if(drafts_, [this](const StoryDraft& draft) { return draft.at > at_; });
    Story story{.invariant = std::string(WordOf(violated_.invariant)), .at = at_};
    for (const StoryDraft& draft : FitIn(kMaxStoryLines - 2, std::move(drafts_), story.left_out)) {
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
    std::string text = Cat(WordOf(violated_.invariant), " violated at ", TimeText(at_), " s");
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
  const DeedWriter writer_;
  const Instant at_;
  ProcessId process_;  // nobody for a wedge
  uint16_t lock_ = 0;
  Instant from_;  // when the story begins
  std::vector<StoryDraft> drafts_;
  std::set<const Deed*> told_;
  std::set<int16_t> involved_;
};

}  // namespace

Story StoryOf(const Scenario& scenario, const InvariantResult& violated, const History& history) {
  return Teller(scenario, violated, history).Tell();
}

Story Explain(const Scenario& scenario, const RunResult& result,
              std::optional<Invariant> invariant) {
  return Explain(scenario, result, invariant,
                 [&](ObservationSink& sink) { RunScenario(scenario, result.seed, &sink); });
}

Story Explain(const Scenario& scenario, const RunResult& result, std::optional<Invariant> invariant,
              const Retelling& tell) {
  const InvariantResult* violated = FirstOf(result.checks, invariant);
  if (violated == nullptr) {
    return {.asked = invariant ? std::string(WordOf(*invariant)) : std::string()};
  }
  History history(scenario, violated->first->observation);
  tell(history);
  return StoryOf(scenario, *violated, history);
}

}  // namespace whorl::sim
