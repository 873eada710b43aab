#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "cli/lock/commands.h"
#include "cli/lock/event_log.h"
#include "cli/lock/guard.h"
#include "cli/lock/id_watch.h"
#include "cli/lock/latency_hint.h"
#include "cli/lock/metrics.h"
#include "cli/lock/options.h"
#include "cli/lock/row_look.h"
#include "cli/lock/wait_notice.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "real_client/lock_log.h"
#include "real_client/os.h"

namespace whorl::cli {
namespace {

using real_client::DistributedLock;
using real_client::Leadership;
using real_client::LockClient;
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
With --id, run reads the rows of its locks now and again, and notes if another process beats under that id.
Exit codes: 0 stopped by a signal; 2 bad input or usage, or --must-exist and a lock has no row; 3 the
log cannot be written, or nothing can be served at --metrics, or --must-exist and Spanner does not answer.)";

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

// Wakes the one thread that waits for it.
class WakeUp {
 public:
  void Notify() {
    const std::lock_guard lock(mutex_);
    notified_ = true;
    changed_.notify_one();
  }
  // Waits for `least`, and then for as long as `more` until it is notified or `stop` is requested.
  void Wait(const std::stop_token& stop, Duration least, Duration more) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, std::chrono::nanoseconds(least.ns), [] { return false; });
    changed_.wait_for(lock, stop, std::chrono::nanoseconds(more.ns), [this] { return notified_; });
    notified_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool notified_ = false;  // guarded by mutex_
};

Json JsonOf(const Value& value) { return sim::ValueJson(value); }

// Turns what happens to one lock into events.
class Reporter final : public real_client::LockObserver {
 public:
  // Sets `heard` when Spanner, or an error in its place, was heard of. Calls `on_written` after each write,
  // on the client's thread.
  Reporter(const LockRequest& request, std::string lock, EventQueue& queue,
           std::atomic<bool>& heard, std::function<void()> on_written)
      : request_(request),
        lock_(std::move(lock)),
        queue_(queue),
        heard_(heard),
        on_written_(std::move(on_written)),
        id_watch_(request.info(), request.id, request.LeaseUsed()) {}

  const std::string& lock() const { return lock_; }
  IdWatch& id_watch() { return id_watch_; }
  LatencyHint& latency() { return latency_; }
  // Another process has written the row under this one's id. Called on any thread.
  void SharesId() {
    constexpr std::string_view kWhat = "another process beats under this id";
    const std::string text = Cat(kWhat, ", ", Printable(request_.id),
                                 ": each process needs an id of its own (--id), or both may lead");
    if (request_.json || !request_.out.empty()) {
      Complain(Cat("lock ", Quoted(lock_), ": ", text));
    }
    Put("note", text, {{"note", std::string(kWhat)}, {"values", Json::array({request_.id})}});
  }

