// Sorts all operations of a history by true time, as far as clocks tell it, for pages and for inferred
// scenarios. Verdicts do not need it.
//
// Memory: that of the whole history.
#pragma once

#include <vector>

#include "check/operation.h"
#include "check/processes.h"

namespace whorl::check {

struct Moment {
  Timestamp at;  // the middle of what the clock allows; of a call, when its reply came
  Operation operation;
};

class History {
 public:
  // What is declared is left out: `Processes` knows it.
  void Add(const Operation& operation);
  // Records that were there twice are left out. Where a clock is not known, it is taken to be right.
  std::vector<Moment> InOrder(const Processes& processes) const;

 private:
  std::vector<Operation> operations_;
};

// The true time at which the clock of a process showed `at`, in the middle of what is possible.
Timestamp LikelyTime(const Processes& processes, const std::string& process, Timestamp at);

// The whole second before all of it, from which pages and scenarios count. REQUIRES: not empty.
Timestamp BeginOf(const std::vector<Moment>& moments, const Processes& processes);

}  // namespace whorl::check
