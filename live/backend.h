// The Spanner of a run, with the protocol's table: the official emulator, or whorl's own server over
// the model.
//
// Invariants:
//   1. Each run has its own, on a free port of the loopback interface, and it ends with the run.
//   2. The table is empty at the start.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "live/backend_kind.h"
#include "sim/scenario/scenario.h"

namespace whorl::live {

inline constexpr const char* kDatabase =
    "projects/test-project/instances/test-instance/databases/locks";

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const std::string& address() const = 0;  // 127.0.0.1:port
  virtual const std::shared_ptr<grpc::Channel>& channel() const = 0;
};

// kUnavailable if it cannot be started; the message says what to do.
absl::StatusOr<std::unique_ptr<Backend>> StartBackend(BackendKind kind,
                                                      const sim::Scenario& scenario);

// The scenario with the parameters that the backend itself decides (TrueTime, pending columns) set to
// the backend's. The simulation runs this scenario to compare with the real run.
sim::Scenario AsOn(BackendKind kind, sim::Scenario scenario);
// A text for people that says what AsOn changed; empty if nothing.
std::string ChangesOn(BackendKind kind, const sim::Scenario& scenario);

}  // namespace whorl::live
