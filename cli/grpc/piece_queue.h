// Hands what a client's thread receives, which must not wait, to the thread that judges.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "cli/check/record_stream.h"
#include "cli/interrupt.h"
#include "real_client/options.h"

namespace whorl::cli {

class PieceQueue {
 public:
  void Put(RecordStream::Piece piece) {
    const std::lock_guard lock(mutex_);
    pieces_.push_back(std::move(piece));
    changed_.notify_one();
  }
  // Nothing comes after it.
  void End(Status status) {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    status_ = std::move(status);
    changed_.notify_one();
  }

  // Waits for a piece. False at the end, or when a signal has come.
  bool Take(RecordStream::Piece& piece) {
    // A signal is heard by another thread, so it does not end the wait.
    constexpr std::chrono::milliseconds kLookForSignals(100);
    std::unique_lock lock(mutex_);
    while (pieces_.empty() && !ended_ && !SignalNotice::HasCome()) {
      changed_.wait_for(lock, kLookForSignals);
    }
    if (pieces_.empty()) return false;
    piece = std::move(pieces_.front());
    pieces_.pop_front();
    return true;
  }
  bool WouldWait() const {
    const std::lock_guard lock(mutex_);
    return !ended_ && pieces_.empty();
  }
  Status status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<RecordStream::Piece> pieces_;  // guarded by mutex_
  bool ended_ = false;                      // guarded by mutex_
  Status status_;                           // guarded by mutex_
};

}  // namespace whorl::cli
