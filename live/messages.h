// Declares the messages between the coordinator (the process that runs a scenario) and a node's
// process: one line of JSON each, on the node's standard input and output.
//
// Invariants:
//   1. All times of one run count from the run's start by CLOCK_BOOTTIME, which all processes of
//      the machine share, so that histories can be merged by time.
//   2. A line from a node is shorter than PIPE_BUF, so that it arrives whole or not at all, whenever
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

// The header that identifies a call: the numbers of its CallName and of its request, each followed
// by a dot, and the word of its step.
inline constexpr std::string_view kCallHeader = "whorl-call";

// The argument that makes the program whorl-grpc a node's process.
inline constexpr std::string_view kNodeArgument = "--node";

// --- to a node ---------------------------------------------------------------------------------

// The first message, which tells the process which node it is. The process connects, reports Ready,
// and waits for Begin.
struct NodeSetup {
  sim::Scenario scenario;
  ProcessId process;
  std::string endpoint;  // the node's port of the proxy
  std::string database;
  std::string program;  // another program takes part in this process's place; empty: none
  WHORL_FIELDS(NodeSetup, scenario, process, endpoint, database, program);
};
// Starts the node at `at`.
struct Begin {
  LocalInstant run_started;    // by CLOCK_BOOTTIME
  Timestamp run_started_wall;  // the same instant by the system's clock
  sim::NodeClock clock;
  sim::Instant at;
  WHORL_FIELDS(Begin, run_started, run_started_wall, clock, at);
};
// Lets the process go on from a point (AtPoint).
struct Go {
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
using Order = std::variant<NodeSetup, Begin, Go, StopGracefully, HearOfRelease, SetClock>;

// --- from a node -------------------------------------------------------------------------------

struct Ready {
  WHORL_NO_FIELDS(Ready);
};
// The process has stopped at a phase of a step for which a fault of the scenario waits. It goes on
// when it receives Go.
struct AtPoint {
  uint64_t point = 0;
  CallName call;
  StepName step;
  Phase phase = Phase::kEnded;
  std::vector<sim::ObservedEvent> what;  // the events of the phase; none for `replied`
  WHORL_FIELDS(AtPoint, point, call, step, phase, what);
};
// The process has released the lock and announces it to the other nodes.
struct Announces {
  uint16_t lock = 0;
  WHORL_FIELDS(Announces, lock);
};
// The program sends a statement on the lock's table that its protocol does not have.
struct UnknownStatement {
  std::string sql;  // shortened
  WHORL_FIELDS(UnknownStatement, sql);
};
struct CannotGoOn {
  std::string why;
  WHORL_FIELDS(CannotGoOn, why);
};
using Report = std::variant<Ready, ReportedEvent, AtPoint, Announces, UnknownStatement, CannotGoOn>;

}  // namespace whorl::live
