#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "sim/hunt/world_generator.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/fault_checks.h"
#include "sim/scenario/language.h"

namespace whorl::sim {
namespace {

constexpr Duration kShortest = Milliseconds(20);

class FaultGenerator {
 public:
  FaultGenerator(const WorldOptions& options, const SharedCapabilities& shared, Duration safety,
                 FaultTriggers triggers, Draws& draws, Scenario& world)
      : options_(options),
        safety_(safety),
        triggers_(triggers),
        draws_(draws),
        world_(world),
        shared_(shared) {
    steps_ = shared.steps;
    for (const StepName step : {steps::kHasLock, steps::kWrite}) steps_.push_back(step);
  }

  void Draw() {
    if (options_.style == Style::kPriorities) {
      AddPriorities();
      if (draws_.Percent(40) && triggers_ != FaultTriggers::kTimes) AddLateReplies();
    }
    DrawSwarm();
    if (swarm_.empty()) return;  // none of the kinds that were asked for is possible
    const int64_t count = on_every_node_ ? std::min<int64_t>(DrawCount(), 6) : DrawCount();
    if (count == 0) return;
    if (options_.style != Style::kUniform) AddGroups();
    for (int64_t i = 0; i < count; ++i) {
      const FaultKind kind = draws_.Pick(swarm_);
      if (kind == kKindOf<StartFault>) {
        AddStart();
      } else if (kind == kKindOf<LatencyFault> && draws_.Percent(20)) {
        AddSlowNetwork();
      } else {
        const size_t before = world_.faults.size();
        AddFault(DrawFault(kind));
        if (world_.faults.size() == before) continue;
        if (TargetOf(world_.faults.back().what) != nullptr && draws_.Percent(50)) AddMending();
      }
    }
  }

 private:
  // Draws the kinds of faults of this world, and how they are timed.
  void DrawSwarm() {
    static constexpr std::array<Draws::Weighted<int64_t>, 4> kShares = {
        {{30, 10}, {40, 25}, {20, 50}, {10, 100}}};
    std::vector<FaultKind> all;
    for (size_t i = 0; i < kFaultKindCount; ++i) {
      if (Allows(static_cast<FaultKind>(i))) all.push_back(static_cast<FaultKind>(i));
    }
    longest_ = Seconds(40);
    on_steps_ = 50;
    if (options_.style == Style::kUniform) {
      swarm_ = all;
      return;
    }
    const int64_t share = draws_.Weigh<int64_t>(kShares);
    for (const FaultKind kind : all) {
      if (draws_.Percent(share)) swarm_.push_back(kind);
    }
    if (swarm_.empty() && !all.empty()) swarm_.push_back(draws_.Pick(all));
    static constexpr std::array<int64_t, 5> kOnSteps = {0, 30, 50, 80, 100};
    on_steps_ = draws_.Pick<int64_t>(kOnSteps);
    if (triggers_ == FaultTriggers::kTimes) on_steps_ = 0;
    longest_ = Rounded(draws_.Log(Seconds(1), Seconds(40)));
    static constexpr std::array<int64_t, 4> kCompanions = {0, 0, 30, 60};
    companions_ = draws_.Pick<int64_t>(kCompanions);
    on_every_node_ = draws_.Percent(30);
    // The node that starts first mostly leads first, and faults of a leader matter most.
    if (draws_.Percent(60)) favourite_ = draws_.Percent(60) ? int16_t{0} : DrawNode();
  }

  // Faults that are mistakes of interest together, and hardly ever meet when each is drawn alone.
  void AddGroups() {
    const bool on_steps = triggers_ != FaultTriggers::kTimes;
    if (draws_.Percent(75) && on_steps) AddUpsets();
    if (draws_.Percent(ShareIn(options_.style, 10)) && on_steps) AddFailedResends();
    if (draws_.Percent(ShareIn(options_.style, 6))) AddStops();
    if (draws_.Percent(ShareIn(options_.style, 4))) AddLostSessions();
    if (options_.style == Style::kRare && draws_.Percent(30) && on_steps) AddLateReplies();
  }

