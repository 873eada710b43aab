#include "check/check.h"

#include <algorithm>

#include "base/text.h"
#include "check/no_protocol.h"
#include "check/relative_time.h"

namespace whorl::check {
namespace {

constexpr size_t kProblems = 20;
// In the order of operations of one time, rows come last.
constexpr uint64_t kRow = uint64_t{1} << 63;

// Why histories do not show it, or nothing if they do.
std::string_view WhyNotJudged(Invariant invariant) {
  switch (invariant) {
    case Invariant::kIsolation:
      return "for which lock a process wrote a row is not recorded";
    case Invariant::kPacedCalls:
      return "what a process sent in vain is not recorded";
    case Invariant::kToldOfLeadership:
      return "what the application was told, and when, is not recorded beside what its process "
             "knew";
    case Invariant::kAnsweredInTime:
      return "a question that was never answered is not recorded";
    case Invariant::kReasonedStepDown:
      return "what a process saw of its row, and when it sent a renewal, is not recorded";
    case Invariant::kPromptHandover:
      return "who could have taken the lock, and what disturbed it, is not recorded";
    case Invariant::kOneLiveToken:
    case Invariant::kHasLockTruthful:
    case Invariant::kNoWedge:
    case Invariant::kNoWorkAfterRelease:
    case Invariant::kTokenMonotonic:
    case Invariant::kHandedTokenMonotonic:
    case Invariant::kFencedWritesOrdered:
    case Invariant::kLeaseRespected:
    case Invariant::kSingleLeaderBelief:
    case Invariant::kSingleWorker:
      break;
  }
  return {};
}

// Whether a line that something ended says that there is a line of its beginning.
bool WantsBeginning(const LogLine& log_line) { return log_line.ends && !log_line.lock.empty(); }

Duration Greatest(Offsets offsets) {
  return std::max(offsets.most < Duration{} ? -offsets.most : offsets.most,
                  offsets.least < Duration{} ? -offsets.least : offsets.least);
}

}  // namespace

bool CanJudge(const ProtocolInfo& protocol) {
  return IsNone(protocol) || !protocol.holder_columns.holder.empty();
}

Checker::Checker(const ProtocolInfo& protocol, CheckOptions options)
    : protocol_(protocol),
      options_(options),
      has_tokens_(protocol.has_tokens),
      gives_back_(protocol.promises[static_cast<size_t>(Invariant::kNoWorkAfterRelease)] !=
                  Promise::kNotApplicable),
      ownership_(!protocol.holder_columns.lock.empty()),
      lines_{.releases = Releases(processes_),
             .beliefs = Spans(Invariant::kSingleLeaderBelief, Kind::kLeading,
                              "believed that it leads", processes_, ownership_),
             .work = Spans(Invariant::kSingleWorker, Kind::kWorking, "was at work under",
                           processes_, ownership_),
             .handed = HandedTokens(processes_),
             .accepted = {},
             .answers = Answers(processes_, ownership_),
             .own_tokens = OwnTokens(processes_, ownership_)},
      rows_(protocol, options.lease, processes_, ownership_, lines_.releases) {}

LineJudge* Checker::LineJudges::At(Invariant invariant) {
  switch (invariant) {
    case Invariant::kSingleLeaderBelief:
      return &beliefs;
    case Invariant::kSingleWorker:
      return &work;
    case Invariant::kHandedTokenMonotonic:
      return &handed;
    case Invariant::kFencedWritesOrdered:
      return &accepted;
    case Invariant::kHasLockTruthful:
      return &answers;
    case Invariant::kNoWorkAfterRelease:
      return &releases;
    case Invariant::kOneLiveToken:
      return &own_tokens;
    case Invariant::kTokenMonotonic:
    case Invariant::kLeaseRespected:
    case Invariant::kIsolation:
    case Invariant::kNoWedge:
    case Invariant::kPacedCalls:
    case Invariant::kToldOfLeadership:
    case Invariant::kAnsweredInTime:
    case Invariant::kReasonedStepDown:
    case Invariant::kPromptHandover:
      break;
  }
  return nullptr;
}

Process& Checker::Known(const std::string& name) {
  if (Process* known = processes_.Find(name)) return *known;
  Process& process = processes_.At(name);
  if (options_.clock_error) {
    process.clock.Declare({.least = -*options_.clock_error, .most = *options_.clock_error});
    process.clock_is_assumed = true;
    Learn(*options_.clock_error);
  }
  return process;
}

void Checker::Learn(Duration offset) {
  if (has_forgotten_ && offset > processes_.clock_most() + options_.window) {
    MissingLines("a clock was found to be further off than the window when others had been judged",
                 "declare the clocks first (--clocks FILE), or allow a greater --window");
  }
  processes_.Learn(offset);
}

void Checker::MissingLines(const std::string& because, const std::string& remedy) {
  lines_.ForEach([&](LineJudge& judge) { judge.Missing(because, remedy); });
}

void Checker::AddUnclear(const std::string& because, const std::string& remedy) {
  unclear_ = because;
  MissingLines(because, remedy);
}

void AddUnclear(const RecordCounts& counts, Checker& checker) {
  checker.AddColumns(counts.shown_columns());
  for (const RecordCounts::Passed& passed : counts.passed()) {
    if (passed.bearing != Bearing::kMayDecide) continue;
    const std::string example = passed.words.empty()
                                    ? std::string()
                                    : Cat(", such as ", Quoted(passed.words.front().first));
    checker.AddUnclear(Cat(passed.reason, ": ", std::to_string(passed.count),
                           passed.count == 1 ? " record" : " records", example),
                       "add what finds them, or say what of them matters (docs/CHECKING.md)");
  }
}

void Checker::AddColumns(const std::set<std::string_view>& shown) {
  // Of what was not read from change records it is known.
  if (shown.empty()) return;
  const HolderColumns& columns = protocol_.holder_columns;
  for (const std::string_view name :
       {columns.holder, columns.token, columns.renewed, columns.until, columns.lease}) {
    if (name.empty() || shown.contains(name)) continue;
    const std::string why = Cat("no record of a change shows the column ", name);
    AddMissing(why, std::string(Rows::kRecordAll));
    unclear_ = unclear_rows_ = why;
  }
}

void Checker::AddUnread(const Place& place) {
  AddMissing(Cat(place.file, ":", std::to_string(place.line), " could not be read"),
             "mend the line, or leave it out if it is none of the history's");
}

void Checker::AddMissing(const std::string& because, const std::string& remedy) {
  rows_.Missing(because, remedy);
  MissingLines(because, remedy);
}

void Checker::Problem(const Place& place, std::string text) {
  if (problems_.size() >= kProblems) return;
  const std::string where =
      place.line == 0 ? std::string() : Cat(place.file, ":", std::to_string(place.line), ": ");
  problems_.push_back(Cat(where, text));
}

void Checker::Add(Operation operation) {
  if (const auto* declared = std::get_if<ProcessDeclaration>(&operation.what)) {
    return On(*declared, operation.place);
  }
  ++added_;
  Key key;
  if (const auto* row = std::get_if<RowChange>(&operation.what)) {
    key = {row->commit, kRow + added_};
  } else if (const auto* log_line = std::get_if<LogLine>(&operation.what)) {
    key = {log_line->at, log_line->number ? static_cast<uint64_t>(*log_line->number) : added_};
  } else {
    const auto& commit_record = std::get<CommitRecord>(operation.what);
    key = {commit_record.commit, added_};
    // As a line of the process it stands where the reply came.
    Add({.place = operation.place,
         .what = LogLine{.process = commit_record.process,
                         .lock = commit_record.lock,
                         .at = commit_record.received,
                         .number = commit_record.number,
                         .statement = Statement::kOther,
                         .lapses_in = {},
                         .token = {},
                         .sender = commit_record.sender,
                         .is_call = true}});
  }
  if (taken_ && key.first < *taken_) {
    ++metrics_.late;
    if (const auto* row = std::get_if<RowChange>(&operation.what)) rows_.AddLate(*row);
    if (const auto* log_line = std::get_if<LogLine>(&operation.what)) {
      const std::string why = Cat("a line of ", log_line->process, " at ", TimeText(log_line->at),
                                  " came after later ones were judged");
      MissingLines(why, "sort the lines, or allow a greater --window");
    }
    return;
  }
  // Most come in order.
  waiting_.emplace_hint(waiting_.end(), key, std::move(operation));
  if (!options_.waits_for_advance) Advance(key.first);
}

void Checker::Advance(Timestamp at) {
  newest_ = newest_ ? std::max(*newest_, at) : at;
  TakeWaiting();
}

void Checker::TakeWaiting() {
  while (!waiting_.empty() && waiting_.begin()->first.first < *newest_ - options_.window) {
    taken_ = waiting_.begin()->first.first;
    Take(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
  }
}

void Checker::Take(const Operation& operation) {
  if (const auto* row = std::get_if<RowChange>(&operation.what)) return On(*row);
  if (const auto* log_line = std::get_if<LogLine>(&operation.what))
    return On(*log_line, operation.place);
  On(std::get<CommitRecord>(operation.what), operation.place);
}

void Checker::On(const RowChange& change) {
  if (rows_.IsAgain(change)) {
    ++metrics_.duplicates;
    return;
  }
  rows_.Add(change, metrics_);
  // A stream without lines of processes is endless, too.
  constexpr int64_t kOften = 1024;
  if (metrics_.row_changes % kOften != 0) return;
  const Timestamp watermark = change.commit - options_.window - processes_.clock_most();
  ownership_.Forget(lines_.own_tokens.Needed(lines_.answers.Needed(watermark)));
}

bool Checker::FollowNumbers(Process& process, const LogLine& log_line, const Place& place) {
  if (!process.has_restarted) return false;
  // It goes on in the file of the process that had logged its own start there before.
  if (!process.file_before.empty() && place.file == process.file_before &&
      place.file != process.file_of_start) {
    return true;
  }
  // Numbers that fall may also be of a third process, whose first lines are missing. Two that go on in turns,
  // each exactly where it had stopped, are of two.
  const bool goes_on = log_line.number == process.number.value_or(0) + 1;
  const bool is_of_before =
      !goes_on && process.number_before && log_line.number == *process.number_before + 1;
  if (is_of_before) {
    std::swap(process.number, process.number_before);
    ++process.turns;
  } else if (!goes_on) {
    process.turns = 0;
  }
  return process.turns > 1;
}

void Checker::TwoProcesses(Process& process, const LogLine& log_line, const Place& place) {
  const std::string& name = log_line.process;
  if (!std::exchange(process.is_two, true)) {
    const std::string why = Cat(
        "one id, two processes: ", name, " started at ", TimeText(*process.started),
        ", and the one that had started before under that id logged on at ", TimeText(log_line.at));
    Problem(place, why);
    AddMissing(why, "give each process an id of its own");
    lines_.ForEach([&](LineJudge& judge) { judge.Doubt(name); });
  }
  // Whose line it is is not known.
  lines_.ForEach([&](LineJudge& judge) { judge.Gap(name, process.last_line, log_line.at); });
}

bool Checker::Number(const LogLine& log_line, const Place& place) {
  Process& process = Known(log_line.process);
  const bool is_anew =
      log_line.statement == Statement::kStarted && log_line.number.value_or(1) == 1;
  // Lines come in the order of time and number, so the same one again comes at once.
  if (log_line.number && process.number == log_line.number && process.last_line == log_line.at) {
    ++metrics_.duplicates;
    return false;
  }
  const std::optional<int64_t> number_before = process.number;
  const int64_t expected = number_before.value_or(0) + 1;
  if (!is_anew && (process.is_two || FollowNumbers(process, log_line, place))) {
    TwoProcesses(process, log_line, place);
    process.number = log_line.number ? log_line.number : process.number;
  } else if (log_line.number) {
    if (*log_line.number != expected && !is_anew) {
      ++metrics_.gaps;
      lines_.ForEach(
          [&](LineJudge& judge) { judge.Gap(log_line.process, process.last_line, log_line.at); });
    }
    process.number = log_line.number;
  }
  if (is_anew) {
    ++process.starts;
    process.number_before = number_before;
    process.turns = 0;
    process.file_before = process.started ? process.file_of_start : std::string();
    process.file_of_start = place.file;
    process.started = log_line.at;
    process.has_restarted = process.last_line.has_value();
    lines_.ForEach(
        [&](LineJudge& judge) { judge.Restart(log_line.process, process.last_line, log_line.at); });
  }
  process.last_line = log_line.at;
  return true;
}

void Checker::Note(const LogLine& log_line) {
  Process& process = processes_.At(log_line.process);
  const auto logs = [&](Kind kind) { process.logs[static_cast<size_t>(kind)] = true; };
  const auto ends = [&](Kind kind) { process.logs_ends[static_cast<size_t>(kind)] = true; };
  const bool is_of_another = !log_line.sender.empty() && log_line.sender != log_line.process;
  if (is_of_another) Known(log_line.sender).takes_part = true;
  switch (log_line.statement) {
    case Statement::kLeads:
      has_begun_ = true;
      // Who logs renewals alone has begun before.
      if (!log_line.is_renewal) logs(Kind::kLeading);
      break;
    case Statement::kLeadsNot:
      ends(Kind::kLeading);
      break;
    case Statement::kWorks:
      has_begun_ = true;
      logs(Kind::kWorking);
      break;
    case Statement::kRests:
      ends(Kind::kWorking);
      break;
    case Statement::kAnswers:
      logs(Kind::kAnswers);
      break;
    case Statement::kOwns:
      // That it owns none says nothing, if it never says which one it owns.
      if (log_line.token) logs(Kind::kOwning);
      break;
    case Statement::kAccepts:
    case Statement::kRefuses:
    case Statement::kSawEnd:
      return;  // a resource, or a supervisor
    case Statement::kStarted:
    case Statement::kGone:
    case Statement::kAborted:
    case Statement::kCalled:
    case Statement::kMayEnd:
    case Statement::kHasStill:
    case Statement::kNotUnderstood:
    case Statement::kOther:
      break;
  }
  if (log_line.token && log_line.statement != Statement::kOwns) logs(Kind::kTokens);
  if (log_line.shows) logs(*log_line.shows);
  process.takes_part = process.takes_part || !is_of_another;
}

void Checker::NotUnderstood(const LogLine& log_line) {
  // The first one is told.
  if (!std::exchange(has_misunderstood_, true)) {
    MissingLines(
        Cat("the ", log_line.unclear.empty() ? std::string("line") : log_line.unclear, " of ",
            log_line.process, " at ", TimeText(log_line.at), " was not recognised"),
        "name it as docs/CHECKING.md does, or \"goes_on\" if it says nothing of a lock");
  }
  lines_.ForEach([&](LineJudge& judge) { judge.Gap(log_line.process, log_line.at, log_line.at); });
}

void Checker::HadNotBegun(const LogLine& log_line) {
  Unbegun& unbegun = unbegun_[{log_line.process, log_line.statement}];
  if (unbegun.count++ == 0) unbegun.lock = log_line.lock;
}

void Checker::On(const LogLine& log_line, const Place& place) {
  processes_.Saw(log_line.at);
  if (log_line.lapses_in) processes_.Saw(log_line.at + *log_line.lapses_in);
  if (log_line.asked) processes_.Saw(*log_line.asked);
  if (!Number(log_line, place)) return;
  ++(log_line.is_call ? metrics_.calls : metrics_.statements);
  Note(log_line);
  if (log_line.is_span && log_line.statement != Statement::kNotUnderstood) return OnSpan(log_line);
  switch (log_line.statement) {
    case Statement::kLeads:
      return Leads(log_line);
    case Statement::kLeadsNot:
      LeadsNot(log_line);
      return AdvanceWatermark(log_line.at);
    case Statement::kWorks:
      lines_.work.Begin(log_line.process, log_line.lock, log_line.at);
      return lines_.releases.Begin(log_line.process, log_line.lock, log_line.at);
    case Statement::kRests:
      Rests(log_line);
      return AdvanceWatermark(log_line.at);
    case Statement::kGone:
      lines_.own_tokens.Gone(log_line.process, log_line.at);
      LeadsNot(log_line);
      Rests(log_line);
      return AdvanceWatermark(log_line.at);
    case Statement::kSawEnd:
      return SawEnd(log_line);
    case Statement::kAnswers:
      if (log_line.token) lines_.handed.Add(log_line);
      lines_.answers.Add(log_line);
      return AdvanceWatermark(log_line.at);
    case Statement::kOwns:
      lines_.own_tokens.Add(log_line);
      return AdvanceWatermark(log_line.at);
    case Statement::kAccepts:
      return Accepts(log_line);
    case Statement::kAborted:
    case Statement::kCalled:
      // Counted as a statement above.
      --metrics_.statements;
      ++metrics_.calls;
      return rows_.AddAttempt(log_line);
    case Statement::kMayEnd:
      lines_.beliefs.MayEnd(log_line.process, log_line.lock, log_line.at);
      return lines_.work.MayEnd(log_line.process, log_line.lock, log_line.at);
    case Statement::kHasStill:
      return lines_.beliefs.HasStill(log_line.process, log_line.lock);
    case Statement::kNotUnderstood:
      return NotUnderstood(log_line);
    case Statement::kStarted:
    case Statement::kRefuses:
    case Statement::kOther:
      return;
  }
}

void Checker::Leads(const LogLine& log_line) {
  if (log_line.is_renewal) processes_.At(log_line.process).logs_renewals = true;
  const auto lapses =
      log_line.lapses_in ? std::optional(log_line.at + *log_line.lapses_in) : std::nullopt;
  if (!lines_.beliefs.Begin(log_line.process, log_line.lock, log_line.at, lapses,
                            log_line.is_renewal))
    HadNotBegun(log_line);
  if (log_line.token) lines_.handed.Add(log_line);
}

void Checker::LeadsNot(const LogLine& log_line) {
  const bool had_begun =
      lines_.beliefs.End(log_line.process, log_line.lock, log_line.asked.value_or(log_line.at));
  if (!had_begun && WantsBeginning(log_line)) HadNotBegun(log_line);
}

void Checker::Rests(const LogLine& log_line) {
  const bool had_begun = lines_.work.End(log_line.process, log_line.lock, log_line.at);
  if (!had_begun && WantsBeginning(log_line)) HadNotBegun(log_line);
  lines_.releases.End(log_line.process, log_line.lock, log_line.at);
}

void Checker::SawEnd(const LogLine& log_line) {
  std::deque<Process::End>& ends = Known(log_line.sender).ends;
  if (ends.size() == kEndsKept) ends.pop_front();
  ends.push_back({.by = &processes_.At(log_line.process), .at = log_line.at});
}

void Checker::Accepts(const LogLine& log_line) {
  if (log_line.token) return lines_.accepted.Add(log_line);
  lines_.accepted.Missing(
      Cat(log_line.process, " accepted a write without a token that was recorded"),
      "log each \"write\" at the resource, with its token");
}

void Checker::OnSpan(const LogLine& log_line) {
  Spans* const spans[] = {&lines_.beliefs, &lines_.work};
  const bool is_work =
      log_line.statement == Statement::kWorks || log_line.statement == Statement::kRests;
  switch (log_line.statement) {
    case Statement::kLeads:
    case Statement::kWorks:
      spans[is_work]->BeginNested(log_line.process, log_line.lock, log_line.at);
      if (is_work) lines_.releases.Begin(log_line.process, log_line.lock, log_line.at);
      return;
    case Statement::kLeadsNot:
    case Statement::kRests:
      if (!spans[is_work]->EndNested(log_line.process, log_line.lock, log_line.at)) return;
      if (is_work) lines_.releases.End(log_line.process, log_line.lock, log_line.at);
      return AdvanceWatermark(log_line.at);
    case Statement::kMayEnd:
    // No reader says these of a span.
    case Statement::kStarted:
    case Statement::kGone:
    case Statement::kSawEnd:
    case Statement::kAnswers:
    case Statement::kOwns:
    case Statement::kAccepts:
    case Statement::kRefuses:
    case Statement::kAborted:
    case Statement::kCalled:
    case Statement::kHasStill:
    case Statement::kNotUnderstood:
    case Statement::kOther:
      for (Spans* both : spans) both->MayEnd(log_line.process, log_line.lock, log_line.at);
      lines_.releases.Restart(log_line.process, log_line.at, Timestamp::Max());
      return;
  }
}

void Checker::AdvanceWatermark(Timestamp at) {
  // Seldom enough that it costs nothing.
  const Timestamp watermark = at - options_.window - processes_.clock_most();
  if (has_forgotten_ && watermark < forgotten_ + options_.window / 8) return;
  has_forgotten_ = true;
  forgotten_ = watermark;
  lines_.beliefs.Forget(watermark);
  lines_.work.Forget(watermark);
  lines_.handed.Forget(watermark);
  lines_.answers.JudgeBefore(watermark);
  lines_.releases.JudgeBefore(watermark);
  lines_.own_tokens.Forget(watermark);
  ownership_.Forget(lines_.own_tokens.Needed(lines_.answers.Needed(watermark)));
}

void Checker::On(const CommitRecord& commit_record, const Place& place) {
  rows_.Add(commit_record);
  processes_.Saw(commit_record.received);
  processes_.Drifts();
  Process& process = Known(commit_record.process);
  if (!commit_record.step.empty() && !commit_record.IsOfAnother()) {
    process.logs[static_cast<size_t>(Kind::kReleases)] = true;
  }
  const std::string where = place.line == 0 ? commit_record.process
                                            : Cat(commit_record.process, " at ", place.file, ":",
                                                  std::to_string(place.line));
  const std::string wrong =
      process.clock.Call(commit_record.sent, commit_record.commit, commit_record.received, where);
  if (!wrong.empty()) {
    Problem(place, Cat("the clock of ", commit_record.process, " contradicts itself: ", wrong));
    const std::string why = Cat("the clock of ", commit_record.process, " contradicts itself");
    const std::string remedy = "declare how far off it can be, or leave its lines out";
    MissingLines(why, remedy);
    lines_.ForEach([&](LineJudge& judge) { judge.Doubt(commit_record.process); });
  }
  if (process.clock.IsKnown()) Learn(Greatest(process.clock.At(commit_record.received)));
}

void Checker::On(const ProcessDeclaration& declared, const Place& place) {
  const bool says_clock = declared.clock_least && declared.clock_most;
  Process& process = says_clock ? processes_.At(declared.process) : Known(declared.process);
  if (!declared.node.empty()) process.node = declared.node;
  // Who has a lease may lead.
  if (declared.lease) {
    process.takes_part = true;
    DeclareLease(process, *declared.lease);
  }
  if (declared.resolution) {
    process.clock.Shorten(*declared.resolution);
    processes_.Shorten(*declared.resolution);
  }
  for (const Kind kind : declared.logs) {
    process.logs[static_cast<size_t>(kind)] = process.logs_ends[static_cast<size_t>(kind)] = true;
  }
  if (!says_clock) return;
  // What is said of one process stands in the place of what was said of all.
  if (process.clock_is_assumed) {
    const Duration resolution = process.clock.resolution();
    process.clock = Clock();
    process.clock.Shorten(resolution);
  }
  process.clock_is_assumed = false;
  const Offsets offsets = {.least = *declared.clock_least, .most = *declared.clock_most};
  const std::string wrong = process.clock.Declare(offsets);
  if (!wrong.empty()) {
    Problem(place, Cat("the clock of ", declared.process, ": ", wrong));
    MissingLines(Cat("the clock of ", declared.process, " is declared as what cannot be"),
                 "declare one interval");
    lines_.ForEach([&](LineJudge& judge) { judge.Doubt(declared.process); });
    return;
  }
  Learn(Greatest(offsets));
}

InvariantResult Checker::Find(Invariant invariant, const LineJudges& lines) const {
  InvariantResult found;
  const bool is_of_tokens =
      invariant == Invariant::kTokenMonotonic || invariant == Invariant::kOneLiveToken ||
      invariant == Invariant::kHandedTokenMonotonic || invariant == Invariant::kFencedWritesOrdered;
  const auto doubt = [&](const std::string& why) {
    if (found.verdict != Verdict::kViolated || why.empty()) return;
    found.verdict = Verdict::kPossiblyViolated;
    found.possible += std::exchange(found.violations, 0);
    found.text += Cat("; but ", why);
  };
  const std::string_view why_not =
      IsNone(protocol_) ? WhyNotWithoutProtocol(invariant) : std::string_view();
  if (!why_not.empty()) {
    found.text = why_not;
  } else if (is_of_tokens && !has_tokens_) {
    found.text = "the protocol has no tokens";
  } else if (invariant == Invariant::kTokenMonotonic) {
    found = rows_.TokenMonotonic();
    doubt(unclear_rows_);
  } else if (invariant == Invariant::kLeaseRespected) {
    found = rows_.LeaseRespected();
    doubt(unclear_rows_);
  } else if (invariant == Invariant::kNoWorkAfterRelease && !gives_back_) {
    found.text = "the protocol gives no lock back";
  } else if (const LineJudge* judge = lines.At(invariant)) {
    found = judge->Find();
    doubt(unclear_);
  } else if (invariant == Invariant::kNoWedge) {
    found.verdict = Verdict::kUnknown;
    found.text = "no record says when faults were over, and who could have taken the lock";
    found.remedy = "let --scenario FILE infer it: the scenario's replay judges it";
  } else {
    found.text = WhyNotJudged(invariant);
  }
  found.invariant = invariant;
  return found;
}

std::vector<InvariantResult> Checker::Certain() const {
  std::vector<InvariantResult> certain;
  for (size_t i = 0; i < kCountOf<Invariant>; ++i) {
    const auto invariant = static_cast<Invariant>(i);
    const auto of_spans = !unclear_.empty()                             ? std::nullopt
                          : invariant == Invariant::kSingleLeaderBelief ? lines_.beliefs.Certain()
                          : invariant == Invariant::kSingleWorker       ? lines_.work.Certain()
                                                                        : std::nullopt;
    const InvariantResult found = of_spans.value_or(Find(invariant, lines_));
    if (found.verdict == Verdict::kViolated) certain.push_back(found);
  }
  return certain;
}

std::vector<InvariantResult> Checker::SoFar() const {
  std::vector<InvariantResult> found;
  for (size_t i = 0; i < kCountOf<Invariant>; ++i)
    found.push_back(Find(static_cast<Invariant>(i), lines_));
  return found;
}

void Checker::MissingLogs(LineJudges& lines) const {
  // Without any log it is enough to say what is to be logged.
  if (metrics_.statements == 0) return;
  for (const auto& [taker, lock] : rows_.takers()) {
    const Process* who = processes_.Find(taker);
    if (who != nullptr && who->last_line) continue;
    LineJudge* const judges[] = {&lines.beliefs, &lines.work, &lines.handed, &lines.own_tokens};
    for (LineJudge* judge : judges) {
      judge->Missing(
          Cat("no line of ", taker, ", which took lock ", Quoted(lock), ", was recorded"),
          "add its log");
    }
  }
}

namespace {

// What each judge needs of every process that takes part.
constexpr std::pair<Invariant, Kind> kNeeds[] = {{Invariant::kSingleLeaderBelief, Kind::kLeading},
                                                 {Invariant::kSingleWorker, Kind::kWorking},
                                                 {Invariant::kHandedTokenMonotonic, Kind::kTokens},
                                                 {Invariant::kHasLockTruthful, Kind::kAnswers},
                                                 {Invariant::kOneLiveToken, Kind::kOwning},
                                                 {Invariant::kNoWorkAfterRelease, Kind::kWorking}};

std::string_view WhatItLacks(Kind kind) {
  switch (kind) {
    case Kind::kLeading:
      return "no line of when it leads";
    case Kind::kWorking:
      return "no line of when it works";
    case Kind::kTokens:
      return "no token that it handed out";
    case Kind::kAnswers:
      return "no answer";
    case Kind::kOwning:
      return "no token that it takes for its own";
    case Kind::kReleases:
      break;
  }
  return "no step of its calls";
}

}  // namespace

void Checker::MissingKinds(LineJudges& lines) const {
  for (const auto& [of, unbegun] : unbegun_) {
    const bool is_work = of.second == Statement::kRests;
    const std::string lock = Quoted(unbegun.lock);
    const std::string what = is_work ? Cat("its work under lock ", lock, " ended")
                             : of.second == Statement::kLeads
                                 ? Cat("it has renewed its lease of lock ", lock)
                                 : Cat("it leads lock ", lock, " no longer");
    const std::string why =
        Cat(of.first, " logged ",
            unbegun.count == 1 ? std::string("once") : Cat(std::to_string(unbegun.count), " times"),
            " that ", what, ", and no line that it had begun was recognised");
    const std::string remedy =
        is_work ? "log \"works\" when work begins, or see that its line is recognised"
                : "log \"leads\" when it begins to lead, or see that its line is recognised; of a "
                  "process "
                  "that did not lead \"leads_not\" says so";
    if (!is_work) lines.beliefs.Missing(why, remedy);
    if (!is_work) lines.handed.Missing(why, remedy);
    if (is_work) lines.work.Missing(why, remedy);
    if (is_work) lines.releases.Missing(why, remedy);
  }
  for (const auto& [invariant, kind] : kNeeds) {
    LineJudge& judge = *lines.At(invariant);
    const auto& all = processes_.all();
    // If nobody logs it, it is enough to say what is to be logged.
    if (std::ranges::none_of(all, [&](const auto& one) { return Logs(one.second, kind); }))
      continue;
    for (const auto& [name, process] : all) {
      if (!process.takes_part || Logs(process, kind) || rows_.NeverTook(name)) continue;
      judge.Missing(
          Cat(name, " has logged ", WhatItLacks(kind), ", so whether there was one is not known"),
          Cat("log it, or say that nothing of it is left out: \"logs\":\"", WordOf(kind),
              "\" in a line of ", name));
    }
  }
}

HistoryVerdict Checker::Verdict() {
  for (const auto& [key, operation] : waiting_) Take(operation);
  waiting_.clear();
  return Conclude(lines_);
}

HistoryVerdict Checker::VerdictSoFar() const {
  LineJudges lines = lines_;
  return Conclude(lines);
}

std::vector<std::string> Checker::Assumptions() const {
  std::vector<std::string> all;
  if (!IsNone(protocol_)) {
    all.emplace_back(
        "no change of a row is missing at the ends of the history, nor in between unless noticed");
    if (metrics_.row_changes == 0 && metrics_.calls == 0) {
      all.push_back(Cat("the processes run ", protocol_.name,
                        ", as --protocol says: neither a change of its table nor a call was "
                        "recorded that would show it (--protocol none: locks that are none of "
                        "whorl's)"));
    }
  }
  all.emplace_back(
      "each kind of line that a process has logged once, or says that it logs, is complete, unless "
      "the numbers of its lines show that some are missing");
  all.push_back(Cat("no two processes have one id, ", IsNone(protocol_) ? "and " : "",
                    "one that starts anew under its id logs \"started\"",
                    IsNone(protocol_) ? "" : ", and all send the protocol's statements"));
  all.emplace_back("a belief that may lapse while its process is paused was logged with \"left\"");
  all.emplace_back(
      "a clock is within what was declared of it, or drifts by at most 200 ppm and does not step");
  return all;
}

HistoryVerdict Checker::Conclude(LineJudges& lines) const {
  MissingLogs(lines);
  MissingKinds(lines);
  lines.ForEach([](LineJudge& judge) { judge.Finish(); });
  HistoryVerdict verdict;
  for (size_t i = 0; i < kCountOf<Invariant>; ++i) {
    verdict.invariants.push_back(Find(static_cast<Invariant>(i), lines));
  }
  verdict.outside_writes = rows_.outside_writes();
  verdict.outside_count = rows_.outside_count();
  verdict.only_ends = !unbegun_.empty() && metrics_.row_changes == 0 && !has_begun_;
  verdict.metrics = metrics_;
  verdict.metrics.belief_overlaps = lines.beliefs.overlaps();
  verdict.metrics.work_overlaps = lines.work.overlaps();
  for (const auto& [name, process] : processes_.all()) {
    if (!process.last_line) continue;
    ClockFinding& clock = verdict.clocks.emplace_back();
    clock.process = name;
    if (process.clock.IsKnown()) clock.ahead = process.clock.At(*process.last_line);
  }
  verdict.problems = problems_;
  verdict.assumptions = Assumptions();
  return verdict;
}

}  // namespace whorl::check
