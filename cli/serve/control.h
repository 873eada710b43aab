// Serves the control plane of `whorl serve` and `whorl proxy`: faults, links, clock, history and
// metrics over HTTP and JSON while programs run. openapi.json describes it, README.md shows it.
#pragma once

#include <CLI/App.hpp>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "cli/serve/fault_front.h"
#include "spanner_model/server/clock.h"

namespace whorl::cli {

struct ControlRequest {
  std::string host;   // empty: no control plane
  int port = 0;       // 0: a free one
  std::string token;  // that each request has to bring; empty: none

  bool IsAsked() const { return !host.empty(); }
};
// --control. Throws CLI::ValidationError for what is no address, and for one beyond this machine
// without $WHORL_CONTROL_TOKEN.
void AddControlOption(CLI::App& app, const std::shared_ptr<ControlRequest>& request);

// What a control plane controls. All of it outlives the control plane.
struct Controlled {
  FaultFront& front;
  server::VirtualClock* clock = nullptr;                    // null: time is real, or not ours
  std::atomic<int64_t>* current_timestamp_error = nullptr;  // in nanoseconds; null: not ours
};

class ControlPlane {
 public:
  // UNAVAILABLE if the port is taken or the address is not of this machine.
  static absl::Status Start(const ControlRequest& request, Controlled controlled,
                            std::unique_ptr<ControlPlane>& out);
  // Ends the requests under way.
  virtual ~ControlPlane() = default;
  virtual std::string url() const = 0;  // "http://127.0.0.1:8080"
};

}  // namespace whorl::cli
