// How locks stand, for Prometheus: http://HOST:PORT/metrics.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "real_client/lock.h"

namespace whorl::cli {

// Counts for one lock. Functions are called on the client's thread; Prometheus reads on others.
class LockMeter {
 public:
  virtual ~LockMeter() = default;
  virtual void SetLeadership(const real_client::Leadership& leadership) = 0;
  virtual void CountTransaction(StepName step, const TransactionResult& result, Duration took) = 0;
};

class LockMetrics {
 public:
  // INVALID_ARGUMENT: no HOST:PORT. UNAVAILABLE: the port is taken, or there is no such address.
  static absl::Status Serve(const std::string& address, std::unique_ptr<LockMetrics>& out);
  virtual ~LockMetrics() = default;
  // It lives no longer than this.
  virtual std::shared_ptr<LockMeter> Add(const std::string& lock, const std::string& protocol) = 0;
};

}  // namespace whorl::cli
