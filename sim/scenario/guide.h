// Generates scenarios/LANGUAGE.md, the guide to the scenario language.
//
// The tables are generated from language.h, Vocabulary() and the protocols' descriptions, so the
// guide's keys, words, defaults and examples are those of the loader. A test compares the file.
// Only the paragraphs between the tables are written here.
#pragma once

#include <string>
#include <string_view>

#include "protocol/names.h"
#include "sim/scenario/metrics.h"
#include "sim/scenario/schedule.h"

namespace whorl::sim {

// The text of the file, with its final newline.
std::string ScenarioGuide();

// The lines of the guide about each word that a scenario may use: steps, phases, invariants, metrics, goals,
// and the events of a schedule.
//
// Invariant: every word has a line, and the guide to the language (guide.h) shows them all.
// Deliberately left out: exact definitions, which are where each one is judged or counted
// (sim/judge/checkers/, sim/judge/metrics_collector.h).

// Including `write` and `has_lock`, which every protocol has; empty for a step of a protocol that
// was added from outside.
std::string_view AboutStep(StepName step);
std::string_view AboutPhase(Phase phase);
std::string_view AboutInvariant(Invariant invariant);
std::string_view AboutMetric(Metric metric);
std::string_view AboutSometimes(Sometimes goal);
std::string_view AboutScheduledEvent(ScheduledEvent event);

}  // namespace whorl::sim
