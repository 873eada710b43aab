// Replays an inferred scenario, and compares what it does with the history.
//
// Which process takes a lock over, and when, is chance: of a few seeds the one is taken whose replay is
// most like the history. A fault that struck while its node was at work is moved to where the replay has
// the node at work.
#pragma once

#include <string>
#include <vector>

#include "check/infer.h"
#include "check/verdict.h"
#include "sim/scenario/scenario.h"

namespace whorl::check {

// All texts are for people.
struct Reproduction {
  // It loads, and a replay of it violates what `expect` lists and nothing else.
  sim::Scenario scenario;
  std::vector<std::string> inferred;  // the faults
  std::vector<std::string> not_inferred;
  std::vector<std::string> reproduced;
  std::vector<std::string> not_reproduced;  // what differs between the replay and the history
};

Reproduction Reproduce(InferredScenario inferred, const HistoryVerdict& verdict);

}  // namespace whorl::check
