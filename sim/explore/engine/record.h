// Holds what a search remembers, except the states themselves, which are made again by taking choices. A checkpoint
// (checkpoint.h) saves it, and a search goes on from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/explore/engine/bad_graph.h"
#include "sim/explore/engine/fingerprint_set.h"
#include "sim/explore/engine/link_log.h"
#include "sim/explore/engine/model.h"
#include "sim/explore/engine/result.h"
#include "sim/explore/engine/segment.h"

namespace whorl::explore {

// The fingerprints of the states that were found.
struct Known {
  FingerprintSet visited;
  // States that need one more fault, and wait until the states with fewer faults are done. A state that is
  // meanwhile visited with fewer faults is in both sets.
  FingerprintSet beyond_fault;

  size_t bytes() const { return visited.bytes() + beyond_fault.bytes(); }
};

// The states of the log from `first` to the next batch. They need this many faults and steps, and were found from one
// level, so the parents in their links never decrease.
struct Batch {
  int faults = 0;
  int steps = 0;
  uint64_t first = 0;
};

// Holds what a search has found so far. A checkpoint does not contain `known.beyond_fault`.
struct SearchRecord {
  Known known;
  LinkLog log;
  uint64_t roots = 0;  // the number of initial states, with which the log begins
  std::vector<Batch> batches;

  int faults = 0;  // the faults of the states in the frontier
  int steps = 0;
  bool is_expanding = false;  // whether the frontier is partly replaced by its successors
  std::pair<int, int> explored;

  std::vector<FaultLevel> levels;
  std::vector<std::pair<uint64_t, Finding>> findings;  // each with the number of its state
  std::array<uint64_t, kMaxProperties> violating = {};
};

// The states that wait to be expanded or visited. The parents in the links of each log never decrease.
struct WaitingLinks {
  uint64_t frontier = 0;          // how many of the last states of SearchRecord::log wait
  LinkLog found;                  // states visited in the unfinished level
  std::vector<Finding> findings;  // in `found`, in the order of the states
  // By steps: states that a fault led to, and that need SearchRecord::faults faults.
  std::map<int, LinkLog> waiting;
  std::map<int, LinkLog> beyond_fault;  // by steps: states that need one more fault

  uint64_t states() const {
    uint64_t sum = frontier + found.size();
    for (const auto& [steps, links] : waiting) sum += links.size();
    for (const auto& [steps, links] : beyond_fault) sum += links.size();
    return sum;
  }
};

struct Checkpoint {
  SearchRecord record;
  WaitingLinks waiting;
  BadGraph bad;  // of a search for a lasso (lasso.h); otherwise empty
};

// A checkpoint that no search can go on from; what() says why.
class BadCheckpoint : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace whorl::explore