  // The reply to a Commit is lost, and what is sent again meets another fault: the session is gone, the call
  // is answered by an error or ABORTED, or it arrives twice.
  void AddFailedResends() {
    std::vector<StepName> committed;
    for (const StepName step : shared_.steps) {
      if (shared_.ReachesPhase(step, Phase::kCommitted)) committed.push_back(step);
    }
    std::vector<FaultKind> seconds;
    for (const FaultKind kind : {kKindOf<SessionLossFault>, kKindOf<ErrorFault>,
                                 kKindOf<AbortFault>, kKindOf<DuplicateRequestFault>}) {
      if (Allows(kind)) seconds.push_back(kind);
    }
    if (committed.empty() || seconds.empty() || !Allows(kKindOf<DropReplyFault>)) return;
    const StepName step = draws_.Pick(committed);
    const FaultKind kind = draws_.Pick(seconds);
    const int64_t count = draws_.Log(1, 6);
    const Duration lease = world_.nodes.front().lease;
    world_.network.connection_timeout = Rounded(draws_.Log(Milliseconds(100), lease));
    AnyFault second = DrawParticulars(kind);
    if (auto* error = std::get_if<ErrorFault>(&second))
      *error = {.of_step = step, .code = error->code};
    if (std::holds_alternative<AbortFault>(second)) second = AbortFault{};
    for (size_t node = 0; node < world_.nodes.size(); ++node) {
      const auto index = static_cast<int16_t>(node);
      const When when{.node = index, .step = step, .phase = Phase::kCommitted, .count = count};
      if (!AddIfPossible({.trigger = when, .node = index, .what = DropReplyFault{}})) return;
      AddIfPossible({.trigger = when, .node = index, .what = second});
    }
  }

  // A node that is stopped and started again and again.
  void AddStops() {
    if (!Allows(kKindOf<StopFault>)) return;
    const int16_t node = DrawNode();
    const Duration lease = world_.nodes[static_cast<size_t>(node)].lease;
    const Duration period = Rounded(draws_.Log(Seconds(1), std::max(Seconds(2), lease * 2)));
    const int64_t most = std::min<int64_t>(12, (safety_.ns - 1) / period.ns);
    if (most < 2) return;
    const int64_t count = draws_.Between(2, most);
    const Duration first = Rounded(draws_.Between(Duration{}, safety_ - period * count));
    for (int64_t i = 0; i < count; ++i) {
      const StopFault stop{.restart_after = Rounded(draws_.Between(period / 8, period * 3 / 4))};
      AddIfPossible({.trigger = Instant{(first + period * i).ns}, .node = node, .what = stop});
    }
  }

  // Sessions that are lost, and cannot be created for a while, twice.
  void AddLostSessions() {
    if (!Allows(kKindOf<SessionLossFault>) || !Allows(kKindOf<UnavailableFault>)) return;
    const int16_t node = DrawNode();
    for (int i = 0; i < 2; ++i) {
      const Duration lasts =
          Rounded(draws_.Log(Milliseconds(500), std::min(Seconds(30), safety_ / 4)));
      const Instant at = {Rounded(draws_.Between(Duration{}, safety_ - lasts)).ns};
      AddIfPossible({.trigger = at, .node = node, .what = SessionLossFault{}});
      AddIfPossible(
          {.trigger = at, .node = FaultSpec::kNoNode, .what = UnavailableFault{.lasts = lasts}});
    }
  }

