// Holds a scenario: everything that decides a run, and what its author expects of the run.
//
// Invariants:
//   1. Scenario is a plain value. Every default is here and nowhere else. The loader (loader.h)
//      checks names, ranges and references.
//   2. A scenario and a seed decide the run to the byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/words.h"
#include "sim/scenario/faults/kinds.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/metrics.h"
#include "sim/scenario/schedule.h"
#include "sim/scenario/truetime_spec.h"

namespace whorl::sim {

// How a node's application uses its lock.
enum class Use : uint8_t {
  kHasLock,   // asks HasLock every `write_every`; works and writes if the answer is yes
  kCallback,  // asks for its token, then works and writes from callback 1 to callback 0
  kLock,      // calls Lock(), works and writes until it is stopped, then calls Unlock()
};
constexpr auto WordTableOf(Use) {
  return MakeWordTable<Use>({
      {Use::kHasLock, "has_lock"},
      {Use::kCallback, "callback"},
      {Use::kLock, "lock"},
  });
}

struct ClockSpec {
  Duration offset;       // wall clock minus true time, at the start
  int64_t rate_ppm = 0;  // how much faster than true time the node's clocks run
  WHORL_FIELDS(ClockSpec, offset, rate_ppm);
};

struct NodeSpec {
  std::string name;
  std::string id;               // the process's id in the lock; empty: a random UUID at each start
  std::vector<uint16_t> locks;  // indexes into Scenario::locks; empty in the file means all
  Duration lease = Seconds(10);
  std::optional<Instant> start_at = Instant{};  // nothing: only a `start` fault starts it
  // The time from the start, or from each call of Lock, to the end of the context that is given to Run
  // or Lock.
  std::optional<Duration> deadline;
  Use use = Use::kHasLock;
  ClockSpec clock;
  WHORL_FIELDS(NodeSpec, name, id, locks, lease, start_at, deadline, use, clock);
};

// A row that is present at the start. Columns that the scenario does not name are NULL.
struct RowSpec {
  std::vector<std::string> columns;
  Row values;
  WHORL_FIELDS(RowSpec, columns, values);
};

enum class Preset : uint8_t {
  kRegional,
  kMultiRegion,
  kNone,  // calls take no time; a commit still waits out the uncertainty of TrueTime
};
constexpr auto WordTableOf(Preset) {
  return MakeWordTable<Preset>({
      {Preset::kRegional, "regional"},
      {Preset::kMultiRegion, "multi_region"},
      {Preset::kNone, "none"},
  });
}

enum class PendingCommitTimestampRule : uint8_t {
  kTable,   // as documented: after such a write, the transaction cannot read the table
  kColumn,  // as in the emulator: it cannot read the column
};
constexpr auto WordTableOf(PendingCommitTimestampRule) {
  return MakeWordTable<PendingCommitTimestampRule>({
      {PendingCommitTimestampRule::kTable, "table"},
      {PendingCommitTimestampRule::kColumn, "column"},
  });
}

// Of transactions that do not choose theirs; no protocol here does.
enum class DefaultIsolation : uint8_t { kSerializable, kRepeatableRead };
constexpr auto WordTableOf(DefaultIsolation) {
  return MakeWordTable<DefaultIsolation>({
      {DefaultIsolation::kSerializable, "serializable"},
      {DefaultIsolation::kRepeatableRead, "repeatable_read"},
  });
}

struct SpannerSpec {
  static constexpr size_t kSplitsMax = 4;

  Preset preset = Preset::kRegional;
  TrueTimeSpec truetime;
  Duration current_timestamp_error;  // CURRENT_TIMESTAMP minus true time
  PendingCommitTimestampRule strict_pending_commit_timestamp = PendingCommitTimestampRule::kTable;
  DefaultIsolation default_isolation = DefaultIsolation::kSerializable;
  // The first keys of all splits of the protocol's table but the first one.
  std::vector<std::string> splits;
  WHORL_FIELDS(SpannerSpec, preset, truetime, current_timestamp_error,
               strict_pending_commit_timestamp, default_isolation, splits);
};

struct NetworkSpec {
  Duration connection_timeout = Seconds(20);  // after which a black-holed call ends UNAVAILABLE
  bool announce_releases = false;             // processes tell each other of releases directly
  // After which a client gives a Commit up, if that is sooner than its library would.
  std::optional<Duration> commit_timeout;
  WHORL_FIELDS(NetworkSpec, connection_timeout, announce_releases, commit_timeout);
};

enum class ResourceKind : uint8_t { kFenced, kUnfenced, kBoth };
constexpr auto WordTableOf(ResourceKind) {
  return MakeWordTable<ResourceKind>({
      {ResourceKind::kFenced, "fenced"},
      {ResourceKind::kUnfenced, "unfenced"},
      {ResourceKind::kBoth, "both"},
  });
}

// A question that an application asks beside its work. Lock and Unlock are how it uses the lock.
enum class SideQuestion : uint8_t { kHasLock, kHasLock2, kLeader, kDuration, kIterations };
constexpr auto WordTableOf(SideQuestion) {
  return MakeWordTable<SideQuestion>({
      {SideQuestion::kHasLock, "HasLock"},
      {SideQuestion::kHasLock2, "HasLock2"},
      {SideQuestion::kLeader, "Leader"},
      {SideQuestion::kDuration, "Duration"},
      {SideQuestion::kIterations, "Iterations"},
  });
}

struct WorkloadSpec {
  Duration write_every = Seconds(1);
  Duration work_for = Milliseconds(50);  // between the answer and the write
  Duration stop_takes;                   // from when it is told to stop until it is not at work
  ResourceKind resource = ResourceKind::kBoth;
  std::vector<SideQuestion> ask;  // all at once, for as long as the process is there
  Duration ask_every = Seconds(1);
  // With Use::kLock: from the return of Lock to Unlock, and from Unlock, or a Lock that failed, to
  // the next Lock. Without them it unlocks when it is told to stop, and locks once.
  std::optional<Duration> hold_for;
  std::optional<Duration> lock_again;
  WHORL_FIELDS(WorkloadSpec, write_every, work_for, stop_takes, resource, ask, ask_every, hold_for,
               lock_again);
};

// The count-th time that a process of `node` reaches `phase` of `step` (of `lock`, when given).
struct When {
  int16_t node = 0;
  StepName step;
  Phase phase = Phase::kSent;
  int64_t count = 1;
  std::optional<uint16_t> lock;
  WHORL_FIELDS(When, node, step, phase, count, lock);
};

// The word for FaultSpec::kLeader in a file, unless a node has this name.
inline constexpr std::string_view kLeaderWord = "leader";

// A phase of a step, of any process and at any time.
struct StepPhase {
  StepName step;
  Phase phase = Phase::kSent;
  WHORL_FIELDS(StepPhase, step, phase);
};

struct FaultSpec {
  static constexpr int16_t kNoNode = -1;
  static constexpr int16_t kLeader = -2;  // the node that leads when the fault strikes

