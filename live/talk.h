// What the stage (the process that runs a scenario) and a node's process say to each other: a line
// of JSON for each message, on the node's standard input and output.
//
// Invariants:
//   1. All times of one run count from one instant, the run's start, by CLOCK_BOOTTIME, which all
//      processes of the machine share: histories are merged by time without guessing.
//   2. A line of a node is shorter than PIPE_BUF, so that it comes whole or not at all, whenever
//      the node is killed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "live/record.h"
#include "protocol/spanner/fields.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/node_clock.h"
#include "sim/world/observation.h"

namespace whorl::live {

// The header of a call that says which one it is: a CallName and a request as numbers, each followed
// by a dot, and the word of the step.
inline constexpr std::string_view kCallHeader = "whorl-call";

// What makes the program whorl-grpc a node's process.
inline constexpr std::string_view kNodeArgument = "--node";

// --- to a node ---------------------------------------------------------------------------------

// The first line: who the process is. It connects, says Ready, and waits.
struct Setup {
  sim::Scenario scenario;
  ProcessId process;
  std::string endpoint;  // of the node's port of the proxy
  std::string database;
  WHORL_FIELDS(Setup, scenario, process, endpoint, database);
};
// It starts at `at`, as the scenario's node does.
struct Begin {
  Duration run_started;        // of CLOCK_BOOTTIME
  Timestamp run_started_wall;  // the same by the system's clock
  sim::NodeClock clock;
  sim::Instant at;
  WHORL_FIELDS(Begin, run_started, run_started_wall, clock, at);
};
struct Go {  // on, from the point
  uint64_t point = 0;
  WHORL_FIELDS(Go, point);
};
struct StopGracefully {
  WHORL_NO_FIELDS(StopGracefully);
};
struct HearOfRelease {
  uint16_t lock = 0;
  WHORL_FIELDS(HearOfRelease, lock);
};
struct SetClock {
  sim::NodeClock clock;
  WHORL_FIELDS(SetClock, clock);
};
using Order = std::variant<Setup, Begin, Go, StopGracefully, HearOfRelease, SetClock>;

// --- from a node -------------------------------------------------------------------------------

struct Ready {
  WHORL_NO_FIELDS(Ready);
};
// The process stands still, since a fault of the scenario waits for this phase of this step, until
// it hears Go.
struct AtPoint {
  uint64_t point = 0;
  CallName call;
  StepName step;
  Phase phase = Phase::kEnded;
  std::vector<sim::ObservedEvent> what;  // that make up the phase, but for `replied`
  WHORL_FIELDS(AtPoint, point, call, step, phase, what);
};
struct Announces {  // that it has given the lock back
  uint16_t lock = 0;
  WHORL_FIELDS(Announces, lock);
};
struct CannotGoOn {
  std::string why;
  WHORL_FIELDS(CannotGoOn, why);
};
using Report = std::variant<Ready, ReportedEvent, AtPoint, Announces, CannotGoOn>;

}  // namespace whorl::live
