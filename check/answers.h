// Judges answers: a process that told its application that it has the lock owned it at some instant from
// when it was asked until it answered (has_lock_truthful).
//
// An answer is judged when later changes of the row show that none is missing before it, or in Finish().
// Without the time at which it was asked, only a process that never owned the lock is found out.
//
// Memory: the answers of the window, and those that contradict the recorded row.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/line_judge.h"
#include "check/operation.h"
#include "check/ownership.h"
#include "check/processes.h"
#include "check/tally.h"

namespace whorl::check {

class Answers final : public LineJudge {
 public:
  Answers(const Processes& processes, const Ownership& ownership)
      : processes_(processes), ownership_(ownership) {}

  // REQUIRES: log_line.statement is kAnswers; statements of one process come in the order of its clock.
  void Add(const LogLine& log_line);
  void Gap(const std::string& process, std::optional<Timestamp> last, Timestamp at) override;
  // Judges answers that were given before `watermark`, in true time: the changes of rows before it, and
  // for a window after it, were recorded.
  void JudgeBefore(Timestamp watermark);
  void Finish() override;
  // No answer that is yet to be judged, or to come, was asked for before it.
  Timestamp Needed(Timestamp watermark) const;

  void Doubt(const std::string& process) override { tally_.Doubt(process); }
  void Missing(std::string because, std::string remedy) override {
    tally_.Missing(std::move(because), std::move(remedy));
  }
  InvariantResult Find() const override;

 private:
  struct Answer {
    std::string process;
    std::string lock;
    const Process* who = nullptr;
    // By the process's clock.
    std::optional<Timestamp> asked;
    Timestamp at;
    std::optional<Timestamp> started;  // the process that runs now
    bool has_restarted = false;        // another one had its id before
  };
  // Whether a term is one of the process that answered.
  enum class Its : uint8_t { kYes, kPerhaps, kNo };

  Its IsIts(const Ownership::Term& term, const Answer& answer) const;
  bool IsBorneOut(const Answer& answer, const Ownership::Lock& lock) const;
  bool IsRefuted(const Answer& answer, const Ownership::Lock& lock) const;
  // Adds it to the tally. False: it is too early.
  bool Take(const Answer& answer, bool is_last);

  const Processes& processes_;
  const Ownership& ownership_;
  Tally tally_{Invariant::kHasLockTruthful};
  std::vector<Answer> waiting_;
};

}  // namespace whorl::check
