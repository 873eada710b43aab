// Saves a search as bytes, from which it can go on later, on another machine too.
//
// The bytes hold what SearchRecord and WaitingLinks hold: some 11 bytes for each visited state and three for each
// waiting state. A search for a lasso adds its graph, with some 20 bytes for each bad state and four for each edge.
// States themselves are not saved: they are made again (restore.h). The first line has the version; then come
// sections, each followed by its checksum.
//
// Invariant: for all bytes, reading them either throws BadCheckpoint, which names the byte, or gives a record whose
// links are as restore.h requires.
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "sim/explore/engine/record.h"

namespace whorl::explore {

// The settings of a search, as names and values. A search that reads a checkpoint compares them with its own.
using Settings = std::vector<std::pair<std::string, std::string>>;

// Writes a checkpoint. `bad`: empty for a search that has no such graph. Errors are left in the stream's state.
void WriteCheckpoint(const Settings& settings, const SearchRecord& record,
                     const WaitingLinks& waiting, const BadGraph& bad, std::ostream& out);

// kIgnored: tests of the reader's other checks change bytes without mending the checksums.
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
