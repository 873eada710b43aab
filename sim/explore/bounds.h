// Bounds what a search over the worlds of a lock protocol tries, and for how long.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/fields.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// How many faults of each kind may strike in one run.
struct FaultBudget {
  uint8_t crashes = 0;  // a process that crashed may start again at any time
  uint8_t stops = 0;    // so may one that was told to stop, whether it is done with that or not
  uint8_t pauses = 0;
  uint8_t losses = 0;         // of a request or of a reply
  uint8_t aborts = 0;         // of a transaction, by Spanner
  uint8_t deletes = 0;        // of a lock's row, by an operator
  uint8_t announcements = 0;  // to a process, of releases that were none
  uint8_t standing_clocks =
      0;  // machines that are suspended: nothing runs, and the clock stands still
  WHORL_FIELDS(FaultBudget, crashes, stops, pauses, losses, aborts, deletes, announcements,
               standing_clocks);
};

// The nodes that faults of each kind may strike, by their index in the scenario. nullopt: all nodes.
struct FaultMenu {
  std::optional<std::vector<int16_t>> crashes;
  std::optional<std::vector<int16_t>> stops;
  std::optional<std::vector<int16_t>> pauses;
  std::optional<std::vector<int16_t>> lost_requests;
  std::optional<std::vector<int16_t>> lost_replies;
  std::optional<std::vector<int16_t>> aborts;
  std::optional<std::vector<int16_t>> announcements;
  std::optional<std::vector<int16_t>> standing_clocks;
  std::optional<std::vector<RowOfLock>> deleted_rows;  // nullopt: the rows of all locks
  WHORL_FIELDS(FaultMenu, crashes, stops, pauses, lost_requests, lost_replies, aborts,
               announcements, standing_clocks, deleted_rows);
};

// How far clocks may be off, either way. Each error is a choice of the search.
struct ClockBounds {
  Duration truetime;           // epsilon: true time may be anywhere in TrueTime's interval
  Duration current_timestamp;  // CURRENT_TIMESTAMP against true time
  // A process's clock may run this many ppm faster than true time, or slower by the reciprocal factor
  // (SlowRate), at the same rate for the whole run.
  int64_t rate_ppm = 0;
  WHORL_FIELDS(ClockBounds, truetime, current_timestamp, rate_ppm);

  bool AreOfSpanner() const { return truetime != Duration{} || current_timestamp != Duration{}; }
};

// With this epsilon or a smaller one, Spanner's waits for TrueTime end within the same instant. A greater
// epsilon has to be a multiple of the grid.
inline constexpr Duration kEpsilonWithinAnInstant = Microseconds(200);

struct ExploreBounds {
  FaultBudget faults;
  ClockBounds clocks;
  Duration grid;           // messages that are late arrive, and pauses end, at multiples of this
  int64_t delay = 0;       // how many steps of the grid a message may be late
  Duration longest_pause;  // a clock stands still for as long at most
  // Processes start at points of the grid within this time, one of them at its beginning.
  Duration start_within;
  // Nothing happens at this time or later. Empty: runs never end.
  std::optional<Duration> horizon;
  FaultMenu menu;
  // Of states that differ only in the names of equal processes, one is visited (symmetry.h).
  bool symmetry = false;
  WHORL_FIELDS(ExploreBounds, faults, clocks, grid, delay, longest_pause, start_within, horizon,
               menu, symmetry);
};

// The rate, in ppm, of a clock that is slower by the reciprocal factor; nullopt if it is not a whole number.
std::optional<int64_t> SlowRate(int64_t fast_ppm);

// A search of this world treats instants longer ago than this as equally old. It is longer than any time
// that the code asks about: a protocol asks about StateTraits::memory_leases leases, plus the pauses, the times for
// which clocks stand still, and the waits for lost answers, except one, that the bounds allow; the network asks when a call was sent, until its
// connection times out.
Duration MemoryOf(const Scenario& scenario, const ExploreBounds& bounds);

// The world of a search by `whorl explore --protocol`: equal processes that start on an
// absent row (or the one that the protocol needs), where calls take no time.
struct ExploreWorld {
  std::string protocol;
  bool grid_constants = false;  // the protocol's durations are multiples of a quarter of the lease
  int processes = 2;
  int locks = 1;
  Duration lease;
  bool announces_releases = false;  // a process that gives the lock back tells the others
  // How applications use the lock; the times are those of a scenario (NodeSpec, WorkloadSpec).
  Use use = Use::kCallback;
  std::optional<Duration> deadline;
  std::optional<Duration> hold_for;
  std::optional<Duration> lock_again;
  std::optional<Duration> commit_timeout;  // NetworkSpec::commit_timeout
  PendingCommitTimestampRule strict_pending_commit_timestamp = PendingCommitTimestampRule::kTable;
  WHORL_FIELDS(ExploreWorld, protocol, grid_constants, processes, locks, lease, announces_releases,
               use, deadline, hold_for, lock_again, commit_timeout,
               strict_pending_commit_timestamp);
};
// REQUIRES: FindProtocol(world.protocol) is not null; at most 26 processes and 9 locks.
Scenario ScenarioToExplore(const ExploreWorld& world, const ExploreBounds& bounds);

}  // namespace whorl::sim
