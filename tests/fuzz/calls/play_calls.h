// Plays calls against a server process, and says what is wrong with how it behaves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/calls/played_call.h"

namespace whorl::fuzz {

struct ServerUnderTest {
  std::string whorl;                   // the command
  std::vector<std::string> arguments;  // besides --ddl and --database
  int64_t answer_within_ms = 1'000;    // for another session's SELECT 1
};

// The kind of failure that says that another session was not answered in time.
inline constexpr std::string_view kSlow = "slow";

// What was wrong. Two failures of one kind have the same `kind`.
struct Failure {
  std::string kind;    // "died", "slow", "late", "code INTERNAL", "does not end"
  std::string detail;  // for people
};

struct Played {
  std::optional<Failure> failure;
  int64_t calls = 0;
  int64_t answered_ok = 0;
  int64_t slowest_probe_ms = 0;
  int64_t memory_mb = 0;  // resident, after all calls have ended
};

// Starts a server, plays the calls, and ends the server by SIGTERM.
Played Play(const ServerUnderTest& server, const std::vector<PlayedCall>& calls);

}  // namespace whorl::fuzz
