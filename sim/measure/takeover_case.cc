#include "sim/measure/takeover_case.h"

#include "base/text.h"
#include "protocol/protocols.h"
#include "sim/scenario/rules.h"
#include "sim/world/latency.h"

namespace whorl::sim {
namespace {

constexpr auto kMeanings = MakeTextTable<TakeoverFault>({
    {TakeoverFault::kCrash, "the leader crashes, and does not come back"},
    {TakeoverFault::kPause, "the leader pauses for longer than the lease"},
    {TakeoverFault::kCutOff, "a black hole between the leader and Spanner, which does not end"},
    {TakeoverFault::kStop, "the leader is asked to stop"},
    {TakeoverFault::kAnnouncedStop,
     "the same, and it tells the others that it has given the lock back"},
    {TakeoverFault::kSpannerUnavailable, "Spanner answers nobody for one and a half leases"},
    {TakeoverFault::kLostHeartbeat,
     "a renewal's first message is lost, and its connection hangs for 20 s"},
    {TakeoverFault::kShortPause, "the leader pauses for three tenths of a lease"},
    {TakeoverFault::kDeployment, "100 pods are stopped and started again, one every 2 s"},
});

std::vector<TakeoverFault> AllFaults() {
  constexpr auto kAll = AllOf<TakeoverFault>();
  return {kAll.begin(), kAll.end()};
}

}  // namespace

std::string_view TakeoverFaultMeaning(TakeoverFault fault) { return kMeanings[fault]; }

std::string TakeoverCase::Text() const {
  return Cat(protocol, " ", WordOf(fault), " ", FormatDuration(lease), " ",
             std::to_string(followers), " ", WordOf(preset));
}

std::optional<Renewal> RenewalOf(std::string_view protocol, Duration lease) {
  const auto pause = RulesOf(protocol).renewal_pause;
  if (pause == nullptr) return std::nullopt;
  return Renewal{*FindProtocol(protocol)->heartbeat_step, pause(lease)};
}

// Why the protocol cannot have such a lease; empty if it can.
std::string WhyNotLease(const ProtocolInfo& protocol, Duration lease) {
  if (lease < protocol.lease_min || lease > protocol.lease_max) {
    return Cat("it allows leases from ", FormatDuration(protocol.lease_min),
               protocol.lease_max == Duration::Max()
                   ? std::string()
                   : Cat(" to ", FormatDuration(protocol.lease_max)));
  }
  const Duration used = RulesOf(protocol.name).lease_used(lease);
  if (used != lease) {
    return Cat("it would make ", FormatDuration(used), " of ", FormatDuration(lease));
  }
  return {};
}

// Why the fault cannot be measured with the protocol, whatever the lease; empty if it can be.
std::string WhyNotFault(const ProtocolInfo& protocol, const TakeoverCase& takeover_case) {
  const bool needs_renewal = takeover_case.fault == TakeoverFault::kLostHeartbeat;
  if (needs_renewal && !RenewalOf(protocol.name, takeover_case.lease)) {
    return "how it renews its lease is not known here";
  }
  if (takeover_case.fault == TakeoverFault::kAnnouncedStop && !protocol.announces_releases) {
    return "it announces nothing";
  }
  return {};
}

std::string WhyNot(const TakeoverCase& takeover_case) {
  const ProtocolInfo& protocol = *FindProtocol(takeover_case.protocol);
  const std::string lease = WhyNotLease(protocol, takeover_case.lease);
  return lease.empty() ? WhyNotFault(protocol, takeover_case) : lease;
}

std::optional<ClosedForm> ClosedFormOf(const TakeoverCase& takeover_case) {
  const bool leader_is_gone =
      takeover_case.fault == TakeoverFault::kCrash || takeover_case.fault == TakeoverFault::kPause;
  const auto takeover_time = RulesOf(takeover_case.protocol).takeover_time;
  if (takeover_time == nullptr || !leader_is_gone) return std::nullopt;
  if (takeover_case.followers != 1 || takeover_case.preset != Preset::kNone) return std::nullopt;
  return takeover_time(takeover_case.lease);
}

bool ShouldKeep(TakeoverFault fault) {
  return fault == TakeoverFault::kLostHeartbeat || fault == TakeoverFault::kShortPause;
}

TakeoverGrid UsualTakeovers() {
  TakeoverGrid grid;
  for (const ProtocolInfo& info : Protocols()) grid.protocols.emplace_back(info.name);
  grid.faults = AllFaults();
  grid.leases = {Seconds(1), Seconds(5), Seconds(10), Seconds(30)};
  grid.followers = {2};
  grid.presets = {Preset::kRegional};
  return grid;
}

TakeoverGrid AllTakeovers() {
  TakeoverGrid grid = UsualTakeovers();
  grid.followers = {1, 2, 10, 100};
  grid.presets = {Preset::kRegional, Preset::kMultiRegion};
  return grid;
}

TakeoverCases CasesOf(const TakeoverGrid& grid) {
  TakeoverCases all;
  const auto add = [&all](TakeoverCase one) {
    std::string why = WhyNot(one);
    if (why.empty()) {
      all.cases.push_back(std::move(one));
    } else {
      const bool any_lease = WhyNotLease(*FindProtocol(one.protocol), one.lease).empty();
      all.left_out.push_back(
          {.left_out = std::move(one), .why = std::move(why), .any_lease = any_lease});
    }
  };
  for (const TakeoverFault fault : grid.faults) {
    // A deployment has a fixed number of followers.
    const std::vector<int64_t> pods = {kDeployedPods - 1};
    const bool deploys = fault == TakeoverFault::kDeployment;
    for (const std::string& protocol : grid.protocols) {
      for (const Duration lease : grid.leases) {
        for (const int64_t followers : deploys ? pods : grid.followers) {
          for (const Preset preset : grid.presets) {
            add({.protocol = protocol,
                 .fault = fault,
                 .lease = lease,
                 .followers = followers,
                 .preset = preset});
          }
        }
      }
    }
  }
  return all;
}

}  // namespace whorl::sim
