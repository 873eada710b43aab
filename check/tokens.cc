#include "check/tokens.h"

#include <algorithm>

#include "sim/scenario/error_text.h"

namespace whorl::check {
namespace {

using sim::Cat;

}  // namespace

void HandedTokens::Add(const Said& said) {
  tally_.Judged();
  const Process* who = processes_.Find(said.process);
  const Term term = {.process = said.process,
                     .start = who == nullptr ? 0 : who->starts,
                     .token = *said.token,
                     .who = who,
                     .first = said.at,
                     .last = said.at};
  std::vector<Term>& terms = locks_[said.lock].terms;
  const auto known = std::ranges::find_if(terms, [&](const Term& t) { return t.IsSame(term); });
  if (known == terms.end()) {
    terms.push_back(term);
  } else {
    known->last = said.at;
  }
}

void HandedTokens::Gap(const std::string& process, Timestamp at) {
  tally_.MissingLines(process, at);
}

void HandedTokens::Judge(const std::string& name, const Term& a, const Term& b) {
  if (a.IsSame(b)) return;
  const Term& high = a.token >= b.token ? a : b;
  const Term& low = a.token >= b.token ? b : a;
  const auto text = [&](std::string_view after) {
    return Cat(low.process, " handed out the token ", std::to_string(low.token), " of lock ", name,
               after, high.process, " had handed out ", std::to_string(high.token),
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
  if (is_certain) return tally_.Violated(low.last, name, [&] { return text(" after "); });
  if (is_one) return;
  const Timestamp earliest = high.who->clock.TrueTime(high.first).earliest;
  if (earliest > low.who->clock.TrueTime(low.last).latest) return;
  tally_.Possible(low.last, name, std::nullopt, [&] {
    return Cat(text(", perhaps after "), "; the clocks do not decide which was first");
  });
}

void HandedTokens::Fold(const std::string& name, Lock& lock, size_t index) {
  const Term term = lock.terms[index];
  lock.terms.erase(lock.terms.begin() + static_cast<std::ptrdiff_t>(index));
  for (const Term& other : lock.terms) Judge(name, term, other);
  if (lock.greatest) Judge(name, term, *lock.greatest);
  if (!lock.greatest || term.token > lock.greatest->token) lock.greatest = term;
}

void HandedTokens::Forget(Timestamp watermark) {
  for (auto& [name, lock] : locks_) {
    for (size_t i = lock.terms.size(); i-- > 0;) {
      const Term& term = lock.terms[i];
      const Timestamp last =
          KnowsClock(term.who) ? term.who->clock.TrueTime(term.last).latest : term.last;
      if (last < watermark) Fold(name, lock, i);
    }
  }
}

void HandedTokens::Finish() { Forget(Timestamp::Max()); }

InvariantFinding HandedTokens::Find() const {
  return tally_.Find("no token was handed out",
                     "log the token with each \"answer\", or with \"leads\"");
}

void AcceptedWrites::Add(const Said& said) {
  tally_.Judged();
  const auto [place, is_new] = greatest_.try_emplace({said.process, said.lock}, *said.token);
  if (*said.token < place->second) {
    tally_.Violated(said.at, said.lock, [&] {
      return Cat(said.process, " accepted the token ", std::to_string(*said.token), " of lock ",
                 said.lock, " after ", std::to_string(place->second));
    });
  }
  place->second = std::max(place->second, *said.token);
}

void AcceptedWrites::Gap(const std::string& process, Timestamp at) {
  tally_.MissingLines(process, at);
}

InvariantFinding AcceptedWrites::Find() const {
  return tally_.Find("no write that a resource accepted was recorded",
                     "log each \"write\" at the resource, with its token");
}

}  // namespace whorl::check
