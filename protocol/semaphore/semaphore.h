// Implements the semaphore of an article on Cloud Spanner as a step machine.
//
// One row names the service that leads and when it was last active. Every second each service runs
// one UPDATE, which renews the row if it is the service's own, or takes it if it is older than the
// timeout; then a query returns the leader. State diagram and findings: README.md beside this file.
//
// Invariants:
//   1. The port is as flawed as the original: there is no token, nothing is given back, and no
//      local clock ends a belief.
//   2. A process believes that it leads iff the last query that answered said so, and it was not
//      asked to stop. The query of a round and the application's questions count alike; a query
//      that failed changes nothing.
//   3. One round at a time: an UPDATE, then a query, however the UPDATE ended. The next round
//      begins a period after the last one began, or at once if that took longer.
//   4. A state's own row is known by the service's id alone, so two services of one id share it.
// Left out: several anchors (the article's statements name anchor 1), creating the table, and
// `init`, whose row is given by InitRow().
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
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/sql.h"

namespace whorl::semaphore {

inline constexpr Duration kPeriod = Seconds(1);
inline constexpr Duration kTimeoutMin = kPeriod * 2;
inline constexpr int64_t kAnchor = 1;

// The numbers of the protocol. The default is what ships; on a coarse grid of time there is
// another.
struct Constants {
  Duration period = kPeriod;  // from the beginning of a round to that of the next
  WHORL_FIELDS(Constants, period);
};

// A period that is a quarter of the lease.
constexpr Constants GridConstants(Duration lease) { return {.period = lease / 4}; }

struct Config {
  std::string lock_name;  // for people: the row's key is kAnchor
  std::string id;         // empty: a random UUID, drawn when the service starts
  Duration timeout;       // in whole seconds
  Sql update;             // @serviceId, @timeout
  Sql query;              // @timeout
  Constants constants;
  WHORL_FIELDS(Config, lock_name, id, timeout, update, query, constants);
};
// A timeout is cut to whole seconds. REQUIRES: `table` is an identifier; timeout >= kTimeoutMin.
Config MakeConfig(const std::string& table, std::string lock_name, std::string id,
                  Duration timeout);

// An expired row of no service. A NULL in service_id would never be replaced.
Row InitRow();

struct PendingAsk {
  AskId ask = 0;
  Question question = Question::kHasLock;
  WHORL_FIELDS(PendingAsk, ask, question);
};

struct State {
  enum class Doing : uint8_t { kNothing, kSleeping, kUpdating, kQuerying };

  std::string id;
  Doing doing = Doing::kNothing;
  bool stopped = false;
  bool leader = false;                      // the last query that answered said so
  std::optional<LocalInstant> round_began;  // empty before the start
  Counter<0> rounds;                        // begun
  std::vector<PendingAsk> asks;
  WHORL_FIELDS(State, id, doing, stopped, leader, round_began, rounds, asks);
};
constexpr auto WordTableOf(State::Doing) {
  return MakeWordTable<State::Doing>({
      {State::Doing::kNothing, "nothing"},
      {State::Doing::kSleeping, "sleeping"},
      {State::Doing::kUpdating, "updating"},
      {State::Doing::kQuerying, "querying"},
  });
}

// HasLock, HasLock2 and Leader run the query. Lock and Unlock are answered "no": there is no
// blocking wrapper. LeadershipChanged comes whenever a query changes who leads, and with a stop.
void Step(const Config& config, State& state, LocalTime now, Entropy& entropy, const Event& event,
          std::vector<Effect>& out);

LeadershipView LeadershipViewOf(const State& state);

enum TimerOfSemaphore : TimerId { kRound };
enum RequestOfSemaphore : RequestId { kRoundRequest, kFirstAskRequest };

}  // namespace whorl::semaphore
