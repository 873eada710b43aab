// fenced_lease keeps a lease by heartbeats, takes it by compare-and-set, and believes in it only as
// long as the holder's own clock can prove it. State diagram, promises and the argument why they
// hold: README.md beside this file, which a change here has to keep true.
//
// Invariants:
//   1. A process leads iff it has a term, believes in it, was not told to stop, and its own clock
//      shows less than the term's deadline D = s + L(1 - rho) - guard, where s is when it first
//      sent the Commit that was acknowledged last. D is looked at before every event.
//   2. A term ends once, for good: from then on no heartbeat of it is sent, and late replies are
//      ignored. The next term has another attempt and another token.
//   3. The token is the commit timestamp of the grant; heartbeats do not change it.
//   4. Nobody takes a heartbeat value before its own clock has shown the row's lease (1 + rho)
//      since it first received that value, except a released row, its own row, and at the very
//      first look one that Spanner's read timestamp shows to be two leases old. No decision that
//      safety rests on looks at CURRENT_TIMESTAMP: it only times the next look.
//   5. What could be believed in too early (a row that was absent, a first look that took at once)
//      is held without belief until the last holder's belief must have ended, and is not given back
//      before that either.
//   6. A Commit whose outcome stays unknown is read back; it is never run again.
//   7. A row is given back only after WorkStopped: no work of this process runs under it any more.
//   8. Whatever Spanner answers, and whatever other processes do to the row or announce, a process looks
//      at most looks_at_once times in a row, and then once every L/16.
// Left out: a blocking Lock(), the cloned virtual machine (two processes with one attempt id), and
// clocks that do not count suspension, which are noticed only afterwards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "protocol/counting.h"
#include "protocol/machine.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/sql.h"

