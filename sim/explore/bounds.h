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
  uint8_t pauses = 0;
  uint8_t losses = 0;   // of a request or of a reply
  uint8_t aborts = 0;   // of a transaction, by Spanner
  uint8_t deletes = 0;  // of a lock's row, by an operator
  WHORL_FIELDS(FaultBudget, crashes, pauses, losses, aborts, deletes);
};

// The nodes that faults of each kind may strike, by place. nullopt: all nodes.
struct FaultMenu {
  std::optional<std::vector<int16_t>> crashes;
  std::optional<std::vector<int16_t>> pauses;
  std::optional<std::vector<int16_t>> lost_requests;
  std::optional<std::vector<int16_t>> lost_replies;
  std::optional<std::vector<int16_t>> aborts;
  std::optional<std::vector<RowOfLock>> deleted_rows;  // nothing: the rows of the locks
  WHORL_FIELDS(FaultMenu, crashes, pauses, lost_requests, lost_replies, aborts, deleted_rows);
};

// How far clocks may be off, either way. Each error is a choice of the search.
struct ClockBounds {
  Duration truetime;           // epsilon: where in its interval true time is
  Duration current_timestamp;  // CURRENT_TIMESTAMP against true time
  // How many ppm faster than true time a process's clock may run, or slower by the reciprocal, which
  // is a whole number. It runs at one rate.
  int64_t rate_ppm = 0;
  WHORL_FIELDS(ClockBounds, truetime, current_timestamp, rate_ppm);

  bool AreOfSpanner() const { return truetime != Duration{} || current_timestamp != Duration{}; }
};

// With this or less, all that TrueTime makes Spanner wait for happens within the same instant. More has
// to be a multiple of the grid.
inline constexpr Duration kEpsilonWithinAnInstant = Microseconds(200);

struct ExploreBounds {
  FaultBudget faults;
  ClockBounds clocks;
  Duration grid;      // messages that are late arrive, and pauses end, at multiples of this
  int64_t delay = 0;  // how many steps of the grid a message may be late
  Duration longest_pause;
  // Nothing happens at this time or later. Empty: runs never end.
  std::optional<Duration> horizon;
  FaultMenu menu;
  // Of states that differ by which of several equal processes is which, one is visited (symmetry.h).
  bool symmetry = false;
  WHORL_FIELDS(ExploreBounds, faults, clocks, grid, delay, longest_pause, horizon, menu, symmetry);
};

// The rate of a clock that is slower by the reciprocal; nothing if that is no whole number of ppm.
std::optional<int64_t> SlowRate(int64_t fast_ppm);

// How long ago something has to be for a search of this world to forget how long: longer than any time
// that is asked about. A protocol asks about StateTraits::memory_leases, and what a process may have
// been paused or may have waited for a lost answer, except one; the network, when a call was sent,
// until its connection times out.
Duration MemoryOf(const Scenario& scenario, const ExploreBounds& bounds);

// The world of a search by `whorl explore --protocol`: equal processes that start at once on an
// absent row (or the one that the protocol needs), where calls take no time.
struct ExploreWorld {
  std::string protocol;
  bool grid_constants = false;  // the protocol's numbers are whole quarters of the lease
  int processes = 2;
  int locks = 1;
  Duration lease;
  PendingCommitTimestampRule strict_pending_commit_timestamp = PendingCommitTimestampRule::kTable;
  WHORL_FIELDS(ExploreWorld, protocol, grid_constants, processes, locks, lease,
               strict_pending_commit_timestamp);
};
// REQUIRES: FindProtocol(world.protocol) is not null; at most 26 processes and 9 locks.
Scenario ScenarioToExplore(const ExploreWorld& world, const ExploreBounds& bounds);

}  // namespace whorl::sim
