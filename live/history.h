// Turns the records of a real run into observations like those of a simulated run.
//
// Rules:
//   1. Events are ordered by CLOCK_BOOTTIME, which all processes share. Commits are ordered by their
//      timestamps, and each is placed no later than the first reply to it or to a later commit.
//   2. The rows that a commit changed are the difference of two reads: as of just before the commit
//      and as of the commit. If the rows that one commit left differ from those that the next one
//      found, a commit in between was not seen, and the history has a hole.
//   3. A belief begins and lapses as the standing of its process says. It also lapses by the clock,
//      even while the process is paused.
//   4. A call hangs if it was under way on a cut link, or if a fault made it hang.
//   5. Spanner's timestamps are shifted as if the run had begun when all simulations begin, so that
//      traces can be compared. Tokens in numeric form are not shifted.
// Deliberately left out, because only the model can observe it: calls that wait for a lock, commits
// that wait for TrueTime, and replies that come too late.
#pragma once

#include <vector>

#include "live/record.h"
#include "sim/judge/run.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::live {

// Returns the observations of the run, RunEnded last. Adds the holes that it finds to the record.
std::vector<sim::Observation> HistoryOf(const sim::Scenario& scenario, Record& record);

// Judges the history by the simulation's checkers. If it has holes, all verdicts are unknown.
// `sink` may be null.
sim::RunResult JudgeHistory(const sim::Scenario& scenario, uint64_t seed,
                            const std::vector<sim::Observation>& history,
                            const std::vector<std::string>& holes, sim::ObservationSink* sink);

}  // namespace whorl::live
