#include "cli/lock/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <charconv>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "cli/lock/guard.h"
#include "cli/output.h"
#include "cli/version.h"
#include "real_client/os.h"
#include "sim/scenario/error_text.h"

namespace whorl::cli {
namespace {

using Labels = prometheus::Labels;
using sim::Cat;

double SecondsOf(Duration duration) { return static_cast<double>(duration.ns) / 1e9; }

// Buckets from a local Spanner to one that hardly answers.
const prometheus::Histogram::BucketBoundaries kSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                          0.1,   0.25,   0.5,   1,    2.5,   10};

using Gauge = prometheus::Gauge;
using Counter = prometheus::Counter;

struct Families {
  explicit Families(prometheus::Registry& registry)
      : build(NewGauge("whorl_build_info", "Always 1; the version is its label.", registry)),
        locks(NewGauge("whorl_locks", "Locks that this process takes part in.", registry)),
        led(NewGauge("whorl_locks_led", "Locks that this process leads now.", registry)),
        leader(NewGauge("whorl_lock_leader", "1 while this process leads, 0 otherwise.", registry)),
        token(NewGauge("whorl_lock_token",
                       "Fencing token of the present term, rounded to a double; 0 without one.",
                       registry)),
        left(NewGauge("whorl_lock_lease_left_seconds",
                      "Until leadership ends by itself unless it is renewed; 0 without it.",
                      registry)),
        beaten(NewGauge("whorl_lock_last_heartbeat_timestamp_seconds",
                        "When Spanner last acknowledged a heartbeat, in unix time; 0 if never.",
                        registry)),
        terms(NewCounter("whorl_lock_terms_total", "Times that leadership began.", registry)),
        sent(
            NewCounter("whorl_lock_heartbeats_sent_total", "Heartbeats that were sent.", registry)),
        failed(NewCounter("whorl_lock_heartbeats_failed_total",
                          "Heartbeats that were not acknowledged.", registry)),
        latency(prometheus::BuildHistogram()
                    .Name("whorl_lock_transaction_duration_seconds")
                    .Help("Transactions from start to end, with their retries.")
                    .Register(registry)) {}

  static prometheus::Family<Gauge>& NewGauge(const char* name, const char* help,
                                             prometheus::Registry& registry) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  }
  static prometheus::Family<Counter>& NewCounter(const char* name, const char* help,
                                                 prometheus::Registry& registry) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }

  prometheus::Family<Gauge>& build;
  prometheus::Family<Gauge>& locks;
  prometheus::Family<Gauge>& led;
  prometheus::Family<Gauge>& leader;
  prometheus::Family<Gauge>& token;
  prometheus::Family<Gauge>& left;
  prometheus::Family<Gauge>& beaten;
  prometheus::Family<Counter>& terms;
  prometheus::Family<Counter>& sent;
  prometheus::Family<Counter>& failed;
  prometheus::Family<prometheus::Histogram>& latency;
};

// The gauges that only a lock by itself has.
struct LockGauges {
  LockGauges(Families& families, const Labels& labels)
      : leader(families.leader.Add(labels)),
        token(families.token.Add(labels)),
        left(families.left.Add(labels)) {}

  Gauge& leader;
  Gauge& token;
  Gauge& left;
};

class Meter final : public LockMeter {
 public:
  // A family gives the same metric for the same labels, so without the lock's name among them the
  // counters are totals.
  Meter(Families& families, const std::string& lock, const std::string& protocol, bool per_lock)
      : families_(families),
        protocol_{{"protocol", protocol}},
        labels_(per_lock ? Labels{{"lock", lock}, {"protocol", protocol}} : protocol_),
        led_(families.led.Add(protocol_)),
        beaten_(families.beaten.Add(labels_)),
        terms_(families.terms.Add(labels_)),
        sent_(families.sent.Add(labels_)),
        failed_(families.failed.Add(labels_)) {
    families.locks.Add(protocol_).Increment();
    if (per_lock) gauges_.emplace(families, labels_);
  }

