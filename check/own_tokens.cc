#include "check/own_tokens.h"

#include <algorithm>

#include "base/text.h"

namespace whorl::check {
namespace {

constexpr Timestamp kAlways = Timestamp::Max();

struct Stretch {
  Timestamp from;
  Timestamp to;
};
Stretch Both(Stretch a, Stretch b) {
  return {.from = std::max(a.from, b.from), .to = std::min(a.to, b.to)};
}

}  // namespace

void OwnTokens::End(const std::string& process, const std::string* lock, Timestamp certain_to,
                    Timestamp at) {
  for (auto& [key, spans] : spans_) {
    if (lock != nullptr && key.first != *lock) continue;
    for (Span& span : spans) {
      if (span.process != process || span.may_to) continue;
      span.to = std::max(span.from, certain_to);
      span.may_to = at;
    }
  }
}

void OwnTokens::Add(const LogLine& log_line) {
  tally_.Judged();
  End(log_line.process, &log_line.lock, log_line.at, log_line.at);
  if (!log_line.token) return;
  spans_[{log_line.lock, *log_line.token}].push_back(
      {.process = log_line.process, .who = processes_.Find(log_line.process), .from = log_line.at});
}

void OwnTokens::Gone(const std::string& process, Timestamp at) { End(process, nullptr, at, at); }

void OwnTokens::Gap(const std::string& process, std::optional<Timestamp> last, Timestamp at) {
  tally_.MissingLines(process, at);
  End(process, nullptr, last.value_or(Timestamp::Min()), at);
}

void OwnTokens::Restart(const std::string& process, std::optional<Timestamp> last, Timestamp at) {
  End(process, nullptr, last.value_or(Timestamp::Min()), at);
}

void OwnTokens::Judge(const Key& key, const Span& a, const Span& b) {
  if (!KnowsClock(a.who) || !KnowsClock(b.who)) {
    return tally_.MissingClock(KnowsClock(a.who) ? b.process : a.process);
  }
  const auto certain = [](const Span& span) {
    const Timestamp to =
        std::max(span.to.value_or(span.who->last_line.value_or(span.from)), span.from);
    return Stretch{.from = span.who->clock.TrueTime(span.from).latest,
                   .to = span.who->clock.TrueTime(to).earliest};
  };
  const auto possible = [&](const Span& span) {
    const Clock& clock = span.who->clock;
    const Timestamp to = span.may_to ? clock.TrueTime(*span.may_to).latest : kAlways;
    const Stretch sure = certain(span);
    return Stretch{.from = clock.TrueTime(span.from).earliest,
                   .to = std::min(to, OverByEnd(*span.who, sure.from, sure.to).value_or(to))};
  };
  const Stretch both = Both(certain(a), certain(b));
  const Stretch perhaps = Both(possible(a), possible(b));
  if (perhaps.from > perhaps.to) return;
  const Ownership::Lock* lock = ownership_.Find(key.first);
  if (lock == nullptr || !lock->known_from || perhaps.from < *lock->known_from) {
    return Missing(Cat("what the row of lock ", Quoted(key.first), " was when ", a.process, " and ",
                       b.process, " took one token for theirs is not recorded"),
                   "read its change stream from before the first line of the logs");
  }
  const auto text = [&](std::string_view does) {
    return Cat(a.process, " and ", b.process, does, " the live token ", std::to_string(key.second),
               " of lock ", Quoted(key.first), " for their own");
  };
  bool may_be_live = lock->gap_to && perhaps.from <= *lock->gap_to;
  for (const Ownership::Term& term : lock->terms) {
    if (term.token != key.second) continue;
    const Stretch live = {.from = term.next.value_or(kAlways), .to = term.to.value_or(kAlways)};
    const Stretch seen = Both(both, live);
    if (seen.from < seen.to && !may_be_live) {
      return tally_.Violated(seen.from, key.first, {a.process, b.process},
                             [&] { return text(" took"); });
    }
    const Stretch maybe = Both(perhaps, {.from = term.from, .to = term.over.value_or(kAlways)});
    may_be_live = may_be_live || maybe.from <= maybe.to;
  }
  if (may_be_live) {
    tally_.Possible(perhaps.from, key.first, std::nullopt, [&] { return text(" perhaps took"); });
  }
}

void OwnTokens::Forget(Timestamp watermark) {
  for (auto entry = spans_.begin(); entry != spans_.end();) {
    std::vector<Span>& spans = entry->second;
    // Two at once are as rare as what is looked for: they are judged in the end.
    const auto of = spans.empty() ? std::string() : spans.front().process;
    const bool is_one = std::ranges::all_of(spans, [&](const Span& s) { return s.process == of; });
    if (is_one) {
      std::erase_if(spans, [&](const Span& span) {
        return span.may_to && KnowsClock(span.who) &&
               span.who->clock.TrueTime(*span.may_to).latest < watermark;
      });
    }
    entry = spans.empty() ? spans_.erase(entry) : std::next(entry);
  }
}

void OwnTokens::Finish() {
  for (const auto& [key, spans] : spans_) {
    for (size_t i = 0; i < spans.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (spans[i].process != spans[j].process) Judge(key, spans[j], spans[i]);
      }
    }
  }
  const auto& missing = ownership_.missing();
  if (tally_.was_judged() && missing) Missing(missing->because, missing->remedy);
}

Timestamp OwnTokens::Needed(Timestamp watermark) const {
  for (const auto& [key, spans] : spans_) {
    const auto& first = spans.front();
    const bool is_one =
        std::ranges::all_of(spans, [&](const Span& span) { return span.process == first.process; });
    if (is_one) continue;
    for (const Span& span : spans) {
      watermark =
          std::min(watermark,
                   KnowsClock(span.who) ? span.who->clock.TrueTime(span.from).earliest : span.from);
    }
  }
  return watermark;
}

InvariantResult OwnTokens::Find() const {
  return tally_.Find(
      "no process said which token it takes for its own",
      "log \"owns\" with the token when a process takes one for its own, and without "
      "when it takes none");
}

}  // namespace whorl::check