  // An operator who has written to a row writes to it again, to mend it.
  void AddMending() {
    std::vector<FaultKind> kinds;
    for (const FaultKind kind : {kKindOf<DeleteRowFault>, kKindOf<EmptyRowFault>,
                                 kKindOf<ReleaseRowFault>, kKindOf<DeleteSideRowsFault>}) {
      if (Allows(kind)) kinds.push_back(kind);
    }
    if (kinds.empty()) return;
    FaultSpec again = world_.faults.back();
    const RowOfLock target = *TargetOf(again.what);
    again.what = MakeFault(draws_.Pick(kinds));
    *TargetOf(again.what) = target;
    if (auto* at = std::get_if<Instant>(&again.trigger)) {
      const Duration later = draws_.Log(Milliseconds(10), world_.nodes.front().lease * 2);
      *at = {Rounded(std::min(Duration{at->ns} + later, safety_)).ns};
    } else {
      std::get<When>(again.trigger).count += draws_.Between(1, 3);
    }
    AddIfPossible(std::move(again));
  }

  // Faults that cost a leader its lease. Writes show which node leads, so these faults strike a
  // node after it has written a number of times. Faults at random times mostly strike a follower,
  // and no takeover follows.
  void AddUpsets() {
    std::vector<FaultKind> kinds;
    for (const FaultKind kind :
         {kKindOf<PauseFault>, kKindOf<CrashFault>, kKindOf<StopFault>, kKindOf<PartitionFault>}) {
      if (Allows(kind)) kinds.push_back(kind);
    }
    if (kinds.empty()) return;
    const FaultKind kind = draws_.Pick(kinds);
    for (size_t node = 0; node < world_.nodes.size(); ++node) {
      FaultSpec fault;
      fault.node = static_cast<int16_t>(node);
      fault.what = DrawParticulars(kind);
      const Duration lease = world_.nodes[node].lease;
      const Duration length = Rounded(std::min(draws_.Between(lease, lease * 3), safety_ * 3 / 4));
      SetLength(fault.what, length);
      fault.trigger = When{.node = fault.node,
                           .step = steps::kWrite,
                           .phase = Phase::kSent,
                           .count = draws_.Log(1, 8)};
      AddIfPossible(std::move(fault));
    }
  }

  bool Allows(FaultKind kind) const {
    if (kind == kKindOf<DeleteSideRowsFault> && shared_.takes_one_lock) return false;
    if (kind == kKindOf<ErrorFault> && shared_.steps.empty()) return false;
    if (options_.kinds.empty()) return true;
    return std::ranges::find(options_.kinds, kind) != options_.kinds.end();
  }

  int64_t DrawCount() {
    struct Band {
      int64_t least = 0;
      int64_t most = 0;
    };
    static constexpr std::array<Draws::Weighted<Band>, 5> kBands = {
        {{4, {0, 0}}, {16, {1, 2}}, {30, {3, 6}}, {30, {7, 12}}, {20, {13, 20}}}};
    const Band band = draws_.Weigh<Band>(kBands);
    return draws_.Between(band.least, band.most);
  }

  // In some worlds, a fault that waits for a step of its own node gets a copy for each other node.
  void AddFault(FaultSpec fault) {
    const When* when = std::get_if<When>(&fault.trigger);
    if (!on_every_node_ || when == nullptr || when->node != fault.node) {
      AddIfPossible(std::move(fault));
      return;
    }
    for (size_t node = 0; node < world_.nodes.size(); ++node) {
      fault.node = static_cast<int16_t>(node);
      std::get<When>(fault.trigger).node = fault.node;
      AddIfPossible(fault);
    }
  }

  // Keeps the fault if the scenario still loads and keeps the assumptions of the hunt.
  bool AddIfPossible(FaultSpec fault) {
    world_.faults.push_back(std::move(fault));
    if (IsPossible()) return true;
    world_.faults.pop_back();
    return false;
  }

  bool IsPossible() const {
    return shared_.HoldsOfEach(world_, [this] {
      if (!FaultsArePossible(world_)) return false;
      return options_.beyond_assumptions ||
             BrokenAssumptions(world_, options_.rate_ppm_max).empty();
    });
  }

