// Starts or finds the Spanner of a run, with the protocol's table: the official emulator, whorl's
// own server over the model, or one that runs already.
//
// Invariants:
//   1. Each run has a server of its own, on a free port of the loopback interface, that ends with the
//      run; where the server runs already, a database of its own.
//   2. The table is empty at the start.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "live/backend_kind.h"
#include "sim/scenario/scenario.h"

namespace whorl::live {

// Where kOmni is, HOST:PORT, without TLS.
inline constexpr const char* kEndpointVariable = "WHORL_SPANNER_ENDPOINT";

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const std::string& address() const = 0;   // host:port
  virtual const std::string& database() const = 0;  // projects/P/instances/I/databases/D
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
