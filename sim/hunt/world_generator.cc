#include "sim/hunt/world_generator.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "sim/judge/checkers/setup.h"
#include "sim/scenario/fault_checks.h"
#include "sim/scenario/language.h"
#include "sim/world/draws.h"
#include "sim/world/latency.h"

namespace whorl::sim {
namespace {

using Shares = Draws::Weighted<int64_t>;

constexpr Duration kLong = Seconds(20 * 60);
constexpr Duration kQuiet = Seconds(3600);
// Of the worlds of the usual duration: an hour costs as much as several of these.
constexpr int64_t kLongPerMille = 2;
constexpr int64_t kQuietPerMille = 1;

class WorldGenerator {
 public:
  WorldGenerator(const WorldOptions& options, const SharedCapabilities& shared, uint64_t seed)
      : options_(options), shared_(shared), draws_(Combine(Mix(seed), shared.Hash())) {}

  Scenario Draw() {
    world_.name = "drawn";
    world_.about = "Drawn by whorl hunt.";
    world_.protocol = shared_.protocols.front()->name;
    DrawLength();
    world_.seed = static_cast<uint64_t>(draws_.Between(1, 999'999));
    DrawLocks();
    DrawNodes();
    DrawSpanner();
    DrawWorkload();
    DrawRows();
    const Duration safety = SafetyPhase();
    DrawStarts(safety);
    DrawFaults(options_, shared_, safety,
               has_quiet_hour_ ? FaultTriggers::kTimes : FaultTriggers::kTimesAndSteps, draws_,
               world_);
    // Drawn last, so that adding it has moved no other draw.
    world_.network.announce_releases = draws_.Percent(25);
    DrawStopTakes();
    DrawSplits();
    if (draws_.Percent(10)) {
      world_.spanner.default_isolation = DefaultIsolation::kRepeatableRead;
    }
    DrawQuestions();
    DrawLocking();
    if (has_quiet_hour_) AddQuietHour();
    return std::move(world_);
  }

 private:
  // Sessions, pauses between attempts and clocks that drift show some mistakes only in time. An hour costs as
  // much as several usual runs, so it is quiet, and rare.
  void DrawLength() {
    world_.duration = options_.duration;
    if (options_.duration != kUsualDuration) return;
    const int64_t drawn = draws_.Between(1, 1000);
    if (drawn <= kLongPerMille) world_.duration = kLong;
    has_quiet_hour_ = drawn > 1000 - kQuietPerMille;
  }

  // A heartbeat of the lock "job" cleans up rows whose keys begin with job_.
  void DrawLocks() {
    world_.locks = {"lock"};
    if (shared_.takes_one_lock || !draws_.Percent(15)) return;
    // Names of side rows are lock names, too: "X_1" could be a side row of "X".
    static constexpr std::array<Draws::Weighted<std::array<const char*, 2>>, 3> kNames = {
        {{45, {"job", "job_daily"}}, {30, {"jobs", "mails"}}, {25, {"X", "X_1"}}}};
    const std::array<const char*, 2> names = draws_.Weigh<std::array<const char*, 2>>(kNames);
    world_.locks = {names[0], names[1]};
  }

  // A longer run has room for longer leases.
  Duration DrawLease() {
    const Duration least = std::max({Seconds(1), shared_.lease_min, options_.lease_min});
    const Duration most =
        std::min(std::max({Seconds(30), options_.duration / 5, least}), shared_.lease_max);
    // Heartbeats are what a quiet hour costs.
    const Duration drawn = draws_.Log(has_quiet_hour_ ? std::max(least, most / 2) : least, most);
    return {drawn.ns / Milliseconds(100).ns * Milliseconds(100).ns};
  }

  void DrawNodes() {
    // In per mille: a few worlds have a crowd, whose transactions wait for each other.
    static constexpr std::array<Shares, 7> kCounts = {
        {{360, 2}, {356, 3}, {130, 4}, {80, 5}, {40, 6}, {32, 7}, {2, 20}}};
    int64_t count = draws_.Weigh<int64_t>(kCounts);
    if (has_quiet_hour_) count = 2;
    if (options_.style == Style::kRare && draws_.Percent(4)) count = 20;
    const Duration lease = DrawLease();
    const bool may_mix = options_.beyond_assumptions || shared_.may.leases_may_differ;
    const bool is_mixed = draws_.Percent(20) && may_mix;
    const bool has_bad_clocks = draws_.Percent(40);
    // The last use is the blocking wrapper.
    const int64_t uses = shared_.has_blocking_wrapper ? 3 : 2;
    const int64_t use = draws_.Between(0, uses);
    for (int64_t i = 0; i < count; ++i) {
      NodeSpec node;
      node.name = std::string(1, static_cast<char>('a' + i));
      node.lease = is_mixed && draws_.Percent(50) ? DrawLease() : lease;
      DrawLocksOf(node);
      // All nodes have the same use, or each has its own.
      node.use = static_cast<Use>(use < uses ? use : draws_.Between(0, uses - 1));
      if (has_bad_clocks) DrawClock(node.clock);
      world_.nodes.push_back(std::move(node));
    }
    DrawIds();
  }

  void DrawLocksOf(NodeSpec& node) {
    if (world_.locks.size() == 1 || draws_.Percent(40)) {
      for (size_t i = 0; i < world_.locks.size(); ++i) {
        node.locks.push_back(static_cast<uint16_t>(i));
      }
    } else {
      node.locks = {static_cast<uint16_t>(draws_.Between(0, 1))};
    }
  }

  void DrawClock(ClockSpec& clock) {
    const int64_t assumed =
        options_.rate_ppm_max != 0 ? options_.rate_ppm_max : shared_.may.rate_ppm_max;
    const int64_t rate = options_.beyond_assumptions && draws_.Percent(20) ? 50'000 : assumed;
    if (draws_.Percent(70)) clock.rate_ppm = draws_.Between(-rate, rate);
    const Duration most =
        options_.beyond_assumptions ? Seconds(3600) : shared_.may.wall_clock_error_max;
    if (draws_.Percent(50) && most >= Milliseconds(1)) {
      clock.offset = draws_.EitherWay(Milliseconds(1), most);
    }
  }

  // Deployments give their processes ids that outlive a restart, and so do half of the worlds.
  void DrawIds() {
    if (draws_.Percent(50)) {
      for (NodeSpec& node : world_.nodes) node.id = node.name;
    }
    DrawSharedId();
  }

  void DrawSharedId() {
    const bool may = options_.beyond_assumptions || shared_.may.ids_may_be_shared;
    if (!draws_.Percent(8) || !may) return;
    world_.nodes[0].id = world_.nodes[1].id = "twin";
  }

  void DrawSpanner() {
    SpannerSpec& spanner = world_.spanner;
    if (draws_.Percent(15)) spanner.preset = Preset::kMultiRegion;
    if (draws_.Percent(50)) {
      spanner.truetime.epsilon = Rounded(draws_.Log(Microseconds(500), Milliseconds(50)));
    }
    const Duration most =
        options_.beyond_assumptions ? Seconds(3600) : shared_.may.current_timestamp_max;
    if (draws_.Percent(20) && most >= Milliseconds(1)) {
      spanner.current_timestamp_error = draws_.EitherWay(Milliseconds(1), most);
    }
    if (draws_.Percent(50)) {
      spanner.strict_pending_commit_timestamp = PendingCommitTimestampRule::kColumn;
    }
    if (draws_.Percent(60)) {
      world_.network.connection_timeout = Rounded(draws_.Log(Seconds(1), Seconds(20)));
    }
    if (draws_.Percent(25)) {
      world_.network.commit_timeout = Rounded(draws_.Log(Milliseconds(20), Seconds(10)));
    }
  }

  void DrawWorkload() {
    // Questions are most of the cost of a run, so few worlds ask all the time.
    static constexpr std::array<Shares, 5> kWriteEveryMs = {
        {{5, 200}, {5, 500}, {20, 1'000}, {45, 4'000}, {25, 9'000}}};
    static constexpr std::array<Shares, 4> kWorkForMs = {
        {{20, 0}, {50, 50}, {20, 500}, {10, 3'000}}};
    world_.workload.write_every = Milliseconds(draws_.Weigh<int64_t>(kWriteEveryMs));
    if (has_quiet_hour_) world_.workload.write_every = Seconds(60);
    world_.workload.work_for = Milliseconds(draws_.Weigh<int64_t>(kWorkForMs));
    // Work that takes a good part of the lease may outlast it, or delay a stop.
    if (!draws_.Percent(15)) return;
    const Duration lease = world_.nodes.front().lease;
    world_.workload.work_for = Rounded(draws_.Between(lease / 4, lease * 2));
  }

  // Half of the applications stop at once, when they are told to. Some go on for several leases.
  void DrawStopTakes() {
    if (draws_.Percent(50)) return;
    const Duration lease = world_.nodes.front().lease;
    world_.workload.stop_takes = draws_.Percent(ShareIn(options_.style, 30))
                                     ? Rounded(draws_.Log(lease / 2, lease * 6))
                                     : Rounded(draws_.Between(Milliseconds(10), lease / 2));
  }

  // Questions beside the work: each of them, several at once, at any step, and while a process stops.
  void DrawQuestions() {
    if (!draws_.Percent(ShareIn(options_.style, 8))) return;
    for (const SideQuestion question : AllOf<SideQuestion>()) {
      if (draws_.Percent(50)) world_.workload.ask.push_back(question);
    }
    if (world_.workload.ask.empty()) return;
    static constexpr std::array<Shares, 4> kEveryMs = {
        {{5, 300}, {15, 1'000}, {40, 4'000}, {40, 11'000}}};
    world_.workload.ask_every = Milliseconds(draws_.Weigh<int64_t>(kEveryMs));
    if (has_quiet_hour_) world_.workload.ask_every = Seconds(60);
  }

  // Users of Lock that unlock and lock again and again, with a deadline for each call.
  void DrawLocking() {
    const auto locks = [](const NodeSpec& node) { return node.use == Use::kLock; };
    if (std::ranges::none_of(world_.nodes, locks) || !draws_.Percent(60)) return;
    const Duration lease = world_.nodes.front().lease;
    world_.workload.hold_for = Rounded(draws_.Log(Milliseconds(200), lease * 3));
    const Duration lasts = world_.duration + (has_quiet_hour_ ? kQuiet : Duration{});
    world_.workload.lock_again = std::max(Rounded(draws_.Log(Milliseconds(50), lease * 2)),
                                          Rounded(lasts / shared_.may.lock_calls_max));
    for (NodeSpec& node : world_.nodes) {
      if (!locks(node) || !draws_.Percent(50)) continue;
      node.deadline = Rounded(draws_.Log(Milliseconds(500), lease * 6));
    }
  }

  // All that was drawn happens an hour later, except that in half of these worlds the calls for sessions fail in
  // the first minute: what a client keeps of that shows when they fail again.
  void AddQuietHour() {
    for (FaultSpec& fault : world_.faults) {
      Instant& at = std::get<Instant>(fault.trigger);
      at = at + kQuiet;
    }
    world_.duration += kQuiet;
    const auto may = [&](FaultKind kind) {
      return options_.kinds.empty() ||
             std::ranges::find(options_.kinds, kind) != options_.kinds.end();
    };
    if (!may(kKindOf<SessionLossFault>) || !may(kKindOf<UnavailableFault>)) return;
    if (!draws_.Percent(50)) return;
    for (const Duration at : {Seconds(20), kQuiet + Seconds(20)}) {
      const Duration lasts = Rounded(draws_.Log(Seconds(1), Seconds(40)));
      for (const AnyFault& what :
           {AnyFault(SessionLossFault{}), AnyFault(UnavailableFault{lasts})}) {
        FaultSpec fault{.trigger = Instant{at.ns}, .node = 0, .what = what};
        if (!InfoOf(fault.kind()).has_node) fault.node = FaultSpec::kNoNode;
        world_.faults.push_back(std::move(fault));
        if (!FaultsArePossible(world_)) world_.faults.pop_back();
      }
    }
  }

  // Between a lock's row and the rows beside it, and between two locks.
  void DrawSplits() {
    if (shared_.takes_one_lock || !draws_.Percent(12)) return;
    std::vector<std::string>& splits = world_.spanner.splits;
    for (const std::string& lock : world_.locks) {
      if (draws_.Percent(60)) splits.push_back(lock + "_");
    }
    if (world_.locks.size() > 1 && draws_.Percent(60)) splits.push_back(world_.locks[1]);
  }

  // Rows that earlier processes left behind, for tables whose columns can be filled generically.
  void DrawRows() {
    if (!draws_.Percent(15) || !shared_.has_one_table) return;
    const ProtocolInfo& protocol = *shared_.protocols.front();
    for (const ColumnInfo& column : protocol.columns) {
      const bool is_number = column.type == Type::kInt64;
      const bool is_known =
          is_number || column.type == Type::kString || column.type == Type::kTimestamp;
      if (!is_known || (column.key && is_number && protocol.init_row.empty())) return;
    }
    for (const std::string& lock : world_.locks) {
      const Timestamp written = kStartTime - Rounded(draws_.Log(Seconds(1), Seconds(60)));
      RowSpec row;
      for (const ColumnInfo& column : protocol.columns) {
        row.columns.emplace_back(column.name);
        if (column.key && !protocol.init_row.empty()) {
          row.values.push_back(protocol.init_row[row.values.size()]);
        } else if (column.key) {
          row.values.emplace_back(lock);
        } else if (column.type == Type::kInt64) {
          // A lease, in the tables that there are; often longer than those of all nodes.
          row.values.emplace_back(Rounded(draws_.Log(Seconds(1), Seconds(60))).ns / 1'000'000);
        } else if (column.type == Type::kTimestamp) {
          row.values.emplace_back(written);
        } else {
          row.values.emplace_back(std::string("an earlier process"));
        }
      }
      world_.rows.push_back(std::move(row));
    }
  }

  // Leaves time for no_wedge to be judged, and for calls that hang when the faults end.
  Duration SafetyPhase() {
    Duration bound;
    shared_.HoldsOfEach(world_, [&] {
      const Duration round_trip = RoundTripP999(world_.spanner.preset);
      for (const LockSetup& lock : MakeCheckerSetup(world_, round_trip).locks) {
        bound = std::max(bound, lock.wedge_bound);
      }
      return true;
    });
    const Duration quiet = bound + world_.network.connection_timeout + Seconds(2);
    return std::max(world_.duration - quiet, world_.duration / 4);
  }

  void DrawStarts(Duration safety) {
    const bool at_once = draws_.Percent(15);
    const int64_t with_deadline = draws_.Percent(15) ? 50 : 1;  // percent of the nodes
    for (NodeSpec& node : world_.nodes) {
      // A short run may be over within a lease, and no node can start after it.
      const Duration most =
          draws_.Percent(85) ? std::min(node.lease, world_.duration - Milliseconds(1)) : safety;
      if (!at_once) node.start_at = Instant{Rounded(draws_.Between(Duration{}, most)).ns};
      if (draws_.Percent(with_deadline))
        node.deadline = Rounded(draws_.Log(Milliseconds(500), safety));
    }
    // At least one node starts at the beginning.
    world_.nodes.front().start_at = Instant{};
  }

  const WorldOptions& options_;
  const SharedCapabilities& shared_;
  Draws draws_;
  Scenario world_;
  bool has_quiet_hour_ = false;
};

}  // namespace

Scenario DrawWorld(const WorldOptions& options, const ProtocolInfo& protocol, uint64_t seed) {
  const ProtocolInfo* const alone = &protocol;
  return DrawWorld(options, SharedCapabilities({&alone, 1}), seed);
}

Scenario DrawWorld(const WorldOptions& options, const SharedCapabilities& shared, uint64_t seed) {
  return WorldGenerator(options, shared, seed).Draw();
}

}  // namespace whorl::sim
