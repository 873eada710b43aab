// How often an invariant was violated, or may have been, and what was missing.
#pragma once

#include <string>
#include <utility>

#include "check/verdict.h"
#include "sim/scenario/error_text.h"

namespace whorl::check {

class Tally {
 public:
  explicit Tally(Invariant invariant) { finding_.invariant = invariant; }

  // `text()` is called for the first violation only.
  template <typename Text>
  void Violated(Timestamp at, const std::string& lock, Text&& text) {
    if (finding_.violations++ > 0) return;
    finding_.at = at;
    finding_.lock = lock;
    first_ = text();
  }
  template <typename Text>
  void Possible(Timestamp at, const std::string& lock, std::optional<Duration> clocks_wanted,
                Text&& text) {
    if (finding_.possible++ > 0) return;
    possible_at_ = at;
    possible_lock_ = lock;
    finding_.clocks_wanted = clocks_wanted;
    possible_ = text();
  }
  // The first reason is kept.
  void Missing(std::string because, std::string remedy) {
    if (!missing_.empty()) return;
    missing_ = std::move(because);
    remedy_ = std::move(remedy);
  }
  // Of the process, before a line that is of `at` by its clock.
  void MissingLines(const std::string& process, Timestamp at) {
    Missing(sim::Cat("lines of ", process, " before ", FormatRfc3339(at),
                     " (by its clock) are missing"),
            "keep all of the process's lines");
  }
  void MissingClock(const std::string& process) {
    Missing(sim::Cat("how far the clock of ", process, " is off is not known"),
            "declare it (--clocks FILE, --clock-error TIME), or log a call of it");
  }
  void Judged() { judged_ = true; }
  bool was_judged() const { return judged_; }

  InvariantFinding Find(const std::string& nothing_said, const std::string& remedy) const {
    InvariantFinding found = finding_;
    if (found.violations > 0) {
      found.finding = Finding::kViolated;
      found.text = first_;
      found.clocks_wanted.reset();
    } else if (found.possible > 0) {
      found.finding = Finding::kPossible;
      found.at = possible_at_;
      found.lock = possible_lock_;
      found.text = possible_;
    } else if (!missing_.empty()) {
      found.finding = Finding::kUnknown;
      found.text = missing_;
      found.remedy = remedy_;
      found.lacks_records = true;
    } else if (!judged_) {
      found.finding = Finding::kUnknown;
      found.text = nothing_said;
      found.remedy = remedy;
    } else {
      found.finding = Finding::kHolds;
    }
    return found;
  }

 private:
  InvariantFinding finding_;
  bool judged_ = false;
  std::string first_;
  std::string possible_;
  std::optional<Timestamp> possible_at_;
  std::string possible_lock_;
  std::string missing_;
  std::string remedy_;
};

}  // namespace whorl::check
