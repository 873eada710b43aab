// Explains a violation: who did what, and what it knew, in at most kMaxStoryLines lines.
//
//   token_monotonic violated at 56.040398 s, by b (a and c took part): b committed the token ...
//      26.012345  b  check read lock: token 0.009273 (a's), last written 18.020000 by a
//      ...
//      56.040398  b  takeover_update committed: lock: token 42.009073 -> 26.015705   <- here
//             then   a is down, b runs, c is down; nobody believes that it leads
//      58.000000  a  its stale write arrives, and the resource that fences refuses it
//
// From the history up to the violating observation, the story tells
//   - the round of the process that violated the invariant: its consecutive transactions, from the
//     read on which the last of them was based;
//   - what others did to the same rows meanwhile, faults that overlapped, and beliefs;
//   - faults since the last grant before that round, and the transactions that they struck: a reply that was lost
//     then may be why a process knew nothing;
//   - the harm: the first stale write after it, and the first that the rightful holder could not make;
//   - for a lock that was not given back, how its holder's part ended: it is the one to blame, and not the process
//     whose event showed that the time was over;
//   - for a belief or an answer, how its process got the token, and why others still believed; for
//     a wedge, who held the lock last and which transactions have failed since.
// Invariants:
//   1. A story is made from observations alone; no protocol and no scenario is known by name.
//   2. Times are true time since the start of the run; lines are in the order of time.
//   3. Lines that do not fit are left out, the least important ones first, and counted.
#pragma once

#include <functional>
#include <optional>

#include "sim/judge/check_report.h"
#include "sim/judge/run.h"
#include "sim/report/aftermath.h"
#include "sim/report/history.h"
#include "sim/report/story.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// The invariant that was violated first, in time; `wanted`, if it is given. Null if it was not violated.
const InvariantResult* FirstViolated(const CheckReport& checks, std::optional<Invariant> wanted);

// Explains the first violation in time, or the first violation of `invariant`. Runs the scenario
// once more. REQUIRES: `result` is the result of RunScenario for `scenario` with that seed.
Story Explain(const Scenario& scenario, const RunResult& result,
              std::optional<Invariant> invariant = std::nullopt);

// The same for a real run: `replay` passes its recorded observations to a sink.
using Replay = std::function<void(ObservationSink&)>;
Story Explain(const Scenario& scenario, const RunResult& result, std::optional<Invariant> invariant,
              const Replay& replay);

// Explains one violation. REQUIRES: `history` has heard the run up to the violating observation, and `aftermath`,
// which may be null, the run to its end.
Story StoryOf(const Scenario& scenario, const InvariantResult& violated, const History& history,
              const Aftermath* aftermath = nullptr);

}  // namespace whorl::sim
