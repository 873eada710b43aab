// Implements spindle v2.2.0 (github.com/flowerinthenight/spindle) as a step machine.
//
// A process wins a named lock by INSERT; the commit timestamp is its token. A heartbeat keeps the
// lease, and a process that reads a heartbeat older than the lease plus one second inserts a row named
// after the token it read and, when that INSERT succeeds, makes that row's commit timestamp the
// next token. State diagram and findings: README.md beside this file.
//
// Invariants:
//   1. The port is as flawed as the original. What looks like a mistake here (the age is not
//      looked at by the owner, the re-read does not judge expiry, the heartbeat has no token in
//      its WHERE, its errors are thrown away) is upstream's behaviour and stays.
//   2. Several Runs of one instance may be alive at once, as with Go's goroutines: a Run that was
//      stopped lives on until its round and its heartbeat loop have ended.
// Left out: the logger (notes take its place), and callbacks that take time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "protocol/counting.h"
#include "protocol/machine.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/sql.h"

namespace whorl::spindle_v2 {

// A token as users see it: XXH64 of its text in RFC 3339.
using TokenHash = uint64_t;
TokenHash HashOf(Timestamp token);
// Replaces HashOf where time is a grid: the nanoseconds since 1970. Unlike hashes, they keep the order of
// tokens, differ for any two of them, and show which token a number belongs to.
TokenHash NanosecondsOf(Timestamp token);
// The hash if there is no row: that of the empty string.
inline constexpr TokenHash kHashOfNoRow = 17'241'709'254'077'376'921U;
// "<name>_<hash>": the row whose INSERT decides who takes over from this token.
std::string TakeoverRowName(const std::string& lock_name, TokenHash token);

// The numbers of the protocol. The defaults are what ships; on a coarse grid of time there are
// others, so that each of them shows on the grid.
struct Constants {
  // Beyond the lease, before a row counts as available. In Spanner's unit, as an age of centuries is
  // no Duration.
  int64_t drift_allowed_ms = 1'000;
  Duration follower_sleep = Seconds(1);     // until a follower's heartbeat loop looks again
  Duration backoff_initial = Seconds(1);    // the upper end of the first pause between heartbeats
  int64_t backoff_growth = 2;               // of that upper end, with every draw
  int64_t longest_beats_in_lease = 2;       // a lease divided by this is the least such pause
  Duration poll_every = Milliseconds(500);  // by the blocking wrapper (lock.h)
  bool hashes_tokens = true;                // with HashOf, otherwise with NanosecondsOf
  WHORL_FIELDS(Constants, drift_allowed_ms, follower_sleep, backoff_initial, backoff_growth,
               longest_beats_in_lease, poll_every, hashes_tokens);
};

// Constants that are whole quarters of the lease.
constexpr Constants GridConstants(Duration lease) {
  Constants constants;
  constants.drift_allowed_ms = lease.ns / 4 / 1'000'000;
  constants.follower_sleep = lease / 4;
  constants.backoff_initial = lease / 4;
  constants.poll_every = lease / 4;
  constants.hashes_tokens = false;
  return constants;
}

struct Config {
  std::string lock_name;
  std::string id;            // empty: a random UUID, drawn when the instance starts
  Duration lease_asked;      // as the user gave it
  Duration lease;            // raised to the minimum of one second, in whole milliseconds
  Sql check;                 // @name
  Sql read_token;            // @name
  Sql insert_lock;           // @name, @id
  Sql insert_takeover;       // @name
  Sql update_token;          // @name, @token, @writer
  Sql update_heartbeat;      // @name
  Sql delete_takeover_rows;  // @prefix
  Constants constants;
  WHORL_FIELDS(Config, lock_name, id, lease_asked, lease, check, read_token, insert_lock,
               insert_takeover, update_token, update_heartbeat, delete_takeover_rows, constants);
};
// REQUIRES: `table` is an identifier.
Config MakeConfig(const std::string& table, std::string lock_name, std::string id, Duration lease);

// One call of Run: its main loop, the round that is in flight, and its heartbeat loop.
struct RunState {
  enum class Round : uint8_t {
    kIdle,
    kCheck,
    kFirstHeartbeat,  // the leader has just noticed that it leads, and beats within the round
    kFirstInsert,
    kReread,
    kTakeoverInsert,
    kTakeoverUpdate,
  };
  enum class Heartbeats : uint8_t { kSleeping, kBeating, kEnded };

  bool looping = true;             // the main loop
  std::optional<StopReason> stop;  // why its context ended
  Ticker ticks;                    // of the main loop
  Round round = Round::kIdle;
  bool initial = true;       // no other process has yet won the first INSERT
  Counter<1> leader;         // rounds in a row in which it was the leader
  Timestamp takeover_token;  // commit timestamp of the takeover row, during that round
  Heartbeats heartbeats = Heartbeats::kSleeping;
  Duration heartbeat_pause;    // drawn before the beat that is under way
  Duration heartbeat_backoff;  // from which the upper end of the next draw grows
  WHORL_FIELDS(RunState, looping, stop, ticks, round, initial, leader, takeover_token, heartbeats,
               heartbeat_pause, heartbeat_backoff);
};

// For reports of a state.
constexpr auto WordTableOf(RunState::Round) {
  return MakeWordTable<RunState::Round>({
      {RunState::Round::kIdle, "idle"},
      {RunState::Round::kCheck, "check"},
      {RunState::Round::kFirstHeartbeat, "first_heartbeat"},
      {RunState::Round::kFirstInsert, "first_insert"},
      {RunState::Round::kReread, "reread"},
      {RunState::Round::kTakeoverInsert, "takeover_insert"},
      {RunState::Round::kTakeoverUpdate, "takeover_update"},
  });
}
constexpr auto WordTableOf(RunState::Heartbeats) {
  return MakeWordTable<RunState::Heartbeats>({
      {RunState::Heartbeats::kSleeping, "sleeping"},
      {RunState::Heartbeats::kBeating, "beating"},
      {RunState::Heartbeats::kEnded, "ended"},
  });
}

struct PendingAsk {
  AskId ask = 0;
  Question question = Question::kHasLock;
  WHORL_FIELDS(PendingAsk, ask, question);
};

struct State {
  std::string id;
  std::optional<Timestamp> own_token;  // never cleared once set
  bool active = false;
  bool told_leader = false;  // the last callback of any Run said "leader"
  Counter<2> iterations;     // the blocking wrapper asks whether there was more than one
  std::vector<std::optional<RunState>> runs;  // by slot; an ended Run leaves its slot free
  std::vector<PendingAsk> asks;
  WHORL_FIELDS(State, id, own_token, active, told_leader, iterations, runs, asks);
};

// Started is a call of Run; StopRequested ends the context of every Run that still loops.
void Step(const Config& config, State& state, LocalTime now, Entropy& entropy, const Event& event,
          std::vector<Effect>& out);

LeadershipView LeadershipViewOf(const State& state);

// Timers and requests of a Run are numbered from its slot; asks have requests of their own.
// REQUIRES: an AskId is below 0x8000 (below 0x7fff where the wrapper is used, which asks too), and
// fewer than 8192 Runs of an instance are alive: a Run that a deadline ended is alive for good.
inline constexpr uint16_t kFirstAskRequest = 0x8000;

}  // namespace whorl::spindle_v2
