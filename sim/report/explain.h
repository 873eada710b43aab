// Why it came to a violation: who did what, on which knowledge, in at most kMaxStoryLines lines.
//
//   token_monotonic violated at 56.040398 s, by b (a and c took part): b committed the token ...
//      26.012345  b  check read lock: token 0.009273 (a's), last written 18.020000 by a
//      ...
//      56.040398  b  takeover_update committed: lock: token 42.009073 -> 26.015705   <- here
//             then   a is down, b runs, c is down; nobody believes that it leads
//
// What is told, of the history up to the violating observation:
//   - the round of the process that did it: its transactions, one after the other, from the read
//     that the last of them was decided on;
//   - what others did to the same rows meanwhile, faults that overlapped, and beliefs;
//   - for a belief or an answer, how its process came by the token, and why the others still
//     believed; for a wedge, who held the lock last and what has failed since.
// Invariants:
//   1. It knows observations only, and no protocol and no scenario by name.
//   2. Times are true time since the start of the run; lines stand in the order of time.
//   3. What does not fit is left out by its weight, and counted.
#pragma once

#include <functional>
#include <optional>

#include "sim/judge/check_report.h"
#include "sim/judge/run.h"
#include "sim/report/history.h"
#include "sim/report/story.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// Of the first violation in time, or of the first one of `invariant`. Runs the scenario once more.
// REQUIRES: `result` is what RunScenario said of `scenario` with that seed.
Story Explain(const Scenario& scenario, const RunResult& result,
              std::optional<Invariant> invariant = std::nullopt);

// The same of a run that is told again by `replay` rather than run once more: a real one.
using Replay = std::function<void(ObservationSink&)>;
Story Explain(const Scenario& scenario, const RunResult& result, std::optional<Invariant> invariant,
              const Replay& replay);

// Of one violation. REQUIRES: `history` heard the run up to the violating observation.
Story StoryOf(const Scenario& scenario, const InvariantResult& violated, const History& history);

}  // namespace whorl::sim
