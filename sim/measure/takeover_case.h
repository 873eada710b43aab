// Describes the cases of `whorl bench takeover`: a protocol, what happens to its leader, and in
// which world.
//
// Invariant: a case is a value, and its name (Text) decides the draws of its runs, so a case has
// the same figures whichever other cases are measured with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "sim/scenario/rules.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// The event that ends a leader's term, or should not end it.
enum class TakeoverFault : uint8_t {
  kCrash,
  kPause,               // longer than the lease
  kCutOff,              // a black hole between the leader and Spanner that does not end
  kStop,                // graceful
  kAnnouncedStop,       // the same, and the leader announces the release to the others
  kSpannerUnavailable,  // for one and a half leases
  kLostHeartbeat,       // the first message of one renewal is lost
  kShortPause,          // shorter than the rest of the lease
  kDeployment,          // a hundred pods are stopped and started one after another
};
constexpr auto WordTableOf(TakeoverFault) {
  return MakeWordTable<TakeoverFault>({
      {TakeoverFault::kCrash, "crash"},
      {TakeoverFault::kPause, "pause"},
      {TakeoverFault::kCutOff, "cut_off"},
      {TakeoverFault::kStop, "graceful_stop"},
      {TakeoverFault::kAnnouncedStop, "announced_stop"},
      {TakeoverFault::kSpannerUnavailable, "spanner_unavailable"},
      {TakeoverFault::kLostHeartbeat, "lost_heartbeat"},
      {TakeoverFault::kShortPause, "short_pause"},
      {TakeoverFault::kDeployment, "deployment"},
  });
}
// One line for help texts.
std::string_view TakeoverFaultMeaning(TakeoverFault fault);

struct TakeoverCase {
  std::string protocol;
  TakeoverFault fault = TakeoverFault::kCrash;
  Duration lease = Seconds(10);
  int64_t followers = 2;  // a deployment always has kDeployedPods - 1
  Preset preset = Preset::kRegional;
  WHORL_FIELDS(TakeoverCase, protocol, fault, lease, followers, preset);

  // "fenced_lease crash 10s 2 regional".
  std::string Text() const;
};

inline constexpr int64_t kDeployedPods = 100;

// How a leader of the protocol renews its lease: by which step, and how often without faults.
struct Renewal {
  StepName step;
  Duration every;
};
// Nothing if the protocol's rules do not say it.
std::optional<Renewal> RenewalOf(std::string_view protocol, Duration lease);

// Why the case cannot be measured; empty if it can be.
std::string WhyNot(const TakeoverCase& takeover_case);

// The time from the fault to the grant by our analysis (Rules::takeover_time), if it covers the case.
std::optional<ClosedForm> ClosedFormOf(const TakeoverCase& takeover_case);

// Whether the leader should keep the lock. Then T* is 0, and a takeover is needless.
bool ShouldKeep(TakeoverFault fault);

// The combinations to measure.
struct TakeoverGrid {
  std::vector<std::string> protocols;  // names from Protocols()
  std::vector<TakeoverFault> faults;
  std::vector<Duration> leases;
  std::vector<int64_t> followers;
  std::vector<Preset> presets;
  WHORL_FIELDS(TakeoverGrid, protocols, faults, leases, followers, presets);
};
// What an operator asks first: every protocol, fault and lease, two followers, one region.
TakeoverGrid UsualTakeovers();
// The same with every number of followers, and with the latencies of both presets.
TakeoverGrid AllTakeovers();

struct LeftOut {
  TakeoverCase left_out;
  std::string why;         // continues a sentence that begins with the protocol's name
  bool any_lease = false;  // the reason is the fault, not the lease
};
struct TakeoverCases {
  std::vector<TakeoverCase> cases;  // by fault, protocol, lease, followers, preset
  std::vector<LeftOut> left_out;
};
TakeoverCases CasesOf(const TakeoverGrid& grid);

}  // namespace whorl::sim
