#include "check/tokens.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/text.h"

namespace whorl::check {
namespace {

constexpr Timestamp kNoTime = Timestamp::Max();

}  // namespace

// Of the terms of a lock, when the first of those with greater tokens may have begun, and when the last of
// those with lesser ones may have ended. So most terms need not be compared one by one.
class HandedTokens::Order {
 public:
  explicit Order(const Lock& lock) {
    for (const Term& term : lock.terms) Add(term);
    if (lock.greatest) Add(*lock.greatest);
    std::ranges::sort(places_, {}, &Place::token);
    Timestamp last = Timestamp::Min();
    for (Place& place : places_) {
      place.lesser_until = last;
      last = std::max(last, place.until);
    }
    Timestamp first = kNoTime;
    for (Place& place : std::views::reverse(places_)) {
      place.greater_from = first;
      first = std::min(first, place.from);
    }
  }

  // Whether the term may have handed its token out at the same time as one with a token as great, or on
  // the wrong side of another one.
  bool IsInDoubt(const Term& term) const {
    const auto same = std::ranges::equal_range(places_, term.token, {}, &Place::token);
    if (same.size() != 1) return true;
    const Place& place = same.front();
    return place.greater_from <= place.until || place.from <= place.lesser_until;
  }

 private:
  struct Place {
    uint64_t token = 0;
    Timestamp from;
    Timestamp until;
    Timestamp greater_from;
    Timestamp lesser_until;
  };
  void Add(const Term& term) {
    const bool is_known = KnowsClock(term.who);
    places_.push_back(
        {.token = term.token,
         .from = is_known ? term.who->clock.TrueTime(term.first).earliest : Timestamp::Min(),
         .until = is_known ? term.who->clock.TrueTime(term.last).latest : kNoTime,
         .greater_from = {},
         .lesser_until = {}});
  }

  std::vector<Place> places_;
};

void HandedTokens::Add(const LogLine& log_line) {
  tally_.Judged();
  const Process* who = processes_.Find(log_line.process);
  const Term term = {.process = log_line.process,
                     .start = who == nullptr ? 0 : who->starts,
                     .token = *log_line.token,
                     .who = who,
                     .first = log_line.at,
                     .last = log_line.at};
  std::vector<Term>& terms = locks_[log_line.lock].terms;
  const auto known =
      std::find_if(terms.rbegin(), terms.rend(), [&](const Term& t) { return t.IsSame(term); });
  if (known == terms.rend()) {
    terms.push_back(term);
  } else {
    known->last = log_line.at;
  }
}

void HandedTokens::Gap(const std::string& process, std::optional<Timestamp> /*last*/,
                       Timestamp at) {
  tally_.MissingLines(process, at);
}

void HandedTokens::Judge(const std::string& name, const Term& a, const Term& b) {
  if (a.IsSame(b)) return;
  const Term& high = a.token >= b.token ? a : b;
  const Term& low = a.token >= b.token ? b : a;
  const auto text = [&](std::string_view after) {
    return Cat(low.process, " handed out the token ", std::to_string(low.token), " of lock ",
               Quoted(name), after, high.process, " had handed out ", std::to_string(high.token),
               " in another term");
  };
  const bool is_one = a.process == b.process;  // then its own clock says the order
  if (!is_one && a.token != b.token && (!KnowsClock(a.who) || !KnowsClock(b.who))) {
    const Term& unknown = KnowsClock(a.who) ? b : a;
    return tally_.MissingClock(unknown.process);
  }
  const bool is_certain =
      a.token == b.token || (is_one ? high.first < low.last
                                    : high.who->clock.TrueTime(high.first).latest <
                                          low.who->clock.TrueTime(low.last).earliest);
  if (is_certain) {
    Tally::ByClocksOf by;
    if (a.token != b.token) by = {a.process, b.process};
    return tally_.Violated(low.last, name, by, [&] { return text(" after "); });
  }
  if (is_one) return;
  const Timestamp earliest = high.who->clock.TrueTime(high.first).earliest;
  if (earliest > low.who->clock.TrueTime(low.last).latest) return;
  tally_.Possible(low.last, name, std::nullopt, [&] {
    return Cat(text(", perhaps after "), "; the clocks do not decide which was first");
  });
}

void HandedTokens::Fold(const std::string& name, Lock& lock, const Term& term,
                        std::span<const Term> others, const Order& order) {
  if (order.IsInDoubt(term)) {
    for (const Term& other : others) Judge(name, term, other);
    for (const Term& other : lock.terms) Judge(name, term, other);
    if (lock.greatest) Judge(name, term, *lock.greatest);
  }
  if (!lock.greatest || term.token > lock.greatest->token) lock.greatest = term;
}

void HandedTokens::Forget(Timestamp watermark) {
  const auto is_over = [&](const Term& term) {
    return (KnowsClock(term.who) ? term.who->clock.TrueTime(term.last).latest : term.last) <
           watermark;
  };
  for (auto& [name, lock] : locks_) {
    if (std::ranges::none_of(lock.terms, is_over)) continue;
    const Order order(lock);
    std::vector<Term> over;
    std::vector<Term> kept;
    for (Term& term : lock.terms) (is_over(term) ? over : kept).push_back(std::move(term));
    lock.terms = std::move(kept);
    for (size_t i = 0; i < over.size(); ++i) {
      Fold(name, lock, over[i], std::span(over).subspan(i + 1), order);
    }
  }
}

void HandedTokens::Finish() { Forget(Timestamp::Max()); }

InvariantResult HandedTokens::Find() const {
  return tally_.Find("no token was handed out",
                     "log the token with each \"answer\", or with \"leads\"");
}

void AcceptedWrites::Add(const LogLine& log_line) {
  tally_.Judged();
  const auto [place, is_new] =
      greatest_.try_emplace({log_line.process, log_line.lock}, *log_line.token);
  if (*log_line.token < place->second) {
    tally_.Violated(log_line.at, log_line.lock, {}, [&] {
      return Cat(log_line.process, " accepted the token ", std::to_string(*log_line.token),
                 " of lock ", Quoted(log_line.lock), " after ", std::to_string(place->second));
    });
  }
  place->second = std::max(place->second, *log_line.token);
}

void AcceptedWrites::Gap(const std::string& process, std::optional<Timestamp> /*last*/,
                         Timestamp at) {
  tally_.MissingLines(process, at);
}

InvariantResult AcceptedWrites::Find() const {
  return tally_.Find("no write that a resource accepted was recorded",
                     "log each \"write\" at the resource, with its token");
}

}  // namespace whorl::check
