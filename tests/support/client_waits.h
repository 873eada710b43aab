// Waits for the answers of asynchronous clients; only a test may block like this.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace whorl {

// Receives one callback's argument. The test fails if it is called twice, or not within a minute.
template <typename T>
class Answered {
 public:
  // The callback, which may outlive this.
  auto Callback() {
    return [state = state_](T value) {
      const std::lock_guard lock(state->mutex);
      EXPECT_FALSE(state->value.has_value()) << "answered twice";
      state->value.emplace(std::move(value));
      state->changed.notify_all();
    };
  }
  T Wait() {
    std::unique_lock lock(state_->mutex);
    const bool came = state_->changed.wait_for(lock, std::chrono::minutes(1),
                                               [&] { return state_->value.has_value(); });
    EXPECT_TRUE(came) << "no answer";
    return came ? *state_->value : T{};
  }
  bool IsThere() const {
    const std::lock_guard lock(state_->mutex);
    return state_->value.has_value();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<T> value;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace whorl
