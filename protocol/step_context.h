// Bundles the arguments of one step of a machine, so that its small functions can pass them on.
//
// Deliberately left out: the event, which each function takes in the form that it handles.
#pragma once

#include <vector>

#include "protocol/machine.h"

namespace whorl {

// Lives as long as the call of Step(), and refers to that call's arguments.
template <typename Config, typename State>
struct StepContext {
  const Config& config;
  State& state;
  LocalTime now;
  Entropy& entropy;
  std::vector<Effect>& out;
};

}  // namespace whorl
