// Metrics of locks for Prometheus, at http://HOST:PORT/metrics.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "real_client/lock.h"

namespace whorl::cli {

// The metrics of one lock. The functions are called on the client's thread; Prometheus reads on
// others.
class LockMeter {
 public:
  virtual ~LockMeter() = default;
  virtual void SetLeadership(const real_client::Leadership& leadership) = 0;
  virtual void CountTransaction(StepName step, const TransactionResult& result, Duration took) = 0;
};

class LockMetrics {
 public:
  // Totals of all locks; with `per_lock` of each lock by its name. INVALID_ARGUMENT if `address` is not HOST:PORT. UNAVAILABLE if the port is taken or the address is
  // not of this machine.
  static absl::Status Serve(const std::string& address, bool per_lock,
                            std::unique_ptr<LockMetrics>& out);
  virtual ~LockMetrics() = default;
  // REQUIRES: this outlives the meter.
  virtual std::shared_ptr<LockMeter> Add(const std::string& lock, const std::string& protocol) = 0;
};

}  // namespace whorl::cli
