// lease_lock runs Locker (locker.h) and a user of it as one step machine.
//
// The user polls AcquireLock every quarter of a lease until it gets the lock, then lets background
// heartbeats renew it every third of a lease, works while the lease lasts by its own wall clock,
// and releases the lock when it was asked to stop and its work has stopped. State diagram and
// findings: README.md beside this file.
//
// Invariants:
//   1. The process believes iff it holds a lock: it acquired it, no heartbeat has failed since, it
//      was not asked to stop, and its wall clock shows less than leased_until. A heartbeat that
//      succeeds after the end brings the belief back.
//   2. Nothing interrupts a user whose lease runs out: LeadershipChanged{false} comes with the
//      error of the background heartbeats, or with the stop.
//   3. A lock is released unless Locker has said that another owner has it: after any other error
//      it may still be its own.
//   4. The first time that a poll finds the lock taken, GetCurrentLock is asked by whom.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "protocol/counting.h"
#include "protocol/lease_lock/locker.h"
#include "protocol/machine.h"
#include "protocol/spanner/fields.h"

namespace whorl::lease_lock {

// The simulated user's limit; Locker itself has none.
inline constexpr Duration kLeaseMin = Seconds(1);

// The numbers of the user. The defaults are what ships; Locker has its own (LockerConstants).
struct Constants {
  // A lease divided by each of these: the time from poll to poll, and from heartbeat to heartbeat.
  int64_t polls_in_lease = 4;
  int64_t beats_in_lease = 3;
  WHORL_FIELDS(Constants, polls_in_lease, beats_in_lease);
};

// Constants with which heartbeats come after whole quarters of the lease, as polls do.
constexpr Constants GridConstants() { return {.polls_in_lease = 4, .beats_in_lease = 2}; }

struct Config {
  std::string lock_name;  // the key
  std::string id;         // the owner; empty: a random UUID, drawn when the process starts
  Duration lease;
  Locker locker;
  Constants constants;
  WHORL_FIELDS(Config, lock_name, id, lease, locker, constants);
};
// REQUIRES: `table` is an identifier; lease >= kLeaseMin.
Config MakeConfig(const std::string& table, std::string lock_name, std::string id, Duration lease);

// A call of Locker that is under way, with its request.
struct Flight {
  RequestId request = 0;
  Call call;
  WHORL_FIELDS(Flight, request, call);
};

struct State {
  std::string id;  // empty before the start
  bool stopping = false;
  bool starved = false;                   // the last poll found the lock taken
  std::optional<Lock> lock;               // acquired, and as far as known not another's since
  std::optional<Background> beats;        // while it holds the lock
  std::optional<LocalInstant> polled_at;  // when the last poll began; empty before the first
  Counter<0> polls;                       // begun
  std::vector<AskId> asks;                // questions that GetCurrentLock will answer
  std::vector<Flight> flights;
  WHORL_FIELDS(State, id, stopping, starved, lock, beats, polled_at, polls, asks, flights);
};

// HasLock and HasLock2 are answered at once, from the state and the wall clock; Leader asks
// GetCurrentLock. Lock and Unlock are answered "no": there is no blocking wrapper.
void Step(const Config& config, State& state, LocalTime now, Entropy& entropy, const Event& event,
          std::vector<Effect>& out);

// believes_until is leased_until by the monotonic clock, as the wall clock stands now.
LeadershipView LeadershipViewOf(const State& state, LocalTime now);

enum TimerOfLocker : TimerId { kPoll, kBeat };
enum RequestOfLocker : RequestId {
  kPollRequest,
  kBeatRequest,
  kReleaseRequest,
  kStarvationRequest,
  kFirstAskRequest,
};

}  // namespace whorl::lease_lock
