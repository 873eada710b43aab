#include "cli/lock/run_command.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/lock/event_log.h"
#include "cli/lock/guard.h"
#include "cli/lock/metrics.h"
#include "cli/lock/options.h"
#include "cli/lock/wait_notice.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "real_client/lock_log.h"
#include "real_client/os.h"
#include "sim/scenario/error_text.h"
#include "sim/scenario/number_text.h"

namespace whorl::cli {
namespace {

using real_client::DistributedLock;
using real_client::Leadership;
using real_client::LockClient;
using sim::Cat;
using sim::Json;

constexpr std::string_view kRunFooter = R"(Examples:
  whorl lock run nightly
  whorl lock run nightly weekly --json --out locks.jsonl --metrics 127.0.0.1:9464

Takes part until SIGINT or SIGTERM, and then releases the locks that it holds, all at the same time; a
second signal, more than a second later, ends it at once. Logged are: started, leads, lost, failing
(Spanner refuses or does not answer; logged when the reason changes), answers (it does again), note (of
the protocol), stopped. With --json, too: renewed, with the time that is "left" then; and call, each
transaction that was sent to Spanner, with its commit timestamp if it changed something. "n" numbers the
lines from 1 ("started"). whorl check judges such a log.
Metrics, by protocol: whorl_locks, whorl_locks_led, whorl_lock_terms_total,
whorl_lock_heartbeats_sent_total, whorl_lock_heartbeats_failed_total,
whorl_lock_last_heartbeat_timestamp_seconds, whorl_lock_transaction_duration_seconds (step, outcome);
and whorl_build_info. With --metrics-per-lock those of heartbeats and terms have the label lock, and
there are whorl_lock_leader, whorl_lock_token and whorl_lock_lease_left_seconds, too.
Exit codes: 0 stopped by a signal; 2 bad input or usage; 3 the log cannot be written, or nothing can
be served at --metrics.)";

// A queue of events from the client's thread, which must not wait, to the thread that writes them.
class EventQueue {
 public:
  void Put(LogEvent event) {
    const std::lock_guard lock(mutex_);
    // Now, and not when a slow reader lets it be written: "left" counts from then.
    event.time = real_client::SystemNow();
    events_.push_back(std::move(event));
    changed_.notify_one();
  }
  void Stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }
  void Resume() {
    const std::lock_guard lock(mutex_);
    stopped_ = false;
  }
  // Waits for an event. False if the queue was stopped and all events were taken.
  bool Take(LogEvent& event) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopped_ || !events_.empty(); });
    if (events_.empty()) return false;
    event = std::move(events_.front());
    events_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<LogEvent> events_;  // guarded by mutex_
  bool stopped_ = false;         // guarded by mutex_
};

Json JsonOf(const Value& value) { return sim::ValueJson(value); }

// Turns what happens to one lock into events.
class Reporter final : public real_client::LockObserver {
 public:
  // Sets `heard` when Spanner, or an error in its place, was heard of.
  Reporter(const LockRequest& request, std::string lock, EventQueue& queue,
           std::atomic<bool>& heard)
      : request_(request), lock_(std::move(lock)), queue_(queue), heard_(heard) {}

  void OnLeadership(const Leadership& leadership) override {
    const Leadership before = std::exchange(leadership_, leadership);
    if (leadership.leads != before.leads) noted_.clear();
    if (leadership.leads && !before.leads) return Leads(leadership);
    if (!leadership.leads && before.leads) return Put("lost", "leads no longer", {});
    if (request_.json) PutForCheck(real_client::EventOf(before, leadership));
  }
  void OnNote(const real_client::LockNote& note) override {
    // While attempts fail for one reason, one line says it.
    if (noted_[std::string(note.name)] == note.values) return;
    noted_[std::string(note.name)] = note.values;
    Json values = Json::array();
    std::string shown;
    for (const Value& value : note.values) {
      values.push_back(JsonOf(value));
      shown += Cat(shown.empty() ? ": " : ", ", sim::Printable(FormatValue(value), 300));
    }
    Put("note", Cat(note.name, shown),
        {{"note", std::string(note.name)}, {"values", std::move(values)}});
  }
  void OnTransaction(const real_client::LockTransaction& transaction) override {
    heard_ = true;
    if (request_.json) PutForCheck(real_client::EventOf(transaction));
    const Status& status = transaction.status;
    const std::string step(transaction.step);
    if (status.code == Code::kCancelled) return;
    // A step answers again when that step does: reads may succeed where every write is denied.
    if (real_client::IsAnswer(status)) {
      if (failing_.erase(step) > 0 && failing_.empty()) Put("answers", "Spanner answers again", {});
      return;
    }
    if (std::exchange(failing_[step], status.code) == status.code) return;
    Put("failing", Cat(step, ": ", Explain(request_, status)),
        {{"step", step}, {"code", std::string(WordOf(status.code))}, {"error", status.message}});
  }

 private:
  // What whorl check judges, and nobody reads.
  void PutForCheck(const std::optional<real_client::LockEvent>& event) {
    if (!event) return;
    std::vector<std::pair<std::string, Json>> fields;
    for (const auto& [name, value] : event->members) fields.emplace_back(name, value);
    Put(std::string(event->event), {}, std::move(fields));
  }
  void Leads(const Leadership& leadership) {
    const Duration left = leadership.until - real_client::MonotonicNow();
    const std::string with =
        leadership.token ? Cat(" with token ", std::to_string(*leadership.token)) : "";
    Put("leads", Cat("leads", with, " for ", sim::SecondsText(left), " s unless renewed"),
        {{"token", leadership.token ? Json(std::to_string(*leadership.token)) : Json(nullptr)},
         {"left", sim::SecondsText(left)}});
  }
  void Put(std::string event, std::string text, std::vector<std::pair<std::string, Json>> fields) {
    queue_.Put({.event = std::move(event),
                .lock = lock_,
                .text = std::move(text),
                .fields = std::move(fields)});
  }

