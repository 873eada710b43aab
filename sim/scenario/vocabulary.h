// The words that a scenario may name, one line each: steps, phases, invariants, metrics, goals.
//
// Invariant: every word has its line; the guide to the language (guide.h) shows them all.
// Deliberately left out: exact definitions, which stand where each thing is judged or counted
// (sim/judge/checkers/, metrics_collector.h).
#pragma once

#include <string_view>

#include "protocol/names.h"
#include "sim/scenario/metrics.h"

namespace whorl::sim {

// Of `write` and `has_lock` too, which every protocol has.
std::string_view AboutStep(StepName step);
std::string_view AboutPhase(Phase phase);
std::string_view AboutInvariant(Invariant invariant);
std::string_view AboutMetric(Metric metric);
std::string_view AboutSometimes(Sometimes goal);

}  // namespace whorl::sim
