// Judges tokens: those that processes handed to their applications (handed_token_monotonic), and those of
// the writes that a resource accepted (fenced_writes_ordered).
//
// A term is a process since it started, and a token: within one the same token may be handed out again.
// Two terms are in doubt only if the clocks do not say which one handed its token out first.
//
// Memory: the terms of the window, and of each lock the greatest tokens before it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/line_judge.h"
#include "check/operation.h"
#include "check/processes.h"
#include "check/tally.h"

namespace whorl::check {

class HandedTokens final : public LineJudge {
 public:
  explicit HandedTokens(const Processes& processes) : processes_(processes) {}

  // REQUIRES: log_line.token; statements of one process come in the order of its clock.
  void Add(const LogLine& log_line);
  void Gap(const std::string& process, std::optional<Timestamp> last, Timestamp at) override;
  // Forgets terms that handed out nothing at or after `watermark`, in true time, except the greatest.
  void Forget(Timestamp watermark);
  void Finish() override;

  void Doubt(const std::string& process) override { tally_.Doubt(process); }
  void Missing(std::string because, std::string remedy) override {
    tally_.Missing(std::move(because), std::move(remedy));
  }
  InvariantResult Find() const override;

 private:
  struct Term {
    std::string process;
    int64_t start = 0;  // of the process
    uint64_t token = 0;
    const Process* who = nullptr;
    // When it handed its token out, by the process's clock.
    Timestamp first;
    Timestamp last;

    bool IsSame(const Term& other) const {
      return token == other.token && start == other.start && process == other.process;
    }
  };
  struct Lock {
    std::vector<Term> terms;
    std::optional<Term> greatest;  // of those forgotten: the one with the greatest token
  };

  void Judge(const std::string& name, const Term& a, const Term& b);
  class Order;
  // A term that is over, against the others that are, and those that are not.
  void Fold(const std::string& name, Lock& lock, const Term& term, std::span<const Term> others,
            const Order& order);

  const Processes& processes_;
  Tally tally_{Invariant::kHandedTokenMonotonic};
  std::map<std::string, Lock, std::less<>> locks_;
};

// The lines of a resource come in its order, so no clock is in doubt.
class AcceptedWrites final : public LineJudge {
 public:
  // REQUIRES: log_line.token; log_line.process is the resource.
  void Add(const LogLine& log_line);
  void Gap(const std::string& process, std::optional<Timestamp> last, Timestamp at) override;
  void Doubt(const std::string& process) override { tally_.Doubt(process); }
  void Missing(std::string because, std::string remedy) override {
    tally_.Missing(std::move(because), std::move(remedy));
  }
  InvariantResult Find() const override;

 private:
  Tally tally_{Invariant::kFencedWritesOrdered};
  std::map<std::pair<std::string, std::string>, uint64_t> greatest_;  // by resource and lock
};

}  // namespace whorl::check
