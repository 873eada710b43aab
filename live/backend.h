// The Spanner that a run takes place on, with the protocol's table in it: the official emulator, or
// whorl's own server over the model.
//
// Invariants:
//   1. Each run has one of its own, on a free port of the loopback interface, which ends with it.
//   2. The table is empty.
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

// kUnavailable: there is none to be had; the message says what to do.
absl::StatusOr<std::unique_ptr<Backend>> StartBackend(BackendKind kind,
                                                      const sim::Scenario& scenario);

// The scenario as it can come about there: what the backend settles by itself is as the backend has
// it. What the simulation runs beside the real run.
sim::Scenario AsOn(BackendKind kind, sim::Scenario scenario);
// What AsOn changed, for people; empty when nothing.
std::string ChangesOn(BackendKind kind, const sim::Scenario& scenario);

}  // namespace whorl::live
