// Prints the verdict as the JSON of `whorl check --json`, without what needs statistics.
#pragma once

#include "check/verdict.h"
#include "sim/scenario/json_text.h"

namespace whorl::check {

// "invariants", "metrics" (counts only), "problems" and "assumptions".
sim::Json VerdictJson(const HistoryVerdict& verdict);

}  // namespace whorl::check
