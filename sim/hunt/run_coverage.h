// Counts kinds of steps, by which a hunt sees whether its runs still show anything new.
//
// Each time a process reaches a phase of a step, that event is of one kind. A kind is a hash of
//   - the step, the phase, and the result that the process heard (outcome or code);
//   - the kinds of faults in force;
//   - of each node that takes part in the lock: whether its process runs, is paused or cut off, what it
//     would answer, whether it believes, works, and owns the newest version;
//   - the slack of the invariants, in buckets: lease_respected (until the lease's end),
//     single_leader_belief (since the last belief lapsed), no_wedge (since the last holder).
// Invariants:
//   1. The kinds of a run are a function of its observations.
//   2. Names and places of nodes are no part of a kind: worlds that differ only in them show the same kinds.
//   3. Known kinds add up: those of all shards of a hunt, added in any order, are those of the whole.
// Deliberately left out: violations. They are counted as findings (hunt.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "protocol/protocols.h"
#include "protocol/spanner/fields.h"
#include "sim/judge/run.h"
#include "sim/judge/run_judge.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/reached_phase.h"

namespace whorl::sim {

// Puts a slack into a bucket: parts of the lease, on a scale of powers of two. Negative slack (the event has
// happened, or is overdue) has buckets of its own.
uint8_t SlackBucket(Duration slack, Duration lease);

// A kind, and when the run showed it first.
struct KindSeen {
  uint64_t kind = 0;  // less than 2^48, so that it is exact in JSON
  Instant at;
  // Coarser hashes than `kind`, for guidance (guide.h) and the corpus (corpus.h); less than 2^48.
  uint64_t cell = 0;
  uint64_t moment = 0;
  WHORL_FIELDS(KindSeen, kind, at, cell, moment);
};

// The ways in which a run can come close to a goal. Only promised invariants count.
enum class NearMissKind : uint8_t {
  kLease,   // lease_respected: from the end of a lease until the next owner's commit
  kBelief,  // single_leader_belief: from the end of a belief until the next one of another process
  kWedge,   // no_wedge: what is left of the bound, when nobody has held the lock for long
  kReach,   // the hunt's waypoints: how many of them were not reached
};
inline constexpr size_t kNearMissKinds = 4;

// How close the run came, and when.
struct Nearest {
  // In 1/1024 of the lease, or of the bound; negative: violated. Of waypoints, how many.
  int64_t distance = 0;
  // When the belief or the lease ended, the last holder lost the lock, or the last waypoint was reached.
  Instant at;
  WHORL_FIELDS(Nearest, distance, at);
};
using NearestOfRun = std::array<std::optional<Nearest>, kNearMissKinds>;

class RunCoverage final : public JudgedSink {
 public:
  explicit RunCoverage(const Scenario& scenario);

  void Hear(const Observation& observation, const RunJudge& judge) override;

  // The kinds seen, ascending, each once. Call it once, at the end.
  std::vector<KindSeen> Take();
  const NearestOfRun& nearest() const { return nearest_; }

 private:
  struct OfNode {
    int16_t node = 0;
    bool is_stale = true;
    uint32_t state = 0;   // Ledger::StateBits
    uint32_t others = 0;  // facts that hold of any other node
    Instant sent;         // when its last call was sent
  };
  struct OfLock {
    std::vector<OfNode> nodes;  // that take part in it
    bool is_stale = true;       // the ledger has changed since the states were read
    bool has_believer = false;
    bool has_holder = false;  // some process would be answered "has lock"
    Instant last_belief;      // when there was a believer last; at first, the run's start
    Instant last_holder;
    int16_t last_believer = -1;  // its node
    bool was_taken = false;      // the owner took it from another one that had not released it
    int16_t owner = -1;          // of the newest version
    std::optional<Instant> lease_until;  // of that, unless it was released
  };

  static constexpr int16_t kAllNodes = -1;

  void Refresh(const RunJudge& judge, int16_t node, Instant at);
  void NoteNearMisses(const RunJudge& judge, uint16_t lock, Instant at);
  void NoteNearMiss(NearMissKind kind, const RunJudge& judge, uint16_t lock, Duration left,
                    Duration whole, Instant at);
  void ReadStates(const RunJudge& judge, uint16_t lock);
  void Note(const ReachedPhase& reached, const RunJudge& judge, Instant at);

  const ProtocolInfo* protocol_;
  std::vector<FaultKind> faults_;   // of the scenario, by index
  std::vector<uint32_t> in_force_;  // in the order in which they began
  std::vector<OfLock> locks_;
  NearestOfRun nearest_;
  Instant last_disturbed_;
  std::vector<KindSeen> seen_;
  // The kinds seen last, by their low bits: most steps repeat one of them.
  std::array<uint64_t, 1024> recent_{};
};

// The kinds that a hunt has seen.
class KnownKinds {
 public:
  struct Count {
    uint64_t first = 0;  // the run with the least number that showed it
    int64_t runs = 0;    // how many did
    WHORL_FIELDS(Count, first, runs);
  };

  void Add(uint64_t run, std::span<const KindSeen> kinds);
  void Add(uint64_t kind, const Count& count);
  void Add(const KnownKinds& other);

  int64_t size() const { return static_cast<int64_t>(counts_.size()); }
  // How many runs have shown it; 0 if it is not known.
  int64_t RunsWith(uint64_t kind) const;
  // How many were first shown by a run with this number or a greater one.
  int64_t NewSince(uint64_t run) const;
  // How many runs have shown a kind that no other run has. Of all runs, that share estimates the
  // probability that one more run shows a kind that is not known (Good and Turing's estimate, each run
  // taken as one draw).
  int64_t RunsAlone() const;

  const std::map<uint64_t, Count>& counts() const { return counts_; }
  friend bool operator==(const KnownKinds&, const KnownKinds&) = default;

 private:
  std::map<uint64_t, Count> counts_;
};

}  // namespace whorl::sim
