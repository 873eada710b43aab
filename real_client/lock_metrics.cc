#include "real_client/lock_metrics.h"

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "real_client/os.h"

namespace whorl::real_client {
namespace {

using Labels = prometheus::Labels;

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

// Observes one lock, for `next`, too.
class Meter final : public LockObserver {
 public:
  // A family gives the same metric for the same labels, so without the lock's name among them the
  // counters are totals.
  Meter(Families& families, const std::string& lock, const std::string& protocol, bool per_lock,
        std::shared_ptr<LockObserver> next)
      : families_(families),
        next_(std::move(next)),
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

  void OnLeadership(const Leadership& leadership) override {
    {
      const std::lock_guard lock(mutex_);
      if (leadership.leads && !leadership_.leads) terms_.Increment();
      leadership_ = leadership;
    }
    if (next_) next_->OnLeadership(leadership);
  }
  void OnNote(const LockNote& note) override {
    if (next_) next_->OnNote(note);
  }
  void OnTransaction(const LockTransaction& transaction) override {
    const std::string outcome(transaction.outcome);
    // A renewal that a newer one replaced, or that this process gave up, was not sent.
    if (transaction.renews_lease && transaction.status.code != Code::kCancelled) {
      sent_.Increment();
      if (outcome != WordOf(Outcome::kCommitted)) {
        failed_.Increment();
      } else {
        beaten_.SetToCurrentTime();
      }
    }
    Labels labels = protocol_;
    labels["step"] = transaction.step;
    labels["outcome"] = outcome;
    families_.latency.Add(labels, kSeconds).Observe(SecondsOf(transaction.took));
    if (next_) next_->OnTransaction(transaction);
  }
  void OnTransactionBegan(std::string_view step) override {
    if (next_) next_->OnTransactionBegan(step);
  }
  // Updates the gauges that change with time: a lease runs out by itself.
  void UpdateGauges() {
    const std::lock_guard lock(mutex_);
    const Duration left = leadership_.until - MonotonicNow();
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
  const std::shared_ptr<LockObserver> next_;
  const Labels protocol_;
  const Labels labels_;
  Gauge& led_;  // shared by the locks of a protocol
  Gauge& beaten_;
  Counter& terms_;
  Counter& sent_;
  Counter& failed_;
  std::optional<LockGauges> gauges_;
  std::mutex mutex_;
  Leadership leadership_;  // guarded by mutex_
};

}  // namespace

// Updates the gauges that change with time whenever Prometheus collects.
class LockMetrics::Core final : public prometheus::Collectable {
 public:
  explicit Core(bool per_lock) : per_lock_(per_lock) {
    families_.build.Add({{"version", WHORL_VERSION}}).Set(1);
  }
  std::vector<prometheus::MetricFamily> Collect() const override {
    const std::lock_guard lock(mutex_);
    for (const auto& meter : meters_) meter->ForgetLed();
    for (const auto& meter : meters_) meter->UpdateGauges();
    return registry_.Collect();
  }
  std::shared_ptr<LockObserver> Observe(const std::string& lock, const std::string& protocol,
                                        std::shared_ptr<LockObserver> next) {
    auto meter = std::make_shared<Meter>(families_, lock, protocol, per_lock_, std::move(next));
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

LockMetrics::LockMetrics(bool per_lock) : core_(std::make_shared<Core>(per_lock)) {}

std::shared_ptr<LockObserver> LockMetrics::Observe(const std::string& lock,
                                                   const std::string& protocol,
                                                   std::shared_ptr<LockObserver> next) {
  return core_->Observe(lock, protocol, std::move(next));
}

std::shared_ptr<prometheus::Collectable> LockMetrics::collectable() const { return core_; }

std::string LockMetrics::Text() const {
  return prometheus::TextSerializer().Serialize(core_->Collect());
}

}  // namespace whorl::real_client
