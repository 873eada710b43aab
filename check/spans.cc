#include "check/spans.h"

#include <algorithm>

#include "base/text.h"
#include "check/relative_time.h"

namespace whorl::check {
namespace {

constexpr Timestamp kForever = Timestamp::Max();

}  // namespace

bool Spans::Begin(const std::string& process, const std::string& lock, Timestamp at,
                  std::optional<Timestamp> lapses, bool is_renewal) {
  tally_.Judged();
  Lock& spans = locks_[lock];
  bool had_begun = !is_renewal;
  for (size_t i = 0; i < spans.open.size(); ++i) {
    Span& span = spans.open[i];
    if (span.process != process) continue;
    if (span.is_endless) return true;  // it may go on, and this one is within it
    if (span.may_end) {
      had_begun = true;
      span.was_cut = true;
      span.may_to = at;
      Close(lock, spans, i);
      break;
    }
    if (!span.lapses || at <= *span.lapses) {
      // It said so before, or it may have begun in a gap.
      span.lapses = lapses;
      if (is_renewal) span.said_last = at;
      return true;
    }
    // It lapsed, and has begun again some time until now: of a pause there is no line.
    had_begun = true;
    span.certain_to = std::max(*span.lapses, span.certain_from);
    span.was_cut = true;
    span.may_to = at;
    Close(lock, spans, i);
    break;
  }
  spans.open.push_back({.process = process,
                        .who = processes_.Find(process),
                        .certain_from = at,
                        .said_last = at,
                        .lapses = lapses});
  return had_begun;
}

bool Spans::End(const std::string& process, const std::string& lock, Timestamp at) {
  bool had_begun = false;
  for (auto& [name, spans] : locks_) {
    if (!lock.empty() && name != lock) continue;
    for (size_t i = 0; i < spans.open.size(); ++i) {
      Span& span = spans.open[i];
      if (span.process != process) continue;
      // A process that was paused logs late that its belief had lapsed. It would have logged a renewal first.
      const std::optional<Timestamp> lapse = LapseOf(span);
      const Timestamp ended = lapse && at > *lapse ? *lapse : at;
      had_begun = true;
      if (span.is_endless) break;
      span.was_cut = span.was_cut || (span.may_end && *span.certain_to < ended);
      span.certain_to = span.may_end ? std::min(*span.certain_to, ended) : ended;
      span.may_to = ended;
      Close(name, spans, i);
      break;
    }
  }
  return had_begun;
}

Spans::Span* Spans::OpenOf(const std::string& process, const std::string& lock) {
  const auto found = locks_.find(lock);
  if (found == locks_.end()) return nullptr;
  std::vector<Span>& open = found->second.open;
  const auto span =
      std::ranges::find_if(open, [&](const Span& one) { return one.process == process; });
  return span == open.end() ? nullptr : &*span;
}

void Spans::BeginNested(const std::string& process, const std::string& lock, Timestamp at) {
  const Span* had = OpenOf(process, lock);
  const int64_t nested = had == nullptr ? 0 : had->nested;
  Begin(process, lock, at);
  if (Span* span = OpenOf(process, lock)) span->nested = nested + 1;
}

bool Spans::EndNested(const std::string& process, const std::string& lock, Timestamp at) {
  Span* span = OpenOf(process, lock);
  if (span != nullptr && --span->nested > 0) return false;
  End(process, lock, at);
  return true;
}

void Spans::MayEnd(const std::string& process, const std::string& lock, Timestamp at) {
  Span* span = OpenOf(process, lock);
  if (span == nullptr || span->may_end) return;
  span->may_end = true;
  span->certain_to = at;
  span->is_endless = span->nested > 0;
}

void Spans::HasStill(const std::string& process, const std::string& lock) {
  Span* span = OpenOf(process, lock);
  if (span == nullptr || !span->may_end) return;
  span->may_end = false;
  span->certain_to.reset();
}

template <typename MayTo>
void Spans::Cut(const std::string& process, std::optional<Timestamp> last, const MayTo& may_to) {
  for (auto& [name, spans] : locks_) {
    for (size_t i = 0; i < spans.open.size(); ++i) {
      Span& span = spans.open[i];
      if (span.process != process) continue;
      const Timestamp log_line = std::max(last.value_or(span.certain_from), span.certain_from);
      span.certain_to = span.may_end ? std::min(*span.certain_to, log_line) : log_line;
      span.was_cut = true;
      span.may_to = may_to(span);
      Close(name, spans, i);
      break;
    }
  }
}

void Spans::Gap(const std::string& process, std::optional<Timestamp> last, Timestamp at) {
  tally_.MissingLines(process, at);
  Cut(process, last, [at](const Span&) { return at; });
}

void Spans::Restart(const std::string& process, std::optional<Timestamp> last, Timestamp at) {
  // Its lease may have run out before it ended.
  Cut(process, last, [at](const Span& span) { return std::min(at, LapseOf(span).value_or(at)); });
}

std::optional<Timestamp> Spans::LapseOf(const Span& span) {
  const bool tells = span.lapses && span.who != nullptr && span.who->logs_renewals;
  return tells ? std::optional(std::max(*span.lapses, span.certain_from)) : std::nullopt;
}

Spans::True Spans::TrueOf(const Span& span) const {
  const Process& process = *span.who;
  const Between begin = process.clock.TrueTime(span.certain_from);
  Timestamp to = span.certain_to.value_or(process.last_line.value_or(span.certain_from));
  if (span.lapses) to = std::min(to, *span.lapses);
  // It logs no ends: this one may have ended before.
  if (!LogsEnds(process, kind_)) to = std::min(to, span.said_last);
  True when = {.from = begin.earliest,
               .to = kForever,
               .begun_by = begin.latest,
               .until = process.clock.TrueTime(std::max(to, span.certain_from)).earliest};
  // A process that never says that its belief is over may have been killed; but its lease runs out.
  const std::optional<Timestamp> may_to = span.may_to ? span.may_to : LapseOf(span);
  if (may_to) when.to = process.clock.TrueTime(*may_to).latest;
  if (!span.may_to || span.was_cut) {
    const std::optional<Timestamp> over = OverByEnd(process, when.begun_by, when.until);
    if (over) when.to = std::min(when.to, *over);
  }
  return when;
}

bool Spans::HasClock(const Span& span) const { return KnowsClock(span.who); }

void Spans::MissingClock(const Span& span) {
  tally_.Missing(Cat("how far the clock of ", span.process, " is off is not known"),
                 "declare it (--clocks FILE, --clock-error TIME), or log a call of it: when it was "
                 "sent, its commit timestamp, when the reply came");
}

std::string Spans::Overlap(const std::string& name, const Span& a, const Span& b) const {
  const True x = TrueOf(a);
  const True y = TrueOf(b);
  const Timestamp begin = std::max(x.begun_by, y.begun_by);
  const Duration shared = std::max(std::min(x.until, y.until) - begin, Duration{});
  const bool a_is_first = x.from <= y.from;
  return Cat(a_is_first ? b.process : a.process, " ", begins_, " lock ", Quoted(name), " while ",
             a_is_first ? a.process : b.process, " did, at ", TimeText(begin), ", for at least ",
             FormatDuration(shared));
}

void Spans::Judge(const std::string& name, const Span& a, const Span& b, int64_t count) {
  if (a.process == b.process) return;
  if (!HasClock(a) || !HasClock(b)) return MissingClock(HasClock(a) ? b : a);
  const Clock& of_a = a.who->clock;
  const Clock& of_b = b.who->clock;
  const True x = TrueOf(a);
  const True y = TrueOf(b);
  const bool a_is_first = x.from <= y.from;
  const std::string& first = a_is_first ? a.process : b.process;
  const std::string& second = a_is_first ? b.process : a.process;
  // How long each lasted is known by its own clock, so it is enough that each began before the other
  // ended.
  if (x.begun_by < y.until && y.begun_by < x.until) {
    const Timestamp begin = std::max(x.begun_by, y.begun_by);
    const Duration shared = std::max(std::min(x.until, y.until) - begin, Duration{});
    certain_.push_back({.first_from = std::min(x.from, y.from),
                        .begin = begin,
                        .lock = name,
                        .shared = shared,
                        .count = count,
                        .a = a.process,
                        .b = b.process,
                        .text = Overlap(name, a, b)});
    return;
  }
  const Timestamp from = std::max(x.from, y.from);
  const Timestamp to = std::min(x.to, y.to);
  if (from > to) return;
  if (ownership_.IsBrokenOutside(name, std::min(x.from, y.from), from)) {
    return tally_.Missing(
        Cat(first, " and ", second, " may have at one time, after an outside write to lock ",
            Quoted(name), ": that is not the protocol's doing"),
        "nothing: it is judged again from what came after it");
  }
  // If both spans began and ended as they say, the clocks alone are in doubt.
  std::optional<Duration> wanted;
  const bool is_short = of_a.resolution() > Duration{} || of_b.resolution() > Duration{};
  const bool by_clocks = a.IsWhole() && b.IsWhole() && !is_short;
  if (by_clocks && tally_.possible() == 0) wanted = ClocksWanted(a, b);
  tally_.Possible(from, name, wanted, count, [&] {
    return Cat(
        second, " ", begins_, " lock ", Quoted(name), ", and ", first,
        " may have done so at the same time, between ", TimeText(from), " and ",
        to == kForever ? std::string("the end of the history") : TimeText(to),
        by_clocks ? "; the clocks do not decide it" : "; lines that would decide it are missing");
  });
}

std::optional<Duration> Spans::ClocksWanted(const Span& a, const Span& b) {
  const auto middle = [](const Span& span, Timestamp at) {
    const Offsets offsets = span.who->clock.At(at);
    return at - (offsets.least + offsets.most) / 2;
  };
  const auto decides = [&](Duration error) {
    const Timestamp a_from = middle(a, a.certain_from);
    const Timestamp a_to = middle(a, *a.certain_to);
    const Timestamp b_from = middle(b, b.certain_from);
    const Timestamp b_to = middle(b, *b.certain_to);
    const bool overlap = a_from + error < b_to - error && b_from + error < a_to - error;
    const bool apart = std::max(a_from, b_from) - error > std::min(a_to, b_to) + error;
    return overlap || apart;
  };
  if (!decides(Duration{})) return std::nullopt;
  Duration least;  // decides
  Duration most = Seconds(3'600);
  while (most.ns - least.ns > 1) {
    const Duration half = {least.ns + (most.ns - least.ns) / 2};
    (decides(half) ? least : most) = half;
  }
  // With as few digits as people write, and not more than decides.
  int64_t unit = 1;
  while (least.ns / unit >= 100) unit *= 10;
  least = {least.ns / unit * unit};
  if (least <= Duration{} || !decides(least)) return std::nullopt;
  return least;
}

void Spans::Charge(Timestamp watermark) {
  for (const Overlapping& overlap : certain_) {
    if (overlap.begin >= watermark) continue;
    if (IsOutside(overlap)) {
      tally_.Missing(Cat(overlap.text,
                         "; but that began with an outside write to the lock's row, "
                         "which is not the protocol's doing"),
                     "nothing: it is judged again from what came after it");
      continue;
    }
    overlaps_.insert(overlaps_.end(), static_cast<size_t>(overlap.count), overlap.shared);
    tally_.Violated(overlap.begin, overlap.lock, {overlap.a, overlap.b}, overlap.count,
                    [&] { return overlap.text; });
  }
  std::erase_if(certain_, [&](const Overlapping& o) { return o.begin < watermark; });
}

void Spans::Close(const std::string& name, Lock& lock, size_t index) {
  Span span = std::move(lock.open[index]);
  lock.open.erase(lock.open.begin() + static_cast<std::ptrdiff_t>(index));
  // With those that are open it is judged when they end.
  if (!HasClock(span)) {
    const auto is_other = [&](const auto& other) {
      return other.first.second.process != span.process;
    };
    const bool has_others = std::ranges::any_of(
        lock.unclocked, [&](const auto& of) { return of.first != span.process; });
    if (!tally_.is_missing() && (has_others || std::ranges::any_of(lock.closed, is_other))) {
      MissingClock(span);
    }
    lock.unclocked[span.process].push_back(std::move(span));
    return;
  }
  for (const auto& [process, spans] : lock.unclocked) {
    if (process == span.process) continue;
    if (!HasClock(spans.front())) {
      MissingClock(spans.front());
      continue;
    }
    for (const Span& other : spans) Judge(name, span, other, 1);
  }
  // In the order in which they ended, since the first that disagrees is told.
  std::vector<std::pair<const Span*, const Equal*>> others;
  const Timestamp from = TrueOf(span).from - processes_.FarthestOff();
  for (auto at = lock.closed.lower_bound({from, Span{}}); at != lock.closed.end(); ++at) {
    others.emplace_back(&at->first.second, &at->second);
  }
  std::ranges::sort(others, {}, [](const auto& other) { return other.second->number; });
  for (const auto& [other, equal] : others) Judge(name, span, *other, equal->count);
  Keep(lock, std::move(span));
}

void Spans::Keep(Lock& lock, Span span) {
  const Timestamp ended = span.may_to ? *span.may_to : LapseOf(span).value_or(kForever);
  Equal& equal = lock.closed[{ended, std::move(span)}];
  if (equal.count++ == 0) equal.number = lock.closed_ever;
  ++lock.closed_ever;
}

void Spans::CloseEnded(const std::string& name, Lock& lock, Timestamp watermark) {
  for (size_t i = lock.open.size(); i-- > 0;) {
    Span& span = lock.open[i];
    if (!HasClock(span)) continue;
    const True when = TrueOf(span);
    const std::optional<Timestamp> over = OverByEnd(*span.who, when.begun_by, when.until);
    if (!over || *over >= watermark) continue;
    if (!span.may_end) {
      span.certain_to =
          std::max(span.who->last_line.value_or(span.certain_from), span.certain_from);
    }
    span.was_cut = true;
    Close(name, lock, i);
  }
}

void Spans::Forget(Timestamp watermark) {
  Charge(watermark);
  for (auto& [name, lock] : locks_) {
    CloseEnded(name, lock, watermark);
    Timestamp from = watermark;
    for (const Span& span : lock.open) {
      if (HasClock(span)) from = std::min(from, TrueOf(span).from);
    }
    const auto is_over = [&](const Span& span) {
      if (HasClock(span)) return TrueOf(span).to < from;
      // Calls may show its clock later, but not for ever.
      if (span.may_to && *span.may_to >= watermark) return false;
      MissingClock(span);
      return true;
    };
    std::erase_if(lock.closed, [&](const auto& one) { return is_over(one.first.second); });
    for (auto& [process, spans] : lock.unclocked) {
      std::erase_if(spans, is_over);
      if (spans.empty() || !HasClock(spans.front())) continue;
      for (Span& span : std::exchange(spans, {})) Keep(lock, std::move(span));
    }
    std::erase_if(lock.unclocked, [](const auto& of) { return of.second.empty(); });
  }
}

void Spans::Finish() {
  for (auto& [name, lock] : locks_) {
    while (!lock.open.empty()) Close(name, lock, lock.open.size() - 1);
  }
  Charge(Timestamp::Max());
}

template <typename Each>
void Spans::ForEach(const Lock& lock, const Each& each) {
  for (const Span& span : lock.open) each(span);
  for (const auto& [closed, equal] : lock.closed) each(closed.second);
  for (const auto& [process, spans] : lock.unclocked) {
    for (const Span& span : spans) each(span);
  }
}

std::optional<InvariantResult> Spans::Certain() const {
  const InvariantResult judged = Find();
  if (judged.verdict == Verdict::kViolated) return judged;
  for (const auto& [name, lock] : locks_) {
    for (size_t i = 0; i < lock.open.size(); ++i) {
      const auto overlaps = [&](const Span& other) {
        const Span& span = lock.open[i];
        if (span.process == other.process || !HasClock(span) || !HasClock(other)) return false;
        const True x = TrueOf(span);
        const True y = TrueOf(other);
        return x.begun_by < y.until && y.begun_by < x.until &&
               !ownership_.IsBrokenOutside(name, std::min(x.from, y.from),
                                           std::max(x.begun_by, y.begun_by));
      };
      const Span* other = nullptr;
      const auto look_at = [&](const Span& one) {
        if (other == nullptr && overlaps(one)) other = &one;
      };
      ForEach(lock, look_at);
      if (other == nullptr) continue;
      InvariantResult found = judged;
      found.verdict = Verdict::kViolated;
      found.lock = name;
      found.text = Overlap(name, lock.open[i], *other);
      found.remedy.clear();
      return found;
    }
  }
  return std::nullopt;
}

size_t Spans::kept() const {
  size_t kept = 0;
  for (const auto& [name, lock] : locks_) {
    ForEach(lock, [&](const Span&) { ++kept; });
  }
  return kept;
}

InvariantResult Spans::Find() const {
  for (const Overlapping& overlap : certain_) {
    if (IsOutside(overlap)) continue;
    Tally tally = tally_;
    tally.Violated(overlap.begin, overlap.lock, {overlap.a, overlap.b}, overlap.count,
                   [&] { return overlap.text; });
    return tally.Find("", "");
  }
  return tally_.Find("no process said so",
                     "log when each process begins and ends to lead, and to work, by its clock");
}

}  // namespace whorl::check
