// Serves metrics of locks to Prometheus, at http://HOST:PORT/metrics.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "real_client/lock_metrics.h"

namespace prometheus {
class Exposer;
}  // namespace prometheus

namespace whorl::cli {

class ServedMetrics {
 public:
  // INVALID_ARGUMENT if `address` is not HOST:PORT. UNAVAILABLE if the port is taken or the address
  // is not of this machine.
  static absl::Status Serve(const std::string& address, bool per_lock,
                            std::unique_ptr<ServedMetrics>& out);
  ~ServedMetrics();

  real_client::LockMetrics metrics;

 private:
  explicit ServedMetrics(bool per_lock);

  std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace whorl::cli
