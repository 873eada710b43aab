// From what was seen of a real run to observations, as a simulated run has them.
//
// What is done, and nothing is guessed:
//   1. Everything is put in the order of CLOCK_BOOTTIME, which all processes share. Commits are in
//      the order of their timestamps: one is there, at the latest, when the reply to it or to a
//      later one was seen.
//   2. The rows of a commit are the difference of two reads: as of just before it, and as of it.
//      What the one before left has to be what the next one finds; else somebody's commit was not
//      seen.
//   3. A belief begins and lapses as its process's standing says, and lapses by the clock at its
//      time, also while the process is paused.
//   4. A call hangs that a cut link, or a call's own fault, has met.
//   5. Spanner's times are told as if the run had begun when all simulations begin, so that traces
//      read alike. Tokens in their numeric form stay as they were.
// Not seen, because only a model can: calls that wait for a lock, whether a commit waited for
// TrueTime, replies that came too late to be heard.
#pragma once

#include <vector>

#include "live/record.h"
#include "sim/judge/run.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::live {

// The observations of the run, RunEnded last. Adds to the record's holes what is found missing.
std::vector<sim::Observation> HistoryOf(const sim::Scenario& scenario, Record& record);

// What the simulation's checkers say of the history. Where it has holes, nothing is certain.
// `sink` may be null.
sim::RunResult JudgeHistory(const sim::Scenario& scenario, uint64_t seed,
                            const std::vector<sim::Observation>& history,
                            const std::vector<std::string>& holes, sim::ObservationSink* sink);

}  // namespace whorl::live
