// Counts metrics of a program's locks for Prometheus, those that `whorl lock run --metrics` serves.
//
//   LockMetrics metrics;
//   client->Make({.name = "nightly", .observer = metrics.Observe("nightly", "fenced_lease")}, lock);
//   exposer.RegisterCollectable(metrics.collectable());  // of prometheus-cpp; or send Text()
#pragma once

#include <memory>
#include <string>

#include "real_client/lock.h"

namespace prometheus {
class Collectable;
}  // namespace prometheus

namespace whorl::real_client {

// All functions may be called from any thread.
class LockMetrics {
 public:
  // Totals of all locks of a protocol; with `per_lock` of each lock by its name, too.
  explicit LockMetrics(bool per_lock = false);

  // An observer for LockOptions::observer, which passes everything on to `next` (null: to none).
  // REQUIRES: this outlives it.
  std::shared_ptr<LockObserver> Observe(const std::string& lock, const std::string& protocol,
                                        std::shared_ptr<LockObserver> next = nullptr);
  std::shared_ptr<prometheus::Collectable> collectable() const;
  // Prometheus' text format.
  std::string Text() const;

 private:
  class Core;

  std::shared_ptr<Core> core_;
};

}  // namespace whorl::real_client
