// Drives one machine by itself: events in, effects out, no world. Both machines' tests use it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "protocol/client/transaction.h"
#include "protocol/machine.h"
#include "protocol/names.h"

namespace own_protocol {

class LowestDraws : public whorl::Entropy {
 public:
  int64_t Between(whorl::Purpose, int64_t lo, int64_t) override { return lo; }
};

// Config and State are of one namespace, in which Step is found.
template <typename Config, typename State>
class MachineTest : public testing::Test {
 protected:
  explicit MachineTest(Config config) : config_(std::move(config)) {}

  void Take(whorl::Duration at, const whorl::Event& event) {
    effects_.clear();
    Step(config_, state_, {.monotonic = whorl::LocalInstant{} + at, .wall = {}}, entropy_, event,
         effects_);
  }
  // The request has committed, and its last statement has changed so many rows; its Commit was sent
  // at `sent`.
  void CommitsAt(whorl::Duration at, whorl::RequestId request, whorl::StepName step,
                 whorl::Duration sent, int64_t rows = 1) {
    whorl::TransactionEnded ended{.request = request, .step = step, .result = {}};
    ended.result.outcome = whorl::Outcome::kCommitted;
    ended.result.results.push_back({.status = {}, .rows = {}, .row_count = rows});
    ended.result.commit_timestamp = whorl::Timestamp::FromUnixNanos(1'000'000 + sent.ns);
    ended.result.commit_sent = whorl::LocalInstant{} + sent;
    Take(at, ended);
  }
  bool SaysThatItHasTheLock(whorl::Duration at) {
    Take(at, whorl::Asked{.ask = 1, .question = whorl::Question::kHasLock});
    return std::get<whorl::Answer>(effects_.back()).yes;
  }
  // The step of the transaction that the last event led to; no word if it led to none.
  std::string Sends() const {
    for (const whorl::Effect& effect : effects_) {
      const auto* run = std::get_if<whorl::RunTransaction>(&effect);
      if (run != nullptr) return std::string(WordOf(run->transaction.step));
    }
    return "";
  }

  Config config_;
  State state_;
  LowestDraws entropy_;
  std::vector<whorl::Effect> effects_;
};

}  // namespace own_protocol