  // By latencies: between two points, the calls of each node take twice as much longer as those of the
  // node before it in the order.
  void AddPriorities() {
    std::vector<Duration> points = {Duration{}, safety_};
    for (int64_t left = draws_.Between(0, 3); left > 0; --left) {
      points.push_back(Rounded(draws_.Between(Milliseconds(1), safety_ - Milliseconds(1))));
    }
    std::ranges::sort(points);
    std::vector<int16_t> order;
    for (size_t i = 0; i < world_.nodes.size(); ++i) order.push_back(static_cast<int16_t>(i));
    const Duration least = Rounded(draws_.Log(Milliseconds(1), Milliseconds(500)));
    for (size_t i = 0; i + 1 < points.size(); ++i) {
      if (points[i + 1] - points[i] < kShortest) continue;
      for (size_t node = order.size(); node > 1; --node) {
        std::swap(order[node - 1],
                  order[static_cast<size_t>(draws_.Between(0, static_cast<int64_t>(node) - 1))]);
      }
      for (size_t place = 1; place < order.size(); ++place) {
        const Duration more = least * (int64_t{1} << (place - 1));
        LatencyFault latency;
        latency.lasts = points[i + 1] - points[i];
        latency.add = {.min = more, .p50 = more, .p99 = more, .max = more};
        AddIfPossible({.trigger = Instant{points[i].ns}, .node = order[place], .what = latency});
      }
    }
  }

  // A reply that comes late, by a copy of its call or by itself, and then nothing any more: the k-th time that a node
  // does a step, for each node, since only one of them leads. Each by itself is in many worlds, and the second
  // right after the first in few.
  void AddLateReplies() {
    if (shared_.steps.empty()) return;
    const StepName step = draws_.Pick(shared_.steps);
    if (!shared_.ReachesPhase(step, Phase::kSent) || !shared_.ReachesPhase(step, Phase::kEnded)) {
      return;
    }
    // The reply to the Commit, where there is one.
    const Phase phase =
        shared_.ReachesPhase(step, Phase::kCommitted) ? Phase::kCommitted : Phase::kSent;
    const int64_t count = draws_.Log(1, 6);
    const Duration lease = world_.nodes.front().lease;
    const Duration late = Rounded(draws_.Between(lease / 20, lease / 2));
    const bool is_lost = draws_.Percent(50) && Allows(kKindOf<DropReplyFault>);
    if (is_lost) world_.network.connection_timeout = std::max(late, Milliseconds(100));
    for (size_t node = 0; node < world_.nodes.size(); ++node) {
      const auto index = static_cast<int16_t>(node);
      When when{.node = index, .step = step, .phase = phase, .count = count};
      FaultSpec first{.trigger = when, .node = index, .what = DropReplyFault{}};
      if (!is_lost) {
        LatencyFault latency{.lasts = late};
        latency.add = {.min = late, .p50 = late, .p99 = late, .max = late};
        first.what = latency;
      }
      when.phase = Phase::kEnded;
      const PartitionFault silence{.lasts = Rounded(std::min(lease * 2, safety_ * 3 / 4))};
      FaultSpec second{.trigger = when, .node = index, .what = silence};
      if (!Allows(first.kind()) || !Allows(second.kind())) return;
      AddIfPossible(std::move(first));
      AddIfPossible(std::move(second));
    }
  }

  // A node that only this fault starts.
  void AddStart() {
    const int16_t index = DrawNode();
    NodeSpec& node = world_.nodes[static_cast<size_t>(index)];
    const std::optional<Instant> before = node.start_at;
    if (index == 0 || !before) return;
    node.start_at = std::nullopt;
    FaultSpec fault;
    fault.what = StartFault{};
    fault.trigger = DrawTrigger(Duration{});
    fault.node = index;
    if (!AddIfPossible(std::move(fault))) node.start_at = before;
  }

  // A fault of all nodes from the beginning to the end of the safety phase.
  void AddSlowNetwork() {
    FaultSpec fault = DrawFault(kKindOf<LatencyFault>);
    fault.trigger = Instant{};
    auto& latency = std::get<LatencyFault>(fault.what);
    latency.lasts = safety_;
    DelaySpec& add = latency.add;
    add.p50 = add.min = std::min(add.p50, Milliseconds(5));
    add.p99 = std::clamp(add.p99, add.p50, Milliseconds(400));
    add.max = std::clamp(add.max, Milliseconds(200), Seconds(2));
    add.p99 = std::min(add.p99, add.max);
    for (size_t node = 0; node < world_.nodes.size(); ++node) {
      fault.node = static_cast<int16_t>(node);
      AddIfPossible(fault);
    }
  }

