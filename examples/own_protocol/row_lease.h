// row_lease: a lock without tokens, as an example of a protocol outside of whorl's repository.
//
// One row per lock: name, owner, until. A process takes a row that has no owner, or whose `until` is
// past by more than a margin; the owner moves `until` three times a lease, and clears `owner` when
// it gives the lock back. All of that is by Spanner's CURRENT_TIMESTAMP.
//
// Invariants:
//   1. A process leads iff it has a deadline, was not told to stop, and its own clock shows less: a
//      lease, shortened for a slow clock, from when it asked for the transaction that wrote `until`
//      last. commit_sent would be too late, because `until` counts from the statement before it.
//      That is looked at before every event.
//   2. One thing at a time: a claim or a renewal is under way, or the process sleeps.
//   3. A row is given back once, after WorkStopped and with nothing under way: no work of this process
//      goes on, under this claim or an earlier one. Whether the row is its own, the statement asks.
//   4. A statement of an earlier claim that arrives late can only prolong the row of the process
//      that sent it: it names the owner, a claim leaves a live row alone, and nothing but the end
//      follows a release.
// It assumes (row_lease_info.cc says so to whorl) that all nodes have one lease and ids of their own,
// that CURRENT_TIMESTAMP is wrong by less than half the margin, because both the writer and the
// reader of `until` use it, and that nobody deletes rows.
//
// Left out: tokens, so nothing refuses a write that arrives after its sender has lost the lock; and
// a look before the claim, which would cost Spanner less than a claim that changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "common.h"
#include "protocol/machine.h"
#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/sql.h"

namespace row_lease {

inline constexpr std::string_view kName = OWN_PROTOCOL_TEXT_OF(row_lease);

inline constexpr whorl::Duration kLeaseMin = whorl::Seconds(1);

// The numbers of the protocol. The defaults are what ships.
struct Constants {
  whorl::Duration clock_margin = whorl::Milliseconds(500);
  // A lease divided by each of these: how much sooner than a lease an owner stops believing, for a
  // clock within 0.1 % and as much again; the time from claim to claim; from renewal to renewal; and
  // from a renewal that failed to the next.
  int64_t losses_in_lease = 500;
  int64_t claims_in_lease = 4;
  int64_t renewals_in_lease = 3;
  int64_t retries_in_lease = 16;
  WHORL_FIELDS(Constants, clock_margin, losses_in_lease, claims_in_lease, renewals_in_lease,
               retries_in_lease);
};

// Whole quarters of the lease, which make `explore --constants grid` small.
constexpr Constants GridConstants(whorl::Duration lease) {
  return {.clock_margin = lease / 4,
          .losses_in_lease = 4,
          .claims_in_lease = 4,
          .renewals_in_lease = 2,
          .retries_in_lease = 4};
}

// The words that scenarios and reports name it by. whorl::steps has those that every protocol has.
namespace steps {
inline constexpr whorl::StepName kClaim{"claim"};
inline constexpr whorl::StepName kRenew{"renew"};
inline constexpr whorl::StepName kHandBack{"hand_back"};
}  // namespace steps

// Holds what never changes. Its Sql fields are the statements that the database prepares.
struct Config {
  std::string lock_name;
  std::string id;         // empty: a random UUID, drawn when the process starts
  whorl::Duration lease;  // whole milliseconds
  whorl::Sql create;      // @name: the row of a lock that nobody has held yet
  whorl::Sql take;        // @name, @id, @lease_ms, @margin_ms
  whorl::Sql renew;       // @name, @id, @lease_ms
  whorl::Sql release;     // @name, @id
  Constants constants;
  WHORL_FIELDS(Config, lock_name, id, lease, create, take, renew, release, constants);
};
Config MakeConfig(const std::string& table, std::string lock_name, std::string id,
                  whorl::Duration lease);

// All that a process knows: a value that can be copied, compared and printed.
struct State {
  std::string id;
  bool stopping = false;
  bool work_stopped = false;                 // after that
  std::optional<whorl::LocalInstant> asked;  // for the claim or the renewal that is under way
  std::optional<whorl::LocalInstant> leads_until;
  WHORL_FIELDS(State, id, stopping, work_stopped, asked, leads_until);
};

void Step(const Config& config, State& state, whorl::LocalTime now, whorl::Entropy& entropy,
          const whorl::Event& event, std::vector<whorl::Effect>& out);

whorl::LeadershipView LeadershipViewOf(const State& state);

enum Timer : whorl::TimerId { kWake, kDeadline };
enum Request : whorl::RequestId { kClaim, kRenewal, kRelease };

}  // namespace row_lease
