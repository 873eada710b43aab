#include "sim/measure/takeover.h"

#include <string>
#include <utility>

#include "base/text.h"
#include "sim/scenario/language.h"
#include "sim/world/draws.h"
#include "sim/world/latency.h"
#include "sim/world/mix.h"

namespace whorl::sim {
namespace {

// A run ends this long after the fault: the slowest takeover needs three leases and a second, and a
// lost connection is noticed after twenty seconds.
constexpr Duration kPatience = Seconds(60);
constexpr int64_t kPatienceLeases = 4;

constexpr Duration kPodEvery = Seconds(2);
constexpr Duration kPodDownFor = Seconds(1);

// If RPCs take no time, a heartbeat must not be read in the millisecond in which it is written,
// because spindle_v2 takes a heartbeat of age 0 for expired.
constexpr Duration kInstantEpsilon = Milliseconds(1);

TrueTimeSpec TrueTimeOf(Preset preset) {
  TrueTimeSpec truetime;
  if (preset == Preset::kNone) truetime.epsilon = kInstantEpsilon;
  return truetime;
}

uint64_t KeyOfName(std::string_view text) {
  uint64_t name = 0;
  for (const char c : text) name = Combine(name, static_cast<unsigned char>(c));
  return name;
}

class TakeoverWorldMaker {
 public:
  TakeoverWorldMaker(const TakeoverCase& takeover_case, uint64_t seed)
      : case_(takeover_case), draws_(seed), steady_(Instant{} + case_.lease * 5 + Seconds(1)) {
    world_.name = "takeover";
    world_.about = "Made by whorl bench takeover.";
    world_.protocol = case_.protocol;
    world_.locks = {"lock"};
    world_.seed = seed;
    world_.spanner.preset = case_.preset;
    world_.network.announce_releases = case_.fault == TakeoverFault::kAnnouncedStop;
    world_.spanner.truetime = TrueTimeOf(case_.preset);
    // The first write comes at once; later writes of the leader do not matter.
    world_.workload = {
        .write_every = case_.lease, .work_for = Duration{}, .resource = ResourceKind::kUnfenced};
  }

  Scenario Make() {
    AddNodes();
    // Drawn for every fault, so that a seed gives the same world up to the fault.
    const Instant at = steady_ + draws_.Between(Duration{}, case_.lease * 3 - Nanoseconds(1));
    if (case_.fault == TakeoverFault::kDeployment) {
      AddDeployment(at);
    } else {
      AddFault(at);
    }
    const Duration work = at - Instant{} + FaultLasts();
    world_.duration = work + case_.lease * kPatienceLeases + kPatience;
    return std::move(world_);
  }

 private:
  void AddNodes() {
    for (int64_t i = 0; i <= case_.followers; ++i) {
      NodeSpec node;
      node.name = i == 0 ? "leader" : "follower-" + std::to_string(i);
      node.locks = {0};
      node.lease = case_.lease;
      node.use = Use::kCallback;
      // spindle_v2 leads after one lease.
      if (i > 0) {
        node.start_at = Instant{} + case_.lease * 2 + Seconds(1) +
                        draws_.Between(Duration{}, case_.lease - Nanoseconds(1));
      }
      world_.nodes.push_back(std::move(node));
    }
  }

  // How long the fault lasts.
  Duration FaultLasts() const {
    if (case_.fault == TakeoverFault::kDeployment) return kPodEvery * kDeployedPods;
    if (case_.fault == TakeoverFault::kSpannerUnavailable) return case_.lease * 3 / 2;
    // The lost renewal is one of the next few after the drawn instant.
    if (case_.fault == TakeoverFault::kLostHeartbeat) return case_.lease * 8;
    return {};
  }

  void AddFault(Instant at) {
    FaultSpec fault;
    fault.trigger = at;
    fault.what = Fault();
    if (!InfoOf(fault.kind()).has_node) fault.node = FaultSpec::kNoNode;
    if (case_.fault == TakeoverFault::kLostHeartbeat) fault.trigger = RenewalAfter(at);
    world_.faults.push_back(std::move(fault));
  }

  AnyFault Fault() const {
    switch (case_.fault) {
      case TakeoverFault::kCrash:
        return CrashFault{};
      case TakeoverFault::kPause:  // beyond the run's end
        return PauseFault{.lasts = case_.lease * (kPatienceLeases + 1) + kPatience};
      case TakeoverFault::kShortPause:
        return PauseFault{.lasts = case_.lease * 3 / 10};
      case TakeoverFault::kCutOff:
        return PartitionFault{};
      case TakeoverFault::kStop:
      case TakeoverFault::kAnnouncedStop:
      case TakeoverFault::kDeployment:
        return StopFault{};
      case TakeoverFault::kSpannerUnavailable:
        return UnavailableFault{.lasts = FaultLasts()};
      case TakeoverFault::kLostHeartbeat:
        break;
    }
    return DropRequestFault{};
  }

  // Which renewal is sent at about that time.
  When RenewalAfter(Instant at) const {
    const Renewal renewal = *RenewalOf(case_.protocol, case_.lease);
    return {.node = 0,
            .step = renewal.step,
            .phase = Phase::kSent,
            .count = (at - Instant{}).ns / renewal.every.ns + 1,
            .lock = {}};
  }

  // The pods restart one after another, beginning with a random one.
  void AddDeployment(Instant at) {
    const int64_t first = draws_.Between(0, kDeployedPods - 1);
    for (int64_t i = 0; i < kDeployedPods; ++i) {
      FaultSpec fault;
      fault.trigger = at + kPodEvery * i;
      fault.what = StopFault{.restart_after = kPodDownFor};
      fault.node = static_cast<int16_t>((first + i) % kDeployedPods);
      world_.faults.push_back(std::move(fault));
    }
  }

  const TakeoverCase& case_;
  Draws draws_;
  Instant steady_;
  Scenario world_;
};

}  // namespace

uint64_t SeedOfTakeover(uint64_t bench_seed, const TakeoverCase& takeover_case, uint64_t run) {
  return Combine(Combine(Mix(bench_seed), KeyOfName(takeover_case.Text())), run);
}

Scenario TakeoverWorld(const TakeoverCase& takeover_case, uint64_t seed) {
  return TakeoverWorldMaker(takeover_case, seed).Make();
}

TakeoverRun MeasureTakeover(const TakeoverCase& takeover_case, MedianTimes times, uint64_t seed) {
  const Scenario world = TakeoverWorld(takeover_case, seed);
  TakeoverObserver observer(world, takeover_case.fault, times);
  RunWhileHeard(world, seed, observer);
  return observer.Finish();
}

MedianTimes TimesOf(const TakeoverCase& takeover_case) {
  const Preset preset = takeover_case.preset;
  return MedianTimesOf(preset, TrueTimeOf(preset).epsilon);
}

}  // namespace whorl::sim
