// Holds what checkers know before a run begins: names, leases, the protocol's rules. It never
// changes, so all forks of a run share one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "protocol/names.h"
#include "protocol/protocols.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"
#include "sim/scenario/rules.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// Whether the invariant is about what happens in time, which runs show and states do not.
constexpr bool IsJudgedOfRuns(Invariant invariant) {
  switch (invariant) {
    case Invariant::kNoWedge:
    case Invariant::kPacedCalls:
    case Invariant::kToldOfLeadership:
    case Invariant::kAnsweredInTime:
    case Invariant::kReasonedStepDown:
    case Invariant::kPromptHandover:
      return true;
    case Invariant::kOneLiveToken:
    case Invariant::kTokenMonotonic:
    case Invariant::kHandedTokenMonotonic:
    case Invariant::kHasLockTruthful:
    case Invariant::kLeaseRespected:
    case Invariant::kFencedWritesOrdered:
    case Invariant::kSingleLeaderBelief:
    case Invariant::kIsolation:
    case Invariant::kNoWorkAfterRelease:
    case Invariant::kSingleWorker:
      break;
  }
  return false;
}
// Those that are, as bits by Invariant.
constexpr uint32_t kJudgedOfRuns = [] {
  uint32_t bits = 0;
  for (const Invariant invariant : AllOf<Invariant>()) {
    if (IsJudgedOfRuns(invariant)) bits |= 1U << static_cast<uint32_t>(invariant);
  }
  return bits;
}();

struct NodeSetup {
  std::string name;
  Duration lease;               // the one used, not the one asked for
  std::vector<uint16_t> locks;  // the locks that it takes part in
  Use use = Use::kHasLock;
  WHORL_FIELDS(NodeSetup, name, lease, locks, use);
};

struct LockSetup {
  std::string name;
  Value key;  // the key of the lock's row
  Duration wedge_bound;
  Duration longest_lease;  // of those who take part and of the initial rows, by the slowest clock
  Duration lease_difference;  // between the longest and the shortest of those who take part
  WHORL_FIELDS(LockSetup, name, key, wedge_bound, longest_lease, lease_difference);
};

struct CheckerSetup {
  const Rules* rules = nullptr;                         // points into static storage
  std::array<Promise, kCountOf<Invariant>> promises{};  // for a part of the run, at least
  std::vector<PromiseLimit> limits;  // the protocol's, of circumstances that the scenario has
  std::vector<NodeSetup> nodes;
  std::vector<LockSetup> locks;
  std::map<std::string, uint16_t, std::less<>> lock_of_name;
  Duration current_timestamp_error;  // at the start, or by an entry of the schedule; either way
  uint32_t judged = ~uint32_t{0};    // the invariants that are judged, as bits by Invariant
  Duration round_trip_p999;
  bool announces_releases = false;      // processes tell each other of releases, and listen
  std::vector<uint8_t> orderly_faults;  // by Scenario::faults: it only starts or stops a process
  std::optional<int64_t> least_lead_percent;  // Rules::least_lead_percent, or less on a coarse grid
  // What real processes may be late by, because their machine has other things to do.
  Duration host_delay;
  WHORL_FIELDS(CheckerSetup, rules, promises, limits, nodes, locks, lock_of_name,
               current_timestamp_error, judged, round_trip_p999, announces_releases, orderly_faults,
               least_lead_percent, host_delay);

  bool Judges(Invariant invariant) const {
    return (judged >> static_cast<uint32_t>(invariant) & 1U) != 0;
  }

  // The index of a node's part in a lock, in a vector of nodes x locks.
  size_t ParticipationCount() const { return nodes.size() * locks.size(); }
  size_t ParticipationIndex(int16_t node, uint16_t lock) const {
    return static_cast<size_t>(node) * locks.size() + lock;
  }
  const NodeSetup& Node(int16_t node) const { return nodes[static_cast<size_t>(node)]; }
  const std::string& LockName(uint16_t lock) const { return locks[lock].name; }
  std::optional<uint16_t> FindLock(std::string_view name) const;
  // The lock whose row it is; nothing if it belongs to no lock.
  std::optional<uint16_t> LockOfRow(const Row& row) const;
  // "a", "a#2" for a's second incarnation, "nobody".
  std::string NameOf(ProcessId process) const;
};

// What the scenario's protocol promises for a run with the scenario's faults: at any time, or without a break.
// REQUIRES: FindProtocol(scenario.protocol) is not null.
std::array<Promise, kCountOf<Invariant>> PromisesIn(const Scenario& scenario);
std::array<Promise, kCountOf<Invariant>> PromisesThroughout(const Scenario& scenario);

// REQUIRES: FindProtocol(scenario.protocol) is not null.
CheckerSetup MakeCheckerSetup(const Scenario& scenario, Duration round_trip_p999);

}  // namespace whorl::sim
