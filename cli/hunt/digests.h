// Writes what every run of a hunt came to: hash and verdicts, for comparing two builds run by run.
//
// A line has the digests of a hundred runs, after the number of the first of them in the hunt or
// its shard, counted from 0. A digest is the run's rolling hash and a letter for the verdict of
// each invariant, in their order: h holds, v violated, u unknown, - not applicable.
//   0 0d13c05439a13609:hhhhvhhhh-h 5fd27a6cd53a4a8b:hhhhhhhhh-h ...
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/output.h"
#include "sim/hunt/hunt.h"

namespace whorl::cli {

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

}  // namespace whorl::cli
