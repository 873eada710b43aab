// Saves a search as bytes, from which it can go on later, on another machine too.
//
// The bytes hold what SearchRecord and WaitingLinks hold: some 11 bytes for each visited state and
// three for each that waits; of a search for a lasso, its graph as well, with some 20 bytes for each bad state
// and four for an edge. States are not among them: they are made again (restore.h). First comes
// a line with the version, then sections, each followed by its checksum.
//
// Invariant: whatever the bytes are, reading them ends in BadCheckpoint, which names the byte, or in
// a record that fulfils what restore.h requires of its links.
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "sim/explore/engine/record.h"

namespace whorl::explore {

// What a search is about, as names and values. A search that reads a checkpoint compares them.
using Settings = std::vector<std::pair<std::string, std::string>>;

// `bad`: of a search that has no such graph, an empty one. Errors are those of the stream.
void WriteCheckpoint(const Settings& settings, const SearchRecord& record,
                     const WaitingLinks& waiting, const BadGraph& bad, std::ostream& out);

// kIgnored is for tests of what reading does behind them.
enum class Checksums { kChecked, kIgnored };

class CheckpointReader {
 public:
  // REQUIRES: `in` outlives it.
  explicit CheckpointReader(std::istream& in, Checksums checksums = Checksums::kChecked)
      : in_(*in.rdbuf()), checksums_(checksums) {}

  // Both are called once, one after the other, and throw BadCheckpoint.
  Settings ReadSettings();
  Checkpoint ReadSearch();

 private:
  std::streambuf& in_;
  const Checksums checksums_;
  uint64_t offset_ = 0;
};

}  // namespace whorl::explore
