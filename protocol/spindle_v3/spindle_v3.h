// Implements spindle v3 (github.com/flowerinthenight/spindle) as a step machine.
//
// One row per lock: name, token, owner. A process takes the lock by a transaction that reads the
// row, tests whether another owner's token is younger than the lease, and writes owner and token.
// The token is the commit timestamp, and every heartbeat replaces it by its own: it is fence and
// heartbeat at once. State diagram and findings: README.md beside this file.
//
// Invariants:
//   1. The port is as flawed as the original. What looks like a mistake here (the local deadline
//      counts from the reply, an own row is taken whatever its age, expiry is judged by the
//      observer's lease, the row is given back before the work has stopped) is upstream's and
//      stays.
//   2. One thing at a time: a round is one look, a look and an acquire, or one heartbeat, and then
//      the process sleeps until the next one.
//   3. The process leads, and its leader's context is alive, iff `leader` and not `stopped`. Only
//      the end of a round or a stop changes that: no timer does, so a paused leader still leads.
//   4. `own_token` is never cleared; it is sent as the old token of a heartbeat and of the release.
// Left out: creating the table, several Runs of one instance, and callbacks that take time (so that
// the queue of callbacks is always empty).
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

namespace whorl::spindle_v3 {

inline constexpr Duration kLeaseMin = Seconds(5);

// The numbers of the protocol. The defaults are what ships; on a coarse grid of time there are
// others, so that each of them shows on the grid.
struct Constants {
  Duration buffer_min = Milliseconds(50);
  Duration heartbeat_timeout_min = Milliseconds(100);
  Duration release_timeout = Seconds(5);
  // A lease divided by each of these: the time from heartbeat to heartbeat; the pause after one that
  // failed; the most that a follower waits longer by chance; the least and the most of b.
  int64_t beats_in_lease = 2;
  int64_t retries_in_lease = 4;
  int64_t wake_delays_in_lease = 7;
  int64_t least_buffers_in_lease = 20;
  int64_t greatest_buffers_in_lease = 3;
  int64_t latencies_in_buffer = 3;
  // Weights in the smoothed latency: of what it was, and of the latest round.
  int64_t old_latency_weight = 7;
  int64_t new_latency_weight = 3;
  WHORL_FIELDS(Constants, buffer_min, heartbeat_timeout_min, release_timeout, beats_in_lease,
               retries_in_lease, wake_delays_in_lease, least_buffers_in_lease,
               greatest_buffers_in_lease, latencies_in_buffer, old_latency_weight,
               new_latency_weight);
};

// Constants that are whole quarters of the lease; no delay is drawn, and no latency smoothed.
constexpr Constants GridConstants(Duration lease) {
  Constants constants;
  constants.buffer_min = lease / 4;
  constants.heartbeat_timeout_min = lease / 4;
  constants.release_timeout = lease;
  constants.wake_delays_in_lease = lease.ns;
  constants.least_buffers_in_lease = 4;
  constants.greatest_buffers_in_lease = 4;
  constants.old_latency_weight = 0;
  constants.new_latency_weight = 1;
  return constants;
}

struct Config {
  std::string lock_name;
  std::string id;        // empty: a random UUID, drawn when the instance starts
  Duration lease_asked;  // as the user gave it
  Duration lease;        // L: raised to the minimum of five seconds, in whole seconds
  std::string table;
  Sql look;       // @name
  Sql heartbeat;  // @name, @token, @owner
  Sql release;    // @name, @token, @owner
  Constants constants;
  WHORL_FIELDS(Config, lock_name, id, lease_asked, lease, table, look, heartbeat, release,
               constants);
};
// REQUIRES: `table` is an identifier.
Config MakeConfig(const std::string& table, std::string lock_name, std::string id, Duration lease);

struct State {
  enum class Doing : uint8_t { kNothing, kSleeping, kLooking, kAcquiring, kBeating, kReleasing };

  std::string id;
  Doing doing = Doing::kNothing;
  bool stopped = false;
  bool leader = false;
  bool first_round = true;  // no round has ended: the end of the first one calls back
  std::optional<Timestamp> own_token;
  std::optional<LocalInstant> round_began;  // empty before the start
  // When it received the last reply that an acquire or heartbeat committed; empty before the first.
  std::optional<LocalInstant> last_success;
  // Smoothed, of the rounds so far; zero before the first has ended, and with constants that do not smooth.
  Duration latency;
  Duration buffer;        // b; zero before the start
  Counter<0> iterations;  // rounds begun
  WHORL_FIELDS(State, id, doing, stopped, leader, first_round, own_token, round_began, last_success,
               latency, buffer, iterations);
};
constexpr auto WordTableOf(State::Doing) {
  return MakeWordTable<State::Doing>({
      {State::Doing::kNothing, "nothing"},
      {State::Doing::kSleeping, "sleeping"},
      {State::Doing::kLooking, "looking"},
      {State::Doing::kAcquiring, "acquiring"},
      {State::Doing::kBeating, "beating"},
      {State::Doing::kReleasing, "releasing"},
  });
}

// b for a smoothed latency: three times that, from max(50 ms, L/20) to L/3.
Duration BufferFor(const Constants& constants, Duration lease, Duration smoothed_latency);
// 0.7 old + 0.3 new; the first latency unchanged.
Duration Smoothed(const Constants& constants, Duration old, Duration latest);

// HasLock and HasLock2 are answered at once: whether the leader's context is alive, with the
// process's token in nanoseconds since 1970. Upstream has no such question; it passes the same
// token to the callback. Lock and Unlock are answered "no": there is no blocking wrapper.
void Step(const Config& config, State& state, LocalTime now, Entropy& entropy, const Event& event,
          std::vector<Effect>& out);

LeadershipView LeadershipViewOf(const State& state);

enum TimerOfSpindle : TimerId { kWake };
enum RequestOfSpindle : RequestId { kRoundRequest, kReleaseRequest };

}  // namespace whorl::spindle_v3