  std::variant<Instant, When> trigger;  // `at` or `when`
  int16_t node = 0;                     // or kLeader; kNoNode for what happens at Spanner
  AnyFault what;
  int line = 0;  // in the file, so that a report can point at it
  FaultKind kind() const { return KindOf(what); }
  template <typename T>
  const T* As() const {  // null for another kind
    return std::get_if<T>(&what);
  }
  WHORL_FIELDS(FaultSpec, trigger, node, what, line);
};

// From an event of the run on, chance is drawn from another seed.
struct BranchSpec {
  uint64_t event = 0;  // how many events happen before it
  uint64_t seed = 0;
  WHORL_FIELDS(BranchSpec, event, seed);
};

// What happens to a process, as waypoints name it.
enum class ProcessEvent : uint8_t { kStarted, kStopped, kCrashed, kPaused, kResumed };
constexpr auto WordTableOf(ProcessEvent) {
  return MakeWordTable<ProcessEvent>({
      {ProcessEvent::kStarted, "started"},
      {ProcessEvent::kStopped, "stopped"},
      {ProcessEvent::kCrashed, "crashed"},
      {ProcessEvent::kPaused, "paused"},
      {ProcessEvent::kResumed, "resumed"},
  });
}

// Something that a run passes: a process reaches a phase of a step, or something becomes of it.
struct Waypoint {
  static constexpr int16_t kAnyNode = -1;
  static constexpr int16_t kLeader = -2;     // the node that owns the lock's newest version
  static constexpr int16_t kOldLeader = -3;  // the one that owned it before

  int16_t node = kAnyNode;  // or one of the above
  std::variant<StepPhase, ProcessEvent> what;
  int line = 0;  // in the file, so that a report can point at it
  WHORL_FIELDS(Waypoint, node, what, line);
};

// Both ends are included. Counts, or nanoseconds if the metric is a time.
struct MetricBound {
  Metric metric = Metric::kGrants;
  std::optional<int64_t> min;
  std::optional<int64_t> max;
  WHORL_FIELDS(MetricBound, metric, min, max);
};

// The protocol's numbers, such as how long before its lease ends a leader stops to believe.
enum class Constants : uint8_t {
  kShipped,
  kGrid,  // whole quarters of the lease, for protocols that have such (ProtocolInfo)
};
constexpr auto WordTableOf(Constants) {
  return MakeWordTable<Constants>({
      {Constants::kShipped, "shipped"},
      {Constants::kGrid, "grid"},
  });
}

struct Expectations {
  std::vector<Invariant> holds;
  std::vector<Invariant> violates;
  std::vector<Sometimes> sometimes;
  std::vector<MetricBound> metrics;
  std::optional<Duration> takeover_within;  // bounds without_holder_max
  std::vector<Waypoint> reach;              // what the run passes, in this order
  bool faults_may_miss = false;             // one that finds nothing to strike is no failure
  WHORL_FIELDS(Expectations, holds, violates, sometimes, metrics, takeover_within, reach,
               faults_may_miss);
};

struct Scenario {
  std::string name;  // the file's name without directory and .json
  std::string path;  // as given, for messages
  int64_t version = 1;
  std::string about;
  std::string protocol;
  Constants constants = Constants::kShipped;
  std::vector<std::string> locks;
  std::vector<NodeSpec> nodes;
  std::vector<RowSpec> rows;
  Duration duration;
  uint64_t seed = 1;
  SpannerSpec spanner;
  NetworkSpec network;
  WorkloadSpec workload;
  std::vector<FaultSpec> faults;
  std::vector<ScheduleEntry> schedule;  // what happens first; then virtual time goes on
  std::vector<BranchSpec> branches;     // in the order of their events; none beside a schedule
  Expectations expect;
  WHORL_FIELDS(Scenario, name, path, version, about, protocol, constants, locks, nodes, rows,
               duration, seed, spanner, network, workload, faults, schedule, branches, expect);
};

// By fault: whether the schedule begins it. Such a fault strikes where the schedule says, and its own
// trigger only tells readers when. Empty if there is no schedule.
std::vector<bool> FaultsOfSchedule(const Scenario& scenario);

}  // namespace whorl::sim
