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

// The states that are known.
struct Known {
  FingerprintSet visited;
  // States one more fault away, which wait until the states with one fault fewer are done. A state that is then
  // visited with fewer faults is in both.
  FingerprintSet beyond_fault;

  size_t bytes() const { return visited.bytes() + beyond_fault.bytes(); }
};

// The states of the log from `first` to the next batch: they are this many faults and steps away, and come from
// one level, so the parents in their links never decrease.
struct Batch {
  int faults = 0;
  int steps = 0;
  uint64_t first = 0;
};

// What was found. Its `known.beyond_fault` is no part of a checkpoint.
struct SearchRecord {
  Known known;
  LinkLog log;
  uint64_t roots = 0;  // how many initial states the log begins with
  std::vector<Batch> batches;

  int faults = 0;  // of the states in the frontier
  int steps = 0;
  bool is_expanding = false;  // whether the frontier is partly replaced by its successors
  std::pair<int, int> explored;

  std::vector<FaultLevel> levels;
  std::vector<std::pair<uint64_t, Finding>> findings;  // with the number of the state
  std::array<uint64_t, kMaxProperties> violating = {};
};

// The states that wait to be expanded or visited. The parents in the links of each log never decrease.
struct WaitingLinks {
  uint64_t frontier = 0;          // these are the last states of SearchRecord::log
  LinkLog found;                  // states visited in the unfinished level
  std::vector<Finding> findings;  // in `found`, in the order of the states
  std::map<int, LinkLog>
      waiting;  // by steps: what a fault led to, with SearchRecord::faults faults
  std::map<int, LinkLog> beyond_fault;  // the same with one more

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
  BadGraph bad;  // of a search for a lasso (lasso.h); of others, empty
};

// A checkpoint that no search can go on from; what() says why.
class BadCheckpoint : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace whorl::explore