  void OnLeadership(const Leadership& leadership) override {
    const Leadership before = std::exchange(leadership_, leadership);
    if (leadership.leads != before.leads) noted_.clear();
    if (leadership.leads && !before.leads) return Leads(leadership);
    if (!leadership.leads && before.leads) return Put("lost", "leads no longer" + Hint(), {});
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
      shown += Cat(shown.empty() ? ": " : ", ", Printable(FormatValue(value), 300));
    }
    Put("note", Cat(note.name, shown),
        {{"note", std::string(note.name)}, {"values", std::move(values)}});
  }
  void OnTransaction(const real_client::LockTransaction& transaction) override {
    heard_ = true;
    if (request_.json) PutForCheck(real_client::EventOf(transaction));
    const Status& status = transaction.status;
    const std::string step(transaction.step);
    id_watch_.Ended(step, transaction.outcome != WordOf(Outcome::kUnknown),
                    real_client::MonotonicNow());
    if (transaction.committed) on_written_();
    if (real_client::IsAnswer(status)) latency_.Heard(step, transaction.took);
    if (status.code == Code::kCancelled) return;
    // A step answers again when that step does: reads may succeed where every write is denied.
    if (real_client::IsAnswer(status)) {
      if (failing_.erase(step) > 0 && failing_.empty()) Put("answers", "Spanner answers again", {});
      return;
    }
    if (std::exchange(failing_[step], status.code) == status.code) return;
    Put("failing", Cat(step, ": ", Explain(request_, status), Hint()),
        {{"step", step}, {"code", std::string(WordOf(status.code))}, {"error", status.message}});
  }
  void OnTransactionBegan(std::string_view step) override {
    id_watch_.Began(step, real_client::MonotonicNow());
  }

 private:
  // Writes lines that `whorl check` judges; they are not for people.
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
    Put("leads", Cat("leads", with, " for ", FormatSeconds(left), " s unless renewed"),
        {{"token", leadership.token ? Json(std::to_string(*leadership.token)) : Json(nullptr)},
         {"left", FormatSeconds(left)}});
  }
  void Put(std::string event, std::string text, std::vector<std::pair<std::string, Json>> fields) {
    queue_.Put({.event = std::move(event),
                .lock = lock_,
                .text = std::move(text),
                .fields = std::move(fields)});
  }

  std::string Hint() const { return latency_.OfLease(request_.LeaseUsed()); }

  const LockRequest& request_;
  const std::string lock_;
  EventQueue& queue_;
  std::atomic<bool>& heard_;
  const std::function<void()> on_written_;
  IdWatch id_watch_;
  LatencyHint latency_;
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
      options.observer = reporters_.emplace_back(std::make_shared<Reporter>(
          request_, name, queue_, heard_, [this] { look_again_.Notify(); }));
      if (metrics != nullptr) {
        options.observer = metrics->metrics.Observe(name, request_.protocol, options.observer);
      }
      status = client->Make(std::move(options), locks.emplace_back());
    }
    if (!status.ok()) return FailToRun(request_, status);
    if (const std::optional<int> code = Look(*client)) return *code;
    return Write(*client, locks);
  }

 private:
  // Says which locks have no row, and which may not be taken yet. An exit code if --must-exist refuses.
  std::optional<int> Look(LockClient& client) {
    constexpr Duration kMost = Seconds(2);
    std::optional<WaitNotice> notice;
    if (request_.must_exist) notice.emplace(request_);
    const RowLook look =
        LookAtRows(request_, client, request_.must_exist ? kCommandTimeout : kMost);
    notice.reset();
    if (!look.status.ok()) {
      if (request_.must_exist) return FailToRun(request_, look.status);
      return std::nullopt;
    }
    for (const auto& reporter : reporters_) reporter->latency().HeardFirst(look.took);
    // Of a thousand new locks, only these get a line each, so that what comes after is still seen.
    constexpr size_t kMostLines = 10;
    for (size_t i = 0; i < std::min(look.missing.size(), kMostLines); ++i) {
      const std::string no_lock = NoSuchLock(request_, client, look.missing[i]);
      Complain(no_lock + (request_.must_exist ? ", and --must-exist" : WhatMakesIt(request_)));
    }
    if (look.missing.size() > kMostLines) {
      Complain(Cat("nor are there ", std::to_string(look.missing.size() - kMostLines),
                   " others of these locks"));
    }
    if (request_.must_exist && !look.missing.empty()) return kBadInput;
    for (const real_client::Holding& holding : look.waiting) Complain(WaitsText(holding));
    return std::nullopt;
  }

  // Looks, until it is stopped, whether other processes write under this one's id: at first, since a
  // process that comes second should notice, and then now and again. Each write of this process is followed by
  // a look, so that what another writes after it is seen by the next ones. Those come at random moments: two
  // processes of one pace, whose writes follow each other closely, would otherwise miss each other for good.
  void WatchId(const std::stop_token& stop, LockClient& client) {
    const Duration lease = request_.LeaseUsed();
    const LocalInstant began = real_client::MonotonicNow();
    std::minstd_rand random{std::random_device()()};
    while (!stop.stop_requested()) {
      Duration pace = lease / 2;
      for (const auto& reporter : reporters_) pace = std::min(pace, reporter->id_watch().Pace());
      constexpr Duration kLeast = Milliseconds(100);
      const Duration longest = std::max(pace * 2 / 5 - kLeast, kLeast);
      look_again_.Wait(stop, kLeast,
                       Nanoseconds(std::uniform_int_distribution<int64_t>(0, longest.ns)(random)));
      constexpr int64_t kEvery = 4;
      const int64_t leases = (real_client::MonotonicNow() - began).ns / lease.ns;
      if (stop.stop_requested() || (leases >= kEvery && leases % kEvery != 0)) continue;
      LookForOthers(client, std::max(lease / 4, Milliseconds(250)));
    }
  }
  void LookForOthers(LockClient& client, Duration timeout) {
    std::vector<IdWatch::Moment> before;
    const LocalInstant now = real_client::MonotonicNow();
    before.reserve(reporters_.size());
    for (const auto& reporter : reporters_) before.push_back(reporter->id_watch().Now(now));
    std::vector<real_client::Holding> holdings;
    const Status status = client.List(request_.protocol, request_.table, request_.names,
                                      request_.LeaseUsed(), timeout, holdings);
    if (!status.ok()) return;
    const bool has_names = !request_.info().holder_columns.lock.empty();
    const LocalInstant read = real_client::MonotonicNow();
    for (size_t i = 0; i < reporters_.size(); ++i) {
      for (const real_client::Holding& holding : holdings) {
        if (has_names && holding.lock != reporters_[i]->lock()) continue;
        if (reporters_[i]->id_watch().Saw(before[i], holding, read)) reporters_[i]->SharesId();
      }
    }
  }

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
                  .fields = {{"protocol", request_.protocol},
                             {"lease", FormatSeconds(lease)},
                             {"logs",
                              request_.info().has_tokens ? "leads tokens steps" : "leads steps"}}});
      lock->Start();
    }
    const WaitNotice notice(request_, [this] { return !heard_; });
    // An id that was drawn is nobody else's.
    std::jthread watch;
    if (request_.has_own_id) {
      watch = std::jthread([&](const std::stop_token& stop) { WatchId(stop, client); });
    }
    absl::Status written;
    for (LogEvent event; written.ok() && queue_.Take(event);) written = log_.Write(event);
    watch.request_stop();
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
  std::vector<std::shared_ptr<Reporter>> reporters_;
  std::atomic<bool> heard_ = false;
  WakeUp look_again_;                      // notified when this process has written
  std::optional<LocalInstant> signalled_;  // when; used on the signals' thread only
};

int RunRun(LockRequest& request) {
  if (const std::string wrong = Complete(request); !wrong.empty()) {
    Complain(wrong);
    return kBadInput;
  }
  if (const std::string wrong = RefusalOfMustExist(request); !wrong.empty()) {
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