namespace whorl::fenced_lease {

// The proof assumes these of every clock, and followers rely on them.
inline constexpr int64_t kRhoPpm = 1'000;    // rates are within 0.1 % of true time
inline constexpr int64_t kBeatPercent = 60;  // time from beat to beat, in percent of the lease
inline constexpr Duration kPollDelay = Milliseconds(30);
inline constexpr Duration kClockSlack = Milliseconds(50);  // for what timestamps may be off
inline constexpr Duration kLeaseMin = Seconds(1);
inline constexpr Duration kLeaseMax = Seconds(3600);

// The numbers of the protocol. The defaults are what ships, and what README.md argues about; on a
// coarse grid of time there are others, so that each of them shows on the grid.
struct Constants {
  int64_t rho_ppm = kRhoPpm;
  int64_t beat_percent = kBeatPercent;
  Duration poll_delay = kPollDelay;  // the first pause between two looks at an unchanged row
  Duration clock_slack = kClockSlack;
  // A lease divided by each of these: the longest pause between two looks; the least time between two
  // beats, if the first is not answered; the most that a follower waits beyond the lease by chance.
  int64_t polls_in_lease = 4;
  int64_t beats_in_lease = 16;
  int64_t take_delays_in_lease = 200;
  // Looks that may follow each other as fast as they like; each costs L / beats_in_lease, which passing
  // time pays back. The largest number means that looks are not counted.
  int64_t looks_at_once = 7;
  // Of the latency in the smoothed latency of Commits; the latest one has 1.
  int64_t old_latency_weight = 3;
  WHORL_FIELDS(Constants, rho_ppm, beat_percent, poll_delay, clock_slack, polls_in_lease,
               beats_in_lease, take_delays_in_lease, looks_at_once, old_latency_weight);
};

// Constants that are whole quarters of the lease: clocks may be off by a quarter, a beat comes after a
// half, and no delay is drawn. Nor is a latency smoothed, which would leave the grid, nor are looks
// counted: messages may take any time on their way, so looks that wait show nothing more.
constexpr Constants GridConstants(Duration lease) {
  return {.rho_ppm = 250'000,
          .beat_percent = 50,
          .poll_delay = lease / 4,
          .clock_slack = lease / 4,
          .polls_in_lease = 4,
          .beats_in_lease = 4,
          .take_delays_in_lease = std::numeric_limits<int64_t>::max(),
          .looks_at_once = std::numeric_limits<int64_t>::max(),
          .old_latency_weight = 0};
}

struct Config {
  std::string lock_name;
  std::string id;        // empty: a random UUID, drawn when the process starts
  Duration lease_asked;  // as the user gave it
  Duration lease;        // in whole milliseconds, from kLeaseMin to kLeaseMax
  Duration guard;        // taken off every deadline
  Sql read;              // @name
  Sql take;              // @name, @id, @lease_ms, @attempt, @seen
  Sql create;            // @name, @id, @lease_ms, @attempt
  Sql beat;              // @name, @token, @attempt
  Sql release;           // @name, @token, @attempt
  Constants constants;
  WHORL_FIELDS(Config, lock_name, id, lease_asked, lease, guard, read, take, create, beat, release,
               constants);
};
// REQUIRES: `table` is an identifier; guard < lease / 4.
Config MakeConfig(const std::string& table, std::string lock_name, std::string id, Duration lease,
                  Duration guard = {});

// What the row says of the claim that won it.
struct Attempt {
  Serial number;  // counts this process's claims, from 1
  // Believes only after a wait: CREATE, and a TAKE of the first look that did not wait before.
  bool cautious = false;
  WHORL_FIELDS(Attempt, number, cautious);
};

// One TAKE or CREATE.
struct Claim {
  Attempt attempt;
  bool create = false;
  Timestamp seen;       // the heartbeat that it replaces
  Duration seen_lease;  // in the row that it replaces; for CREATE, the longest lease ever seen
  // s: when its Commit was first sent. Empty until it has ended, and if none was sent.
  std::optional<LocalInstant> sent;
  WHORL_FIELDS(Claim, attempt, create, seen, seen_lease, sent);
};

enum class FlightKind : uint8_t { kRead, kClaim, kBeat, kRelease };
// A transaction that is under way.
struct Flight {
  RequestId request = 0;
  FlightKind kind = FlightKind::kRead;
  bool wanted = true;                   // for a read: its answer is still needed
  std::optional<LocalInstant> started;  // for a read
  Claim claim;                          // for a claim
  Serial term;                          // for a beat: the attempt that began its term
  WHORL_FIELDS(Flight, request, kind, wanted, started, claim, term);
};
constexpr auto WordTableOf(FlightKind) {
  return MakeWordTable<FlightKind>({
      {FlightKind::kRead, "read"},
      {FlightKind::kClaim, "claim"},
      {FlightKind::kBeat, "beat"},
      {FlightKind::kRelease, "release"},
  });
}

struct Term {
  Attempt attempt;  // the one that began it
  Timestamp token;
  Timestamp renewed;      // commit timestamp of the newest acknowledged Commit
  LocalInstant sent;      // s: when that Commit was first sent
  LocalInstant deadline;  // D
  bool believes = false;
  WHORL_FIELDS(Term, attempt, token, renewed, sent, deadline, believes);
};

// Another process's row, as a follower sees it.
struct Seen {
  Timestamp heartbeat;
  Duration lease;        // the row's, or this process's if the row has none
  LocalInstant take_at;  // the earliest time at which it may be taken
  LocalInstant looked;   // when the read was sent that showed it last
  WHORL_FIELDS(Seen, heartbeat, lease, take_at, looked);
};

struct State {
  std::string id;
  std::string prefix;  // 128 random bits, with which this process's attempt ids begin
  Counter<0> claims;   // made so far
  bool stopping = false;
  bool work_stopped = false;  // after `stopping`
  bool first_look = true;     // nothing was ever read
  std::optional<Term> term;
  std::optional<Seen> seen;
  Duration poll_pause;   // before the next look at a row that has not changed
  Duration claim_pause;  // before the next look after a claim that began no term
  // Until when this process has paid for its looks: invariant 8. Empty: they are all paid for.
  std::optional<LocalInstant> looks_paid_until;
  Duration longest_lease;  // in all rows seen so far
  // No belief before this local time: invariant 5. Empty: nothing is held back.
  std::optional<LocalInstant> not_before;
  Duration commit_latency;     // smoothed
  Serial last_term;            // number of the attempt whose term ended last
  std::vector<Claim> unknown;  // claims whose outcome has to be read back
  std::vector<Flight> flights;
  WHORL_FIELDS(State, id, prefix, claims, stopping, work_stopped, first_look, term, seen,
               poll_pause, claim_pause, looks_paid_until, longest_lease, not_before, commit_latency,
               last_term, unknown, flights);

  // What stands before the numbers of claims in attempt ids.
  std::string_view SerialsBase() const { return prefix; }
};

// HasLock and HasLock2 are answered at once, from the state and the clock. Lock and Unlock are
// answered "no": there is no blocking wrapper. After StopRequested the row is given back at
// WorkStopped, unless that comes after D.
void Step(const Config& config, State& state, LocalTime now, Entropy& entropy, const Event& event,
          std::vector<Effect>& out);

// believes_until is D.
LeadershipView LeadershipViewOf(const State& state);

// Timers: see README.md.
enum TimerOfLease : TimerId { kPoll, kTake, kBeat, kBelieve, kDeadline };

}  // namespace whorl::fenced_lease
