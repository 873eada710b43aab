// One line about each word that a scenario may use: steps, phases, invariants, metrics, goals,
// and the events of a schedule.
//
// Invariant: every word has a line, and the guide to the language (guide.h) shows them all.
// Deliberately left out: exact definitions, which are where each one is judged or counted
// (sim/judge/checkers/, sim/judge/metrics_collector.h).
#pragma once

#include <string_view>

#include "protocol/names.h"
#include "sim/scenario/metrics.h"
#include "sim/scenario/schedule.h"

namespace whorl::sim {

// Including `write` and `has_lock`, which every protocol has; empty for a step of a protocol that
// was added from outside.
std::string_view AboutStep(StepName step);
std::string_view AboutPhase(Phase phase);
std::string_view AboutInvariant(Invariant invariant);
std::string_view AboutMetric(Metric metric);
std::string_view AboutSometimes(Sometimes goal);
std::string_view AboutScheduledEvent(ScheduledEvent event);

}  // namespace whorl::sim
