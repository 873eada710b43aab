// Tells the author of a program what it lacks to take part in scenarios (foreign/README.md): runs one
// scenario with a crash, a restart and a stop, and looks at what the program did and said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "live/backend_kind.h"
#include "protocol/protocols.h"
#include "sim/scenario/scenario.h"

namespace whorl::live {

struct ConformancePoint {
  enum class Result : uint8_t {
    kMet,
    kNotMet,
    kNotSeen,  // the run gave no occasion; no failure
  };
  std::string what;  // the program "says that it leads"
  Result result = Result::kMet;
  std::string found;  // what was seen, and what to do if it is not met
};

struct Conformance {
  std::vector<ConformancePoint> points;
  bool Met() const;
};

// The scenario that the run plays: two nodes and a lease as short as the protocol allows.
sim::Scenario ConformanceScenario(const ProtocolInfo& info);

// Runs `program` in the place of the protocol. Takes the scenario's duration and some seconds.
// kUnavailable if the run was not possible or the program broke the contract; the message says which.
// REQUIRES: info.statements is set; `program` is a path that can be executed.
absl::StatusOr<Conformance> CheckConformance(BackendKind on, const ProtocolInfo& info,
                                             const std::string& program);

}  // namespace whorl::live