  int16_t DrawNode() {
    if (favourite_ && draws_.Percent(60)) return *favourite_;
    return static_cast<int16_t>(draws_.Between(0, static_cast<int64_t>(world_.nodes.size()) - 1));
  }
  uint16_t DrawLock() {
    return static_cast<uint16_t>(draws_.Between(0, static_cast<int64_t>(world_.locks.size()) - 1));
  }

  // Draws any length, or one near the lease. The fault ends within the safety phase.
  Duration DrawLength() {
    const Duration lease = world_.nodes[static_cast<size_t>(DrawNode())].lease;
    const Duration drawn = draws_.Percent(50) ? draws_.Log(kShortest, std::min(longest_, safety_))
                                              : draws_.Between(lease / 2, lease * 3);
    return Rounded(std::clamp(drawn, kShortest, safety_ * 3 / 4));
  }

  std::variant<Instant, When> DrawTrigger(Duration lasts) {
    if (draws_.Percent(on_steps_)) return DrawWhen();
    return Instant{Rounded(draws_.Between(Duration{}, safety_ - lasts)).ns};
  }

  // Draws a phase that the step reaches.
  Phase DrawPhase(StepName step) {
    static constexpr auto kPhases = AllOf<Phase>();
    while (true) {
      const auto phase = draws_.Pick<Phase>(kPhases);
      if (shared_.ReachesPhase(step, phase)) return phase;
    }
  }

  When DrawWhen() {
    When when;
    when.node = DrawNode();
    when.step = draws_.Pick(steps_);
    when.phase = DrawPhase(when.step);
    // There are many questions; a round comes once in a lease.
    const int64_t most = when.step == steps::kHasLock ? 60 : 12;
    if (draws_.Percent(60)) when.count = draws_.Log(1, most);
    const std::vector<uint16_t>& locks = world_.nodes[static_cast<size_t>(when.node)].locks;
    if (world_.locks.size() > 1 && draws_.Percent(50)) when.lock = draws_.Pick(locks);
    return when;
  }

  // A fault that follows another one: at the next phase of the same step, in a later round of it,
  // or at a time not far from the first one's.
  std::variant<Instant, When> DrawTriggerBeside(const FaultSpec& first, Duration lasts) {
    if (const Instant* at = std::get_if<Instant>(&first.trigger)) {
      const Duration lease = world_.nodes[static_cast<size_t>(first.node)].lease;
      const Duration later = Duration{at->ns} + draws_.Between(Duration{}, lease * 3 / 2);
      return Instant{Rounded(std::min(later, safety_ - lasts)).ns};
    }
    When when = std::get<When>(first.trigger);
    if (draws_.Percent(30)) when.step = draws_.Pick(steps_);
    when.phase = DrawPhase(when.step);
    if (draws_.Percent(40)) when.count += draws_.Between(0, 2);
    return when;
  }

  FaultSpec DrawFault(FaultKind kind) {
    FaultSpec fault;
    fault.what = DrawParticulars(kind);
    const Duration lasts = LastsOf(fault.what).value_or(Duration{});
    const bool has_company = !world_.faults.empty() && draws_.Percent(companions_) &&
                             world_.faults.back().node != FaultSpec::kNoNode;
    if (has_company) {
      fault.trigger = DrawTriggerBeside(world_.faults.back(), lasts);
      fault.node = world_.faults.back().node;
    } else {
      fault.trigger = DrawTrigger(lasts);
      // Mostly the node that the fault waits for.
      const When* waits = std::get_if<When>(&fault.trigger);
      fault.node = waits != nullptr && draws_.Percent(70) ? waits->node : DrawNode();
    }
    const When* when = std::get_if<When>(&fault.trigger);
    if (!InfoOf(kind).has_node) fault.node = FaultSpec::kNoNode;
    if (kind == kKindOf<DropRequestFault> && when != nullptr) {
      auto& at = std::get<When>(fault.trigger);
      at.phase = Phase::kSent;
      // A question that is answered locally sends no request.
      if (!shared_.ReachesPhase(at.step, at.phase)) {
        at.step = shared_.steps.empty() ? steps::kWrite : steps_.front();
      }
    }
    return fault;
  }

