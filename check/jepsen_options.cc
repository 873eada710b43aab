#include "check/jepsen_options.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace whorl::check {

std::string Verbs::Parse(std::string_view text) {
  constexpr std::string_view kBetween = " \t\r\n;";
  std::set<Verb> log_line;
  while (true) {
    const size_t begin = text.find_first_not_of(kBetween);
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::string_view one = text.substr(0, text.find_first_of(kBetween));
    text.remove_prefix(one.size());
    const size_t equals = one.find('=');
    const auto verb = ParseWord<Verb>(one.substr(0, equals));
    if (!verb || equals == std::string_view::npos) {
      return Cat(
          "verbs are such as acquire=try-lock,lock release=unlock (also renew, ignore), not ",
          Quoted(one));
    }
    // What is said stands in the place of what is usual.
    if (log_line.insert(*verb).second) {
      std::erase_if(words_, [&](const auto& word) { return word.second == *verb; });
    }
    std::string_view words = one.substr(equals + 1);
    while (!words.empty()) {
      std::string_view word = words.substr(0, words.find(','));
      words.remove_prefix(std::min(word.size() + 1, words.size()));
      if (word.starts_with(':')) word.remove_prefix(1);
      if (!word.empty()) words_.insert_or_assign(std::string(word), *verb);
    }
  }
  return log_line.empty() ? "verbs are such as acquire=try-lock,lock release=unlock"
                          : std::string();
}

std::optional<Verb> Verbs::Find(std::string_view f) const {
  const auto found = words_.find(f);
  if (found == words_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> JepsenCounts::Assumptions(bool has_lease) const {
  if (operations == 0) return {};
  std::vector<std::string> all = {
      "of Jepsen's operations: a process has the lock from the reply to its acquire (:ok) until it "
      "asks to "
      "release it, and after a release that failed (:fail) as before"};
  const auto add = [&](int64_t count, std::string_view text) {
    if (count > 0) all.push_back(Cat(text, " (", std::to_string(count), ")"));
  };
  add(releases_failed, "releases that failed: the process still has the lock");
  add(releases_not_held,
      "releases that failed since the process did not have the lock, as their error says: it has "
      "it "
      "no more");
  add(releases_unknown,
      "releases of which it is not known whether they happened: either is possible");
  add(acquires_refused, "acquires that were :ok with a value that refuses: they were refused");
  add(acquires_again,
      "acquires by the process that had the lock: how many releases it takes is not known");
  all.emplace_back(has_lease
                       ? "a lock that is not renewed may be lost when its --lease is over, and "
                         "is not before"
                       : "a lock is lost by a release only: no lease ends it (--lease)");
  return all;
}

}  // namespace whorl::check
