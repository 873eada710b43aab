#include "real_client/lock_log.h"

#include <cstdint>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/time.h"
#include "protocol/client/transaction.h"
#include "real_client/os.h"

namespace whorl::real_client {
namespace {

std::string LeftOf(const Leadership& leadership) {
  return FormatSeconds(leadership.until - MonotonicNow());
}

}  // namespace

std::optional<LockEvent> EventOf(const Leadership& before, const Leadership& now) {
  if (!now.leads) {
    if (!before.leads) return std::nullopt;
    return LockEvent{.event = "lost", .members = {}};
  }
  if (before.leads && now.until == before.until) return std::nullopt;
  LockEvent event = {.event = before.leads ? "renewed" : "leads", .members = {}};
  const bool has_other_token = !before.leads || now.token != before.token;
  if (now.token && has_other_token) event.members.emplace_back("token", std::to_string(*now.token));
  event.members.emplace_back("left", LeftOf(now));
  return event;
}

std::optional<LockEvent> EventOf(const LockTransaction& transaction) {
  if (transaction.status.code == Code::kCancelled) return std::nullopt;
  LockEvent event = {.event = "call", .members = {{"step", std::string(transaction.step)}}};
  if (transaction.attempts > 1) {
    event.members.emplace_back("attempts", std::to_string(transaction.attempts));
  }
  if (transaction.committed) {
    event.members.emplace_back("sent", FormatRfc3339(transaction.committed->sent));
    event.members.emplace_back("commit", FormatRfc3339(transaction.committed->commit));
    return event;
  }
  const bool is_unknown = transaction.outcome == WordOf(Outcome::kUnknown);
  const std::string_view outcome = transaction.status.ok()                     ? "read"
                                   : transaction.status.code == Code::kAborted ? "aborted"
                                   : is_unknown                                ? "unknown"
                                                                               : "failed";
  event.members.emplace_back("outcome", outcome);
  return event;
}

class LockLog::Core {
 public:
  Core(std::string id, Write write) : id_(std::move(id)), write_(std::move(write)) {}

  // `make()` says what happens, if anything.
  template <typename Make>
  void Say(const std::string& lock, const Make& make) {
    const std::lock_guard guard(mutex_);
    // Under the mutex, so that lines are in the order of their times and numbers; and before the rest of a
    // lease is counted.
    const Timestamp time = SystemNow();
    const std::optional<LockEvent> event = make();
    if (!event) return;
    nlohmann::ordered_json line = {
        {"time", FormatRfc3339(time)}, {"event", event->event}, {"id", id_}, {"n", ++lines_}};
    if (!lock.empty()) line["lock"] = lock;
    for (const auto& [name, value] : event->members) line[std::string(name)] = value;
    write_(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }

 private:
  const std::string id_;
  const Write write_;
  std::mutex mutex_;
  int64_t lines_ = 0;  // guarded by mutex_
};

namespace {

std::optional<LockEvent> Bare(std::string_view event) {
  return LockEvent{.event = event, .members = {}};
}

// `Log` is LockLog::Core, which only LockLog can name.
template <typename Log>
class LoggingObserver final : public LockObserver {
 public:
  LoggingObserver(std::shared_ptr<Log> log, std::string lock, std::shared_ptr<LockObserver> next)
      : log_(std::move(log)), lock_(std::move(lock)), next_(std::move(next)) {}

  void OnLeadership(const Leadership& leadership) override {
    log_->Say(lock_, [&] { return EventOf(std::exchange(leadership_, leadership), leadership); });
    if (next_) next_->OnLeadership(leadership);
  }
  void OnNote(const LockNote& note) override {
    if (next_) next_->OnNote(note);
  }
  void OnTransaction(const LockTransaction& transaction) override {
    log_->Say(lock_, [&] { return EventOf(transaction); });
    if (next_) next_->OnTransaction(transaction);
  }
  void OnTransactionBegan(std::string_view step) override {
    if (next_) next_->OnTransactionBegan(step);
  }

 private:
  const std::shared_ptr<Log> log_;
  const std::string lock_;
  const std::shared_ptr<LockObserver> next_;
  Leadership leadership_;
};

}  // namespace

LockLog::LockLog(std::string id, Write write)
    : core_(std::make_shared<Core>(std::move(id), std::move(write))) {}

std::shared_ptr<LockObserver> LockLog::Observe(const std::string& lock,
                                               std::shared_ptr<LockObserver> next) {
  return std::make_shared<LoggingObserver<Core>>(core_, lock, std::move(next));
}

void LockLog::Started(const std::string& lock, Duration lease) {
  core_->Say(lock, [&] {
    return std::optional(
        LockEvent{.event = "started",
                  .members = {{"lease", FormatSeconds(lease)}, {"logs", "leads tokens steps"}}});
  });
}
void LockLog::Works(const std::string& lock) {
  core_->Say(lock, [] { return Bare("works"); });
}
void LockLog::Rests(const std::string& lock) {
  core_->Say(lock, [] { return Bare("rests"); });
}
void LockLog::Stopped() {
  core_->Say({}, [] { return Bare("stopped"); });
}

}  // namespace whorl::real_client