  // Sets how long the fault lasts, or its node stays down, unless it was drawn to last for good.
  static void SetLength(AnyFault& fault, Duration length) {
    if (LastsOf(fault)) SetLasts(fault, length);
    std::visit(
        [length](auto& kind) {
          if constexpr (requires { kind.restart_after; }) {
            if (kind.restart_after) kind.restart_after = length;
          }
        },
        fault);
  }

  // Draws the keys of a fault of the kind.
  AnyFault DrawParticulars(FaultKind kind) {
    AnyFault fault = MakeFault(kind);
    std::visit([this](auto& particular) { Draw(particular); }, fault);
    return fault;
  }

  // There is one Draw for each kind that has keys.
  template <typename Kind>
  void Draw(Kind& /*kind*/) {
    static_assert(Kind::FieldNames().empty(), "hunts have to draw what this kind says");
  }
  void Draw(PauseFault& pause) { pause.lasts = DrawLength(); }
  void Draw(UnavailableFault& unavailable) { unavailable.lasts = DrawLength(); }
  void Draw(CrashFault& crash) {
    if (draws_.Percent(70)) crash.restart_after = DrawLength();
  }
  void Draw(StopFault& stop) {
    if (draws_.Percent(70)) stop.restart_after = DrawLength();
  }
  void Draw(PartitionFault& partition) {
    partition.lasts = DrawLength();
    partition.mode = static_cast<PartitionMode>(draws_.Between(0, 1));
    if (draws_.Percent(40)) partition.direction = static_cast<Direction>(draws_.Between(1, 2));
  }
  void Draw(DuplicateRequestFault& copy) {
    if (draws_.Percent(50)) return;
    const Duration lease = world_.nodes[static_cast<size_t>(DrawNode())].lease;
    copy.after = Rounded(draws_.Log(Milliseconds(1), lease * 2));
  }
  void Draw(AbortFault& abort) {
    if (draws_.Percent(50)) return;
    abort.lasts = DrawLength();
    abort.percent = draws_.Between(1, 10) * 10;
  }
  void Draw(ErrorFault& error) {
    // HasLock is a step of its own where it asks Spanner.
    const bool asks = shared_.ReachesPhase(steps::kHasLock, Phase::kSent);
    error.of_step = asks && draws_.Percent(20) ? steps::kHasLock : draws_.Pick(shared_.steps);
    static constexpr std::array kCodes = {
        ErrorCode::kInternal,           ErrorCode::kResourceExhausted, ErrorCode::kPermissionDenied,
        ErrorCode::kFailedPrecondition, ErrorCode::kDeadlineExceeded,  ErrorCode::kUnknown};
    error.code = draws_.Pick<ErrorCode>(kCodes);
    if (draws_.Percent(50)) return;
    error.lasts = DrawLength();
    error.percent = draws_.Between(1, 10) * 10;
  }
  void Draw(CurrentTimestampFault& wrong) {
    wrong.lasts = DrawLength();
    wrong.error = draws_.EitherWay(Milliseconds(1), CurrentTimestampMax());
  }
  void Draw(DeleteRowFault& deletion) { DrawRow(deletion.target); }
  void Draw(EmptyRowFault& emptying) { DrawRow(emptying.target); }
  void Draw(ReleaseRowFault& release) { DrawRow(release.target); }
  void Draw(DeleteSideRowsFault& deletion) { DrawRow(deletion.target); }
  void DrawRow(RowOfLock& target) {
    target.lock = DrawLock();
    target.row = world_.locks[target.lock];
  }
  void Draw(SlowResourceFault& slow) {
    slow.lasts = DrawLength();
    slow.add.max = Rounded(draws_.Log(Milliseconds(200), Seconds(20)));
    slow.add.p99 = slow.add.max;
    slow.add.p50 = Rounded(draws_.Log(Microseconds(100), slow.add.max));
    slow.add.min = Duration{};
  }

