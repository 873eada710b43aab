// Infers a scenario from a history: the same processes, leases and clocks, and the faults that explain
// what processes did not do.
//
//   silent while it held a lock, and alive after      pause
//   its lines go on, but nothing of it is committed   partition
//   it starts anew, or ends and had not given back    crash
//   it says that it leads no lock any more, and ends  stop
//   one call takes far longer than others             latency
//
// An inference is a guess: each says from what it was made, and what cannot be inferred is named. Whether
// the scenario does what the history did is for its replay to show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/process_timelines.h"
#include "check/processes.h"
#include "check/verdict.h"
#include "protocol/protocols.h"
#include "sim/scenario/scenario.h"

namespace whorl::check {

struct InferredFault {
  sim::FaultSpec fault;
  std::string text;  // for people: what was inferred, and from what
  // Its node was at work when it struck. The moment within the work is then not known to the line.
  bool strikes_work = false;
};

struct InferredScenario {
  sim::Scenario scenario;                 // without faults and expectations
  std::vector<InferredFault> faults;      // by time
  Timestamp begins;                       // of the history, or of the part that the scenario has
  std::vector<Grant> grants;              // in that part
  std::vector<std::string> not_inferred;  // for people
};

// Nothing if the history names no process that takes part in a lock. `lease`: of processes that declare
// none; nothing: the protocol's default.
std::optional<InferredScenario> InferScenario(const ProtocolInfo& protocol, const History& history,
                                              const Processes& processes,
                                              std::optional<Duration> lease,
                                              const HistoryVerdict& verdict);

}  // namespace whorl::check
