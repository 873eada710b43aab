// Saves the findings and the digests of a hunt, and tells when to save its progress.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/hunt/options.h"
#include "cli/hunt/report.h"
#include "cli/output.h"
#include "sim/hunt/hunt.h"

namespace whorl::cli {

// Writes a scenario and a page for each finding into the folder that the request names, if it names one. Goes
// on after a finding that could not be saved, and returns the error at the end.
absl::Status SaveFindings(const HuntRequest& request, const HuntReport& report);

// Writes the digest of every run of a hunt, so that two builds can be compared run by run.
//
// A line has the digests of a hundred runs, after the number of the first of them in the hunt or
// its shard, counted from 0. A digest is the run's rolling hash and a letter for the verdict of
// each invariant, in their order: h holds, v violated, u unknown, - not applicable.
//   0 0d13c05439a13609:hhhhvhhhh-h 5fd27a6cd53a4a8b:hhhhhhhhh-h ...

class DigestFile {
 public:
  // An empty path: nothing is written. Returns an error if the place cannot be written.
  absl::Status Open(const std::string& path);
  void Add(const sim::RunDigest& digest);
  absl::Status Commit();

 private:
  bool is_wanted_ = false;
  OutputFile file_;
  uint64_t count_ = 0;
};

// Tells when long work should save its progress: at once, then at intervals that double up to ten seconds;
// less often if saving takes long.

class SaveTimes {
 public:
  using Clock = std::chrono::steady_clock;

  bool IsDue() const { return Clock::now() >= due_; }
  // It was saved, which had begun at `started`.
  void Saved(Clock::time_point started) {
    const Clock::time_point ended = Clock::now();
    due_ = ended + std::max<Clock::duration>(interval_, kShareOfTime * (ended - started));
    interval_ = std::min<Clock::duration>(2 * interval_, kLongestInterval);
  }

 private:
  static constexpr std::chrono::seconds kLongestInterval{10};
  static constexpr int kShareOfTime = 50;  // saving takes at most two per cent of the time

  Clock::time_point due_;
  Clock::duration interval_ = std::chrono::milliseconds(100);
};

}  // namespace whorl::cli
