// Smaller scenarios, and the smallest that still does what a larger one does. The hunter and the
// property tests shrink by the same steps.
//
// Invariants:
//   1. Whatever is offered loads, when the scenario that it was made from does.
//   2. Each step makes the scenario smaller in an order that has an end: fewer parts, or as many
//      and lesser or plainer numbers. So taking any of them again and again ends.
//   3. What is offered, and in which order, depends on the scenario alone.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/scenario/scenario.h"

namespace whorl::sim {

// With less in it: without some faults (many at once come first), without a node and what happens
// to it, without a lock, without rows, of a shorter duration.
std::vector<Scenario> WithoutAPart(const Scenario& scenario);
// With a default in place of something drawn, or with a lesser or rounder number.
std::vector<Scenario> WithPlainerNumbers(const Scenario& scenario);
// Both, in this order.
std::vector<Scenario> SmallerScenarios(const Scenario& scenario);

struct Shrunk {
  Scenario scenario;
  int64_t runs = 0;  // how often `keeps` was asked
};
// The smallest to be had step by step that `keeps` accepts: when it returns, nothing of
// WithoutAPart is accepted, and nothing of WithPlainerNumbers, unless `max_runs` questions went
// into numbers before. REQUIRES: `keeps` accepts `scenario` and is a function of its argument.
Shrunk Shrink(Scenario scenario, const std::function<bool(const Scenario&)>& keeps,
              int64_t max_runs);

}  // namespace whorl::sim