  const LockRequest& request_;
  const std::string lock_;
  EventQueue& queue_;
  std::atomic<bool>& heard_;
  Leadership leadership_;
  std::map<std::string, Code> failing_;  // the steps whose last transaction failed
  // The last note of each name since it began to lead, or ceased to.
  std::map<std::string, std::optional<std::vector<Value>>> noted_;
};

int FailToRun(const LockRequest& request, const Status& status) {
  const bool is_input = status.code == Code::kInvalidArgument;
  Complain(is_input ? status.message : Explain(request, status));
  return is_input ? kBadInput : kCannotRun;
}

// Takes part in all locks until the queue is stopped, and writes their events.
class Runner {
 public:
  Runner(const LockRequest& request, EventLog& log) : request_(request), log_(log) {}

  // `timeout` and terminals send a signal to the process and to its group: a repeat within a second
  // is the same one.
  void OnSignal(int signal) {
    const LocalInstant now = real_client::MonotonicNow();
    if (!signalled_) {
      signalled_ = now;
      queue_.Stop();
    } else if (now - *signalled_ > Seconds(1)) {
      _exit(128 + signal);
    }
  }
  int Run(ServedMetrics* metrics) {
    std::unique_ptr<LockClient> client;
    Status status = LockClient::Open(ClientOptionsOf(request_), client);
    std::vector<std::unique_ptr<DistributedLock>> locks;
    for (const std::string& name : request_.names) {
      if (!status.ok()) break;
      real_client::LockOptions options = LockOptionsOf(request_, name);
      options.observer = std::make_shared<Reporter>(request_, name, queue_, heard_);
      if (metrics != nullptr) {
        options.observer = metrics->metrics.Observe(name, request_.protocol, options.observer);
      }
      status = client->Make(std::move(options), locks.emplace_back());
    }
    if (!status.ok()) return FailToRun(request_, status);
    return Write(*client, locks);
  }

 private:
  int Write(LockClient& client, std::vector<std::unique_ptr<DistributedLock>>& locks) {
    const Duration lease = request_.LeaseUsed();
    const bool raised = request_.lease.value_or(lease) < lease;
    for (const auto& lock : locks) {
      queue_.Put({.event = "started",
                  .lock = lock->name(),
                  .text = Cat("takes part as ", request_.id, ", by ", request_.protocol,
                              " with a lease of ", FormatDuration(lease),
                              raised ? ", its least, instead of " : "",
                              raised ? FormatDuration(*request_.lease) : ""),
                  .fields = {{"protocol", request_.protocol}, {"lease", sim::SecondsText(lease)}}});
      lock->Start();
    }
    const WaitNotice notice(request_, [this] { return !heard_; });
    absl::Status written;
    for (LogEvent event; written.ok() && queue_.Take(event);) written = log_.Write(event);
    // If an event cannot be logged, this process gives up its locks and ends.
    queue_.Resume();
    std::jthread release([&] {
      const Status released =
          client.ReleaseAll(request_.release_timeout.value_or(LockRequest::kReleaseTimeout));
      if (!released.ok()) Complain(released.message);
      locks.clear();
      queue_.Stop();
    });
    for (LogEvent event; written.ok() && queue_.Take(event);) written = log_.Write(event);
    release.join();
    if (written.ok()) written = log_.Write({.event = "stopped", .text = "stopped"});
    return End(written);
  }
  const LockRequest& request_;
  EventLog& log_;
  EventQueue queue_;
  std::atomic<bool> heard_ = false;
  std::optional<LocalInstant> signalled_;  // when; used on the signals' thread only
};

int RunRun(LockRequest& request) {
  if (const std::string wrong = Complete(request); !wrong.empty()) {
    Complain(wrong);
    return kBadInput;
  }
  signal(SIGPIPE, SIG_IGN);
  EventLog log(request.id, request.json);
  if (!request.out.empty()) {
    if (const absl::Status opened = log.Open(request.out); !opened.ok()) return End(opened);
  }
  Runner runner(request, log);
  const Signals signals({SIGINT, SIGTERM, SIGHUP},
                        [&runner](int signal) { runner.OnSignal(signal); });
  std::unique_ptr<ServedMetrics> metrics;
  if (!request.metrics.empty()) {
    const absl::Status served =
        ServedMetrics::Serve(request.metrics, request.metrics_per_lock, metrics);
    if (!served.ok()) return End(served);
  }
  return runner.Run(metrics.get());
}

}  // namespace

SubCommand AddRunCommand(CLI::App& lock) {
  CLI::App* app = lock.add_subcommand("run", "Take part in locks, and log what happens");
  const auto request = std::make_shared<LockRequest>();
  AddNames(*app, request, /*required=*/true);
  AddWhere(*app, request);
  AddWho(*app, request);
  app->add_flag("--json", request->json, "log JSON lines instead of text");
  app->add_option("--out", request->out, "append the log to FILE")->type_name("FILE");
  AddTime(*app, "--release-timeout", request->release_timeout, Milliseconds(1),
          "time after a signal within which the locks are given back; what is not given back then "
          "expires with its lease (default: 10s)");
  app->add_flag("--metrics-per-lock", request->metrics_per_lock,
                "metrics of each lock by itself, not of all together");
  app->footer(std::string(kRunFooter));
  return {.app = app, .run = [request] { return RunRun(*request); }};
}

}  // namespace whorl::cli
