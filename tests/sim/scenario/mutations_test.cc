// Thousands of damaged scenarios, the same ones every time. tests/fuzz/ is for longer campaigns.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/sim/scenario/any_text.h"

namespace whorl::sim::mutations_test {
namespace {

constexpr std::string_view kScenario = R"({
  "version": 1, "about": "x", "protocol": "spindle_v2", "locks": ["x", "y"], "lease": "5s",
  "nodes": [ "a", { "name": "p", "count": 3, "id": "i", "locks": ["y"], "start_at": "never" } ],
  "rows": [ { "name": "x", "heartbeat": "-12s", "token": "2025-12-31T23:59:00Z" } ],
  "duration": "1h", "seed": 7, "spanner": { "truetime": { "truthful": false, "error": "9ms" } },
  "network": { "connection_timeout": "7s", "announce_releases": true }, "workload": { "resource": "both" },
  "faults": [ { "at": "1s", "do": "start", "node": "p-*", "stagger": "10s" },
    { "when": { "node": "a", "step": "check", "phase": "sent", "lock": "x" }, "do": "pause",
      "for": "9s" },
    { "at": "2s", "do": "partition", "node": "a", "for": "1s", "mode": "refuse",
      "direction": "to" },
    { "at": "9s", "do": "latency", "node": "*", "for": "1s", "direction": "from",
      "add": { "min": "1ms", "p50": "20ms", "p99": "400ms", "max": "1s" } },
    { "at": "12s", "do": "latency", "node": "a", "add": "5ms" },
    { "when": { "node": "a", "step": "check", "phase": "sent" }, "do": "drop_request" },
    { "at": "1m", "do": "abort", "node": "*", "for": "10s", "percent": 30 },
    { "at": "2m", "do": "unavailable", "for": "3s" },
    { "at": "3m", "do": "session_loss", "node": "a" },
    { "at": "4m", "do": "clock", "node": "a", "offset": "-3s", "rate_ppm": 200 },
    { "at": "5m", "do": "clock", "node": "a", "stands": true, "for": "9s" },
    { "at": "6m", "do": "truetime", "epsilon": "1ms", "truthful": false, "error": "-9ms",
      "for": "9s" },
    { "at": "7m", "do": "current_timestamp", "error": "-6ms", "for": "1m" },
    { "at": "8m", "do": "delete_row", "lock": "x", "row": "x_1" },
    { "at": "9m", "do": "crash", "node": "a", "restart_after": "3s" } ],
  "schedule": [ { "event": "node_starts", "node": "a" },
    { "at": "1s", "event": "call_arrives", "node": "a", "incarnation": 1, "lock": "x", "step": "check",
      "transaction": 1, "attempt": 1, "call": 1 }, { "event": "timer_due", "node": "a",
      "timer": "belief", "id": 1 }, { "event": "fault_begins", "fault": 4 } ],
  "expect": { "holds": ["no_wedge"], "metrics": { "grants": { "min": 1 } } }
})";

constexpr std::array<std::string_view, 16> kPieces = {
    "{",    "}",  "[",     "]",     ",",       ":",       "\"",    "null",
    "true", "-1", "1e400", "\"*\"", "\"-1s\"", "\\u0000", "\xc3(", "99999999999999999999"};

// SplitMix64: small, and the same on every platform.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  size_t Below(size_t limit) { return static_cast<size_t>(Next() % limit); }

 private:
  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  uint64_t state_;
};

void Damage(std::string& text, Numbers& numbers) {
  const size_t at = numbers.Below(text.size() + 1);
  const size_t length = numbers.Below(16);
  switch (numbers.Below(5)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(numbers.Below(256));
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, text.substr(numbers.Below(text.size() + 1), length));
      break;
    case 3:
      text.insert(at, kPieces[numbers.Below(kPieces.size())]);
      break;
    default:
      // One of a kind of its own for another: stays JSON most of the time.
      if (at < text.size() && text[at] >= '0' && text[at] <= 'z') text[at] = 'a';
      break;
  }
}

TEST(ScenarioMutations, NeitherCrashTheLoaderNorBreakItsPromises) {
  // LoadAnyText aborts when a scenario or an error is not what loader.h promises.
  Numbers numbers(1);
  int good = 0;
  for (int i = 0; i < 6'000; ++i) {
    std::string text(kScenario);
    for (size_t n = numbers.Below(4); n > 0; --n) Damage(text, numbers);
    if (LoadAnyText(text)) ++good;
  }
  // Both kinds of outcome were met, or this test would say little.
  EXPECT_GT(good, 1'000);
  EXPECT_LT(good, 5'000);
}

}  // namespace
}  // namespace whorl::sim::mutations_test