  // With a tail beyond 200 ms.
  void Draw(LatencyFault& latency) {
    latency.lasts = DrawLength();
    if (draws_.Percent(40)) latency.direction = static_cast<Direction>(draws_.Between(1, 2));
    DelaySpec& add = latency.add;
    add.max = Rounded(draws_.Log(Milliseconds(200), Seconds(20)));
    // Or one near the lease: calls that are late, and still in time.
    const Duration lease = world_.nodes[static_cast<size_t>(DrawNode())].lease;
    if (draws_.Percent(40)) {
      add.max = Rounded(std::max(Milliseconds(200), draws_.Between(lease / 20, lease / 2)));
    }
    if (draws_.Percent(30)) {
      add.min = add.p50 = add.p99 = add.max;
      return;
    }
    add.p99 = Rounded(draws_.Log(Milliseconds(1), add.max));
    add.p50 = Rounded(draws_.Log(Microseconds(100), add.p99));
    add.min = Duration{};
  }

  void Draw(ClockFault& clock) {
    const Duration wall =
        options_.beyond_assumptions ? Seconds(3600) : shared_.may.wall_clock_error_max;
    const int64_t assumed =
        options_.rate_ppm_max != 0 ? options_.rate_ppm_max : shared_.may.rate_ppm_max;
    const int64_t rate = options_.beyond_assumptions && draws_.Percent(30) ? 50'000 : assumed;
    switch (draws_.Between(0, 3)) {
      case 0:
        clock.offset = draws_.EitherWay(Milliseconds(1), std::max(Milliseconds(1), wall));
        return;
      case 1:
        clock.step = draws_.EitherWay(Milliseconds(1), std::max(Milliseconds(1), wall));
        return;
      case 2:
        clock.rate_ppm = draws_.Between(-rate, rate);
        return;
      default:
        clock.stands = true;
        clock.lasts = DrawLength();
        return;
    }
  }

  void Draw(TrueTimeFault& wrong) {
    wrong.lasts = DrawLength();
    wrong.truetime.epsilon = Rounded(draws_.Log(Microseconds(100), Milliseconds(500)));
    if (!options_.beyond_assumptions || draws_.Percent(40)) return;
    wrong.truetime.truthful = false;
    const Duration beyond =
        wrong.truetime.epsilon + Rounded(draws_.Log(Milliseconds(1), Seconds(10)));
    wrong.truetime.error = draws_.Percent(50) ? beyond : -beyond;
  }

  Duration CurrentTimestampMax() const {
    const Duration most = shared_.may.current_timestamp_max;
    // If the clock may not be wrong at all, the drawn value is discarded.
    return options_.beyond_assumptions || most < Milliseconds(1) ? Seconds(3600) : most;
  }

  const WorldOptions& options_;
  Duration safety_;
  const FaultTriggers triggers_;
  Draws& draws_;
  Scenario& world_;
  const SharedCapabilities& shared_;
  std::vector<StepName> steps_;
  std::vector<FaultKind> swarm_;
  int64_t on_steps_ = 0;              // percent
  int64_t companions_ = 0;            // percent of faults that follow the one before them
  bool on_every_node_ = false;        // faults that wait for a step wait on every node
  std::optional<int16_t> favourite_;  // the node on which most of them strike
  Duration longest_;
};

}  // namespace

void DrawFaults(const WorldOptions& options, const SharedCapabilities& shared, Duration safety,
                FaultTriggers triggers, Draws& draws, Scenario& world) {
  FaultGenerator(options, shared, safety, triggers, draws, world).Draw();
}

}  // namespace whorl::sim
