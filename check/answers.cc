#include "check/answers.h"

#include <algorithm>

#include "base/text.h"

namespace whorl::check {
namespace {

using Term = Ownership::Term;
using Lock = Ownership::Lock;

constexpr std::string_view kAsk =
    "log each \"answer\", with \"asked\", the time at which it was asked";

Between TrueOf(const Process& who, Timestamp at) { return who.clock.TrueTime(at); }

}  // namespace

void Answers::Add(const LogLine& log_line) {
  tally_.Judged();
  const Process* who = processes_.Find(log_line.process);
  waiting_.push_back({.process = log_line.process,
                      .lock = log_line.lock,
                      .who = who,
                      .asked = log_line.asked,
                      .at = log_line.at,
                      .started = who == nullptr ? std::nullopt : who->started,
                      .has_restarted = who != nullptr && who->has_restarted});
}

void Answers::Gap(const std::string& process, std::optional<Timestamp> /*last*/, Timestamp at) {
  tally_.MissingLines(process, at);
}

Answers::Its Answers::IsIts(const Term& term, const Answer& answer) const {
  // A row that was released may name nobody, though it has a token.
  if (term.owner.empty()) return Its::kPerhaps;
  if (term.owner != answer.process) return Its::kNo;
  // Another process with the same id may have taken it, before this one started or after.
  Its its = term.owner_is_certain ? Its::kYes : Its::kPerhaps;
  if (!answer.started) return its;
  if (term.granted && term.granted->process == answer.process) {
    return term.granted->sent >= *answer.started ? its : Its::kNo;
  }
  const bool is_later = term.from > TrueOf(*answer.who, *answer.started).latest;
  return is_later && !answer.has_restarted ? its : Its::kPerhaps;
}

// Whether it certainly owned the lock at some instant between.
bool Answers::IsBorneOut(const Answer& answer, const Lock& lock) const {
  const Between at = TrueOf(*answer.who, answer.at);
  const Timestamp asked_by = answer.asked ? TrueOf(*answer.who, *answer.asked).latest : at.latest;
  const std::vector<Term>& terms = lock.terms;
  const auto is_visible = [&](const Term& term) {
    // Its own clock is in no doubt about its own calls.
    const bool by_reply = term.granted && term.granted->process == answer.process &&
                          term.granted->received <= answer.at;
    return by_reply || (term.next && *term.next <= at.earliest);
  };
  // Terms end in the order of time: those that ended before it was asked are over.
  auto term =
      std::ranges::partition_point(terms, [&](const Term& t) { return t.to && *t.to <= asked_by; });
  for (; term != terms.end() && term->from <= at.latest; ++term) {
    // Some version that it owned without a break has to have been visible when it answered.
    for (auto version = term; IsIts(*version, answer) == Its::kYes; --version) {
      if (is_visible(*version)) return true;
      if (version == terms.begin() || std::prev(version)->to != version->from) break;
    }
  }
  return false;
}

// Whether it certainly did not, at any.
bool Answers::IsRefuted(const Answer& answer, const Lock& lock) const {
  const Between at = TrueOf(*answer.who, answer.at);
  std::optional<Timestamp> asked;
  if (answer.asked) asked = TrueOf(*answer.who, *answer.asked).earliest;
  if (!asked && answer.started) asked = TrueOf(*answer.who, *answer.started).earliest;
  // What the row was before is not known.
  if (!asked || *asked < *lock.known_from) return false;
  if (lock.gap_to && *asked <= *lock.gap_to) return false;
  if (const auto before = lock.before.find(answer.process);
      before != lock.before.end() && *asked <= before->second) {
    return false;
  }
  // Both begin and end in the order of time.
  const auto first = std::ranges::partition_point(
      lock.terms, [&](const Term& term) { return term.over && *term.over < *asked; });
  const auto last = std::ranges::partition_point(
      lock.terms, [&](const Term& term) { return term.from <= at.latest; });
  return first >= last || std::all_of(first, last, [&](const Term& term) {
           if (IsIts(term, answer) == Its::kNo) return true;
           std::optional<Timestamp> over = term.over;
           if (term.ended) {
             const Process* by = processes_.Find(term.ended->process);
             if (KnowsClock(by)) {
               const Timestamp replied = TrueOf(*by, term.ended->received).latest;
               over = over ? std::min(*over, replied) : replied;
             }
           }
           return over && *over < *asked;
         });
}

bool Answers::Take(const Answer& answer, bool is_last) {
  if (!KnowsClock(answer.who)) {
    if (is_last) tally_.MissingClock(answer.process);
    return is_last;
  }
  const Lock* lock = ownership_.Find(answer.lock);
  const Between at = TrueOf(*answer.who, answer.at);
  if (lock == nullptr || !lock->known_from) {
    if (is_last) {
      Missing(Cat("the row of lock ", Quoted(answer.lock), " has no change that was recorded"),
              "read its change stream, for the same time as the logs");
    }
    return is_last;
  }
  if (IsBorneOut(answer, *lock)) return true;
  // A change that is missing is noticed by the next one.
  if (!is_last && *lock->last <= at.latest) return false;
  const std::string told = Cat(answer.process, " said at ", FormatRfc3339(at.latest),
                               " that it has lock ", Quoted(answer.lock));
  if (IsRefuted(answer, *lock)) {
    Tally::ByClocksOf by = {answer.process};
    for (const Term& term : lock->terms) {
      if (term.ended && KnowsClock(processes_.Find(term.ended->process)))
        by.push_back(term.ended->process);
    }
    tally_.Violated(at.latest, answer.lock, std::move(by), [&] {
      const auto owned = std::ranges::find_if(
          lock->terms.rbegin(), lock->terms.rend(),
          [&](auto& t) { return IsIts(t, answer) != Its::kNo && t.to && *t.to <= at.latest; });
      const bool ever = owned != lock->terms.rend();
      return Cat(told, ever ? ", and had not owned it since " : ", which it had not taken",
                 ever ? FormatRfc3339(*owned->to) : "");
    });
    return true;
  }
  if (at.earliest < *lock->known_from) {
    Missing(Cat("what the row of lock ", Quoted(answer.lock), " was before ",
                FormatRfc3339(*lock->known_from), " is not recorded"),
            "read its change stream from before the first line of the logs");
    return true;
  }
  tally_.Possible(at.latest, answer.lock, std::nullopt, [&] {
    return Cat(told, ", and whether it owned it then is not certain",
               answer.asked ? "; the clocks, or the calls that are missing, do not decide it"
                            : Cat("; ", kAsk));
  });
  return true;
}

void Answers::JudgeBefore(Timestamp watermark) {
  std::erase_if(waiting_, [&](const Answer& answer) {
    const Timestamp at = KnowsClock(answer.who) ? TrueOf(*answer.who, answer.at).latest : answer.at;
    return at < watermark && Take(answer, /*is_last=*/false);
  });
}

void Answers::Finish() {
  for (const Answer& answer : waiting_) Take(answer, /*is_last=*/true);
  waiting_.clear();
  const auto& missing = ownership_.missing();
  if (tally_.was_judged() && missing) Missing(missing->because, missing->remedy);
}

Timestamp Answers::Needed(Timestamp watermark) const {
  for (const Answer& answer : waiting_) {
    const Timestamp asked = answer.asked.value_or(answer.started.value_or(answer.at));
    watermark =
        std::min(watermark, KnowsClock(answer.who) ? TrueOf(*answer.who, asked).earliest : asked);
  }
  return watermark;
}

InvariantResult Answers::Find() const {
  return tally_.Find("no answer was recorded", std::string(kAsk));
}

}  // namespace whorl::check