  void SetLeadership(const real_client::Leadership& leadership) override {
    const std::lock_guard lock(mutex_);
    if (leadership.leads && !leadership_.leads) terms_.Increment();
    leadership_ = leadership;
  }
  void CountTransaction(StepName step, const TransactionResult& result, Duration took) override {
    // One that a newer heartbeat replaced, or that this process gave up, was not sent.
    if (real_client::RenewsLease(step) && result.status.code != Code::kCancelled) {
      sent_.Increment();
      if (result.outcome != Outcome::kCommitted) {
        failed_.Increment();
      } else {
        beaten_.SetToCurrentTime();
      }
    }
    Labels labels = protocol_;
    labels["step"] = WordOf(step);
    labels["outcome"] = WordOf(result.outcome);
    families_.latency.Add(labels, kSeconds).Observe(SecondsOf(took));
  }
  // Updates the gauges that change with time: a lease runs out by itself.
  void Settle() {
    const std::lock_guard lock(mutex_);
    const Duration left = leadership_.until - real_client::MonotonicNow();
    const bool leads = leadership_.leads && left > Duration();
    led_.Increment(leads ? 1 : 0);
    if (!gauges_) return;
    gauges_->leader.Set(leads ? 1 : 0);
    gauges_->token.Set(leads ? static_cast<double>(leadership_.token.value_or(0)) : 0);
    gauges_->left.Set(leads ? SecondsOf(left) : 0);
  }
  void ForgetLed() { led_.Set(0); }

 private:
  Families& families_;
  const Labels protocol_;
  const Labels labels_;
  Gauge& led_;  // shared by the locks of a protocol
  Gauge& beaten_;
  Counter& terms_;
  Counter& sent_;
  Counter& failed_;
  std::optional<LockGauges> gauges_;
  std::mutex mutex_;
  real_client::Leadership leadership_;  // guarded by mutex_
};

// What Prometheus collects. Updates the gauges that change with time first.
class Metrics final : public prometheus::Collectable {
 public:
  explicit Metrics(bool per_lock) : per_lock_(per_lock) {
    families_.build.Add({{"version", std::string(kVersion)}}).Set(1);
  }
  std::vector<prometheus::MetricFamily> Collect() const override {
    const std::lock_guard lock(mutex_);
    for (const auto& meter : meters_) meter->ForgetLed();
    for (const auto& meter : meters_) meter->Settle();
    return registry_.Collect();
  }
  std::shared_ptr<LockMeter> Add(const std::string& lock, const std::string& protocol) {
    auto meter = std::make_shared<Meter>(families_, lock, protocol, per_lock_);
    const std::lock_guard guard(mutex_);
    meters_.push_back(meter);
    return meter;
  }

 private:
  const bool per_lock_;
  prometheus::Registry registry_;
  Families families_{registry_};
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Meter>> meters_;  // guarded by mutex_
};

class ServedMetrics final : public LockMetrics {
 public:
  // Throws if it cannot listen.
  ServedMetrics(const std::string& address, bool per_lock)
      : metrics_(std::make_shared<Metrics>(per_lock)), exposer_(address) {
    exposer_.RegisterCollectable(metrics_);
  }
  std::shared_ptr<LockMeter> Add(const std::string& lock, const std::string& protocol) override {
    return metrics_->Add(lock, protocol);
  }

 private:
  std::shared_ptr<Metrics> metrics_;
  prometheus::Exposer exposer_;
};

bool IsHostAndPort(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  // The HTTP server gives commas, letters and + in an address a meaning of their own.
  if (address.find_first_not_of("0123456789abcdefABCDEF.:[]") < colon) return false;
  int port = 0;
  const char* end = address.data() + address.size();
  const auto [rest, error] = std::from_chars(address.data() + colon + 1, end, port);
  return error == std::errc() && rest == end && port > 0 && port <= 65535;
}

}  // namespace

absl::Status LockMetrics::Serve(const std::string& address, bool per_lock,
                                std::unique_ptr<LockMetrics>& out) {
  constexpr std::string_view kLocal = "localhost:";
  const std::string numeric =
      address.starts_with(kLocal) ? Cat("127.0.0.1:", address.substr(kLocal.size())) : address;
  if (!IsHostAndPort(numeric)) {
    return absl::InvalidArgumentError(
        Cat("--metrics wants an address and a port, such as 127.0.0.1:9464, and got ",
            sim::Quoted(address)));
  }
  if (numeric.starts_with("0.0.0.0:") || numeric.starts_with("[::]:")) {
    Complain(Cat("warning: --metrics ", address,
                 " serves the names of locks to every machine that can reach this one"));
  }
  try {
    out = std::make_unique<ServedMetrics>(numeric, per_lock);
  } catch (const std::exception&) {
    // The library gives no reason.
    return absl::UnavailableError(Cat("--metrics: nothing can be served at ", address,
                                      ": the port is taken, or is no address of this machine"));
  }
  return absl::OkStatus();
}

}  // namespace whorl::cli
