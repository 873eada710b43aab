// Provides what the tests of the protocol layer share: draws that a test decides and can look at,
// points in time, and short forms of spindle's transactions.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "protocol/client/transaction.h"
#include "protocol/client/transaction_runner.h"
#include "protocol/machine.h"
#include "protocol/protocols.h"
#include "protocol/spanner/fingerprint.h"
#include "protocol/spanner/sql.h"
#include "protocol/spindle_v2/words.h"

namespace whorl {

// Answers what the test put into `next`, then `otherwise` or, where there is none, the upper end of
// what was asked for; remembers all.
class ScriptedEntropy final : public Entropy {
 public:
  struct Draw {
    Purpose purpose;
    int64_t lo = 0;
    int64_t hi = 0;
    friend bool operator==(const Draw&, const Draw&) = default;
  };

  int64_t Between(Purpose purpose, int64_t lo, int64_t hi) override {
    draws.push_back({.purpose = purpose, .lo = lo, .hi = hi});
    if (next.empty()) return otherwise.value_or(hi);
    const int64_t drawn = next.front();
    next.pop_front();
    EXPECT_GE(drawn, lo);
    EXPECT_LE(drawn, hi);
    return drawn;
  }

  std::deque<int64_t> next;
  std::optional<int64_t> otherwise;
  std::vector<Draw> draws;
};

// What a process's clock shows at `since_start` after the process started.
constexpr LocalInstant ShownAfter(Duration since_start) { return LocalInstant{} + since_start; }

// A point in time, `since` after the first second of 2026.
inline Timestamp At(Duration since) {
  return Timestamp::FromUnixNanos(1'767'225'600'000'000'000) + since;
}

uint64_t FingerprintOf(const auto& value) {
  Fingerprint fingerprint;
  fingerprint.Add(value);
  return fingerprint.value();
}

// Results of transactions: a read that found rows, a write that changed a number of rows, a
// transaction that was not carried out, and one whose outcome is unknown.
inline TransactionResult Found(std::vector<Row> rows) {
  return {.outcome = Outcome::kCommitted, .status = {}, .results = {{.rows = std::move(rows)}}};
}
inline TransactionResult Committed(Timestamp at, int64_t rows_changed) {
  return {.outcome = Outcome::kCommitted,
          .status = {},
          .results = {{.row_count = rows_changed}},
          .commit_timestamp = at};
}
inline TransactionResult Failed(Code code) {
  return {.outcome = Outcome::kAborted, .status = Error(code, "lost"), .results = {}};
}
inline TransactionResult EndedUnknown() {
  return {.outcome = Outcome::kUnknown,
          .status = Error(Code::kDeadlineExceeded, "lost"),
          .results = {}};
}

inline TransactionStatement Statement1(StepName step, std::string_view text) {
  return {.step = step, .statement = {.sql = Sql::Intern(text), .parameters = {}}};
}

inline Transaction ReadTransaction() {
  return {.step = spindle_v2::steps::kCheck,
          .mode = Mode::kStrongRead,
          .statements = {Statement1(spindle_v2::steps::kCheck, "SELECT")}};
}

inline Transaction InsertTransaction() {
  return {.step = spindle_v2::steps::kFirstInsert,
          .mode = Mode::kReadWrite,
          .statements = {Statement1(spindle_v2::steps::kFirstInsert, "INSERT")}};
}

// As spindle's: the clean-up does not look at errors, neither the UPDATE's nor its own.
inline Transaction HeartbeatTransaction() {
  Transaction heartbeat = {
      .step = spindle_v2::steps::kHeartbeatUpdate,
      .mode = Mode::kReadWrite,
      .statements = {Statement1(spindle_v2::steps::kHeartbeatUpdate, "UPDATE"),
                     Statement1(spindle_v2::steps::kHeartbeatDelete, "DELETE")}};
  heartbeat.statements[1].statement.ignore_error = true;
  return heartbeat;
}

// The invariants to which the protocol gives this promise.
inline std::set<Invariant> InvariantsThatAre(Promise promise, const ProtocolInfo& info) {
  std::set<Invariant> invariants;
  for (const Invariant invariant : AllOf<Invariant>()) {
    if (info.promises[static_cast<size_t>(invariant)] == promise) {
      invariants.insert(invariant);
    }
  }
  return invariants;
}

// A protocol ported from a Go library, under its name: its retries are those of Google's client.
template <typename State>
void ExpectHostedWithGosRetries(std::string_view name, size_t statements) {
  const ProtocolInfo& info = *FindProtocol(name);
  EXPECT_EQ(info.retry_policy, GoRetryPolicy());
  const ProtocolConfig config = info.make_config(std::string(info.table), "job", "a", Seconds(10));
  EXPECT_EQ(StatementsOf(config).size(), statements);
  EXPECT_NE(MakeProtocolState(config, false).Get<State>(), nullptr);
}

}  // namespace whorl
