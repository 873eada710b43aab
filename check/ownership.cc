#include "check/ownership.h"

#include <algorithm>
#include <utility>

namespace whorl::check {

void Ownership::Changed(const std::string& name, Timestamp commit) {
  Lock& lock = locks_[name];
  if (!lock.known_from) lock.known_from = commit;
  lock.last = commit;
  for (auto term = lock.terms.rbegin(); term != lock.terms.rend() && !term->over; ++term) {
    if (!term->next && term->from < commit) term->next = commit;
    if (term->to && *term->to < commit) term->over = commit;
  }
}

void Ownership::Began(const std::string& name, Term term) {
  locks_[name].terms.push_back(std::move(term));
}

void Ownership::Ended(const std::string& name, Timestamp commit, std::optional<Writer> by) {
  Lock& lock = locks_[name];
  if (lock.terms.empty() || lock.terms.back().to) return;
  lock.terms.back().to = commit;
  lock.terms.back().ended = std::move(by);
}

void Ownership::Gap(const std::string& name, Timestamp to) {
  Lock& lock = locks_[name];
  lock.gap_to = std::max(lock.gap_to.value_or(to), to);
}

void Ownership::Outside(const std::string& name, Timestamp commit, Timestamp until) {
  // Clocks are off, and a process learns of it by its next call.
  constexpr Duration kLearns = Seconds(60);
  Gap(name, until);
  if (until < Timestamp::Max() - kLearns) until = until + kLearns;
  locks_[name].outside.emplace_back(commit, until);
}

bool Ownership::IsBrokenOutside(const std::string& name, Timestamp from, Timestamp at) const {
  const Lock* lock = Find(name);
  if (lock == nullptr) return false;
  return std::ranges::any_of(lock->outside, [&](const auto& write) {
    return from <= write.first && write.first <= at && at <= write.second;
  });
}

void Ownership::Forget(Timestamp watermark) {
  for (auto& entry : locks_) {
    Lock& lock = entry.second;
    std::erase_if(lock.terms, [&](const Term& term) {
      if (!term.over || *term.over >= watermark) return false;
      Timestamp& over = lock.before.try_emplace(term.owner, *term.over).first->second;
      over = std::max(over, *term.over);
      return true;
    });
  }
}

const Ownership::Lock* Ownership::Find(const std::string& name) const {
  if (!locks_have_names_) return locks_.size() == 1 ? &locks_.begin()->second : nullptr;
  const auto found = locks_.find(name);
  return found == locks_.end() ? nullptr : &found->second;
}

}  // namespace whorl::check
