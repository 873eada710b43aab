// Judges releases: an application is not at work under a lock when its process gives the lock back
// (no_work_after_release).
//
// A release is a commit by the owner that deletes its row, or marks it as released. If the call is recorded,
// it was visible between the call's `sent` and `received`, by the clock of the process whose work it is, so
// that no clock is in doubt. Otherwise it is not certain which process released it.
//
// Memory: releases until their process's log has gone on beyond them, and the work that one of them, or
// one that is yet to come, may meet.
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

class Releases final : public LineJudge {
 public:
  explicit Releases(const Processes& processes) : processes_(processes) {}

  struct Release {
    std::string lock;
    Timestamp commit;
    std::string owner;
    bool is_certain = false;  // that the owner gave it back, and no other process took it away
    std::optional<Ownership::Writer> call;
  };
  void Add(Release release);

  void Begin(const std::string& process, const std::string& lock, Timestamp at);
  // Empty lock: of all its locks.
  void End(const std::string& process, const std::string& lock, Timestamp at);
  void Gap(const std::string& process, std::optional<Timestamp> last, Timestamp at) override;
  void Restart(const std::string& process, std::optional<Timestamp> last, Timestamp at) override;
  // Judges what can be judged, and forgets work that was over before `watermark`, in true time.
  void JudgeBefore(Timestamp watermark);
  void Finish() override;

  void Doubt(const std::string& process) override { tally_.Doubt(process); }
  void Missing(std::string because, std::string remedy) override {
    tally_.Missing(std::move(because), std::move(remedy));
  }
  InvariantResult Find() const override;

 private:
  // By the process's clock.
  struct Work {
    Timestamp from;
    std::optional<Timestamp> to;  // it certainly lasted until then; nothing: until its last line
    std::optional<Timestamp> may_to;  // nothing: it may last
  };
  struct Part {  // of one process in one lock
    std::vector<Work> work;
    bool is_open = false;  // the last one
  };

  // It was given back between these.
  struct Given {
    Timestamp from;
    std::optional<Timestamp> to;  // nothing: at any time after
  };
  enum class Meets : uint8_t { kYes, kPerhaps, kNo };

  void Cut(const std::string& process, std::optional<Timestamp> last, Timestamp at);
  // False: it is too early.
  bool Take(const Release& release, bool is_last);
  // When the lock was given back, by the clock of the owner; nothing if that is not known.
  static std::optional<Given> GivenBack(const Release& release, const Process& owner);
  // Whether it was given back during any of these works.
  static Meets Meet(const Release& release, const Given& given, const Process& owner,
                    const std::vector<Work>& works);
  void Say(const Release& release, Meets meets);

  const Processes& processes_;
  Tally tally_{Invariant::kNoWorkAfterRelease};
  std::map<std::pair<std::string, std::string>, Part> parts_;  // by process and lock
  bool anybody_works_ = false;
  std::vector<Release> waiting_;
};

}  // namespace whorl::check
