// Counts how often an invariant was violated, or may have been, and notes what was missing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "check/relative_time.h"
#include "check/verdict.h"

namespace whorl::check {

class Tally {
 public:
  // The processes by whose clocks a violation is certain; empty: it is, whatever clocks show.
  using ByClocksOf = std::vector<std::string>;

  explicit Tally(Invariant invariant) { result_.invariant = invariant; }

  // `text()` is called for the first violation by these clocks only.
  template <typename Text>
  void Violated(Timestamp at, const std::string& lock, ByClocksOf by, Text&& text) {
    Violated(at, lock, std::move(by), 1, text);
  }
  template <typename Text>
  void Violated(Timestamp at, const std::string& lock, ByClocksOf by, int64_t count, Text&& text) {
    result_.violations += count;
    const auto same =
        std::ranges::find_if(violated_, [&](const Certain& certain) { return certain.by == by; });
    if (same != violated_.end()) {
      same->count += count;
      return;
    }
    if (violated_.size() == kKept) return;
    violated_.push_back(
        {.by = std::move(by), .count = count, .at = at, .lock = lock, .text = text()});
  }
  // The clock of the process is not what it was taken for: what was certain by it is possible.
  void Doubt(const std::string& process) {
    for (const Certain& certain : violated_) {
      if (std::ranges::find(certain.by, process) == certain.by.end()) continue;
      result_.violations -= certain.count;
      Possible(certain.at, certain.lock, std::nullopt, [&] {
        return Cat(certain.text, "; but the clock of ", process, " contradicts itself");
      });
      result_.possible += certain.count - 1;
    }
    std::erase_if(violated_, [&](const Certain& certain) {
      return std::ranges::find(certain.by, process) != certain.by.end();
    });
    // Of those that were not kept nothing is known.
    if (violated_.empty()) {
      result_.possible += std::exchange(result_.violations, 0);
    }
  }
  template <typename Text>
  void Possible(Timestamp at, const std::string& lock, std::optional<Duration> clocks_wanted,
                Text&& text) {
    Possible(at, lock, clocks_wanted, 1, text);
  }
  template <typename Text>
  void Possible(Timestamp at, const std::string& lock, std::optional<Duration> clocks_wanted,
                int64_t count, Text&& text) {
    if (std::exchange(result_.possible, result_.possible + count) > 0) return;
    possible_at_ = at;
    possible_lock_ = lock;
    result_.clocks_wanted = clocks_wanted;
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
    if (is_missing()) return;
    Missing(Cat("lines of ", process, " before ", TimeText(at), " (by its clock) are missing"),
            "keep all of the process's lines");
  }
  void MissingClock(const std::string& process) {
    Missing(Cat("how far the clock of ", process, " is off is not known"),
            "declare it (--clocks FILE, --clock-error TIME), or log a call of it");
  }
  int64_t possible() const { return result_.possible; }
  bool is_missing() const { return !missing_.empty(); }
  void Judged() { judged_ = true; }
  bool was_judged() const { return judged_; }

  InvariantResult Find(const std::string& nothing_said, const std::string& remedy) const {
    InvariantResult found = result_;
    if (found.violations > 0) {
      found.verdict = Verdict::kViolated;
      found.at = violated_.front().at;
      found.lock = violated_.front().lock;
      found.text = violated_.front().text;
      found.clocks_wanted.reset();
    } else if (found.possible > 0) {
      found.verdict = Verdict::kPossiblyViolated;
      found.at = possible_at_;
      found.lock = possible_lock_;
      found.text = possible_;
    } else if (!missing_.empty()) {
      found.verdict = Verdict::kUnknown;
      found.text = missing_;
      found.remedy = remedy_;
      found.lacks_records = true;
    } else if (!judged_) {
      found.verdict = Verdict::kUnknown;
      found.text = nothing_said;
      found.remedy = remedy;
    } else {
      found.verdict = Verdict::kHolds;
    }
    return found;
  }

 private:
  struct Certain {
    ByClocksOf by;
    int64_t count = 0;
    Timestamp at;
    std::string lock;
    std::string text;
  };
  static constexpr size_t kKept = 64;

  InvariantResult result_;
  bool judged_ = false;
  std::vector<Certain> violated_;  // the first ones, each by other clocks
  std::string possible_;
  std::optional<Timestamp> possible_at_;
  std::string possible_lock_;
  std::string missing_;
  std::string remedy_;
};

}  // namespace whorl::check
