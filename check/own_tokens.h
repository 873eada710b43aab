// Judges which tokens processes take for their own: at most one process takes that of the lock's newest version
// (one_live_token).
//
// A process says so with the line "owns" and the token, or without one when it takes none.
//
//   row     [....... token 7 .......][.... token 9 ....
//   a       [...... owns 7 ......................]         no violation: 7 is not the newest any more
//   b                 [.. owns 7 ..]                       violation
//
// Memory: of each lock the tokens that processes have now, and had within the window.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/line_judge.h"
#include "check/operation.h"
#include "check/ownership.h"
#include "check/processes.h"
#include "check/tally.h"

namespace whorl::check {

class OwnTokens final : public LineJudge {
 public:
  OwnTokens(const Processes& processes, const Ownership& ownership)
      : processes_(processes), ownership_(ownership) {}

  // REQUIRES: log_line.statement is kOwns.
  void Add(const LogLine& log_line);
  // The process has none any more.
  void Gone(const std::string& process, Timestamp at);
  void Gap(const std::string& process, std::optional<Timestamp> last, Timestamp at) override;
  void Restart(const std::string& process, std::optional<Timestamp> last, Timestamp at) override;
  // Forgets spans that were over before `watermark`, in true time, and were not two at once.
  void Forget(Timestamp watermark);
  void Finish() override;
  // Terms that were over before it are not needed.
  Timestamp Needed(Timestamp watermark) const;

  void Doubt(const std::string& process) override { tally_.Doubt(process); }
  void Missing(std::string because, std::string remedy) override {
    tally_.Missing(std::move(because), std::move(remedy));
  }
  InvariantResult Find() const override;

 private:
  struct Span {  // by the process's clock
    std::string process;
    const Process* who = nullptr;
    Timestamp from;
    std::optional<Timestamp> to;  // it certainly lasted until then; nothing: until its last line
    std::optional<Timestamp> may_to;  // nothing: it may last
  };
  using Key = std::pair<std::string, uint64_t>;  // lock and token

  void End(const std::string& process, const std::string* lock, Timestamp certain_to, Timestamp at);
  // A pair, when nothing that is yet to come can change it.
  void Judge(const Key& key, const Span& a, const Span& b);

  const Processes& processes_;
  const Ownership& ownership_;
  Tally tally_{Invariant::kOneLiveToken};
  std::map<Key, std::vector<Span>> spans_;
};

}  // namespace whorl::check
