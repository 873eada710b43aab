#include "sim/judge/checkers/handed_token_monotonic.h"

#include <string>

namespace whorl::sim {
namespace {

using Handed = HandedTokenMonotonic::Handed;
using OfLock = HandedTokenMonotonic::OfLock;

bool HandsTokenOut(const Answer& answer) {
  return answer.yes && answer.token &&
         (answer.question == Question::kHasLock || answer.question == Question::kHasLock2);
}

void Raise(std::optional<Handed>& maximum, const Handed& handed) {
  if (!maximum || handed.token > maximum->token) maximum = handed;
}

void Remember(OfLock& lock, const Handed& handed) {
  if (lock.greatest && lock.greatest->term == handed.term) {
    Raise(lock.greatest, handed);
  } else if (!lock.greatest || handed.token > lock.greatest->token) {
    lock.of_others = lock.greatest;  // the greatest so far is of another term
    lock.greatest = handed;
  } else {
    Raise(lock.of_others, handed);
  }
}

}  // namespace

void HandedTokenMonotonic::On(const QuestionAnswered& x, const Now& now) {
  if (!HandsTokenOut(x.answer)) return;
  OfLock& lock = locks[x.lock];
  const Handed handed{.token = *x.answer.token,
                      .term = {.process = x.process,
                               .own_token = now.ledger.OwnToken(x.process, x.lock, now.setup)}};
  const bool same_term = lock.greatest && lock.greatest->term == handed.term;
  const std::optional<Handed>& other = same_term ? lock.of_others : lock.greatest;
  if (other && handed.token <= other->token) {
    now.Violated(kInvariant, x.lock, [&] {
      return now.NameOf(x.process) + " was handed the token " + std::to_string(handed.token) +
             " of lock " + now.QuotedLock(x.lock) + " after " + now.NameOf(other->term.process) +
             " had been handed " + std::to_string(other->token) + " in another term";
    });
  }
  Remember(lock, handed);
}

}  // namespace whorl::sim
