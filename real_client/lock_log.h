// Logs what a process does with its locks, as lines of JSON that `whorl check` judges: docs/CHECKING.md has
// their schema. `whorl lock run --json` writes these lines; this is for a program's own locks.
//
//   LockLog log("pod-a", [&file](const std::string& line) { file << line << '\n'; });
//   client->Make({.name = "nightly", .id = "pod-a", .observer = log.Observe("nightly")}, lock);
//   log.Started("nightly", Seconds(10));
//   lock->Start();
//   ...
//   log.Works("nightly");  // and Rests(), so that single_worker is judged, too
//   ...
//   log.Stopped();
//
// Among them are the calls of Spanner: what the wall clock showed when each was sent and answered, and its
// commit timestamp. They show how far the clock is off, who wrote the row, and what a takeover costs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "real_client/lock.h"

namespace whorl::real_client {

// What a line says of a lock: its "event" and its other members, which are texts.
struct LockEvent {
  std::string_view event;
  std::vector<std::pair<std::string_view, std::string>> members;
};
// "leads", "renewed" or "lost", with the rest of the lease; nothing if neither has changed.
std::optional<LockEvent> EventOf(const Leadership& before, const Leadership& now);
// "call"; nothing for a transaction that was given up.
std::optional<LockEvent> EventOf(const LockTransaction& transaction);

// All functions may be called from any thread.
class LockLog {
 public:
  // Gets one line after the other, without its end. Called on the client's thread, too, so it must not block
  // for long.
  using Write = std::function<void(const std::string& line)>;

  // `id` is LockOptions::id of all of the process's locks, and not empty.
  LockLog(std::string id, Write write);

  // An observer for LockOptions::observer, which passes everything on to `next` (null: to none).
  // REQUIRES: this outlives it.
  std::shared_ptr<LockObserver> Observe(const std::string& lock,
                                        std::shared_ptr<LockObserver> next = nullptr);
  // The process takes part in the lock, with this lease: before DistributedLock::Start().
  void Started(const std::string& lock, Duration lease);
  // The application begins and ends work under the lock.
  void Works(const std::string& lock);
  void Rests(const std::string& lock);
  // The process ends, and leads no lock any more. Nothing comes after it.
  void Stopped();

 private:
  class Core;

  std::shared_ptr<Core> core_;
};

}  // namespace whorl::real_client
