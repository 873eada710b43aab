// Runs one world of a hunt, and records what the hunt counts.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/hunt/hunt.h"
#include "sim/report/breakage.h"
#include "sim/scenario/metrics.h"
#include "sim/scenario/scenario.h"
#include "sim/world/driver.h"

namespace whorl::sim {

struct RunOutcome {
  std::string protocol;
  RunDigest digest;
  Size size;
  Metrics metrics;
  std::array<bool, kFaultKindCount> struck{};
  std::array<bool, kCountOf<Invariant>> held{};
  std::array<bool, kCountOf<Invariant>> unknown{};
  int64_t faults_struck = 0;
  std::vector<Breakage> breakages;
  std::vector<KindSeen> kinds;
  NearestOfRun nearest;
  uint32_t reached = 0;  // waypoints
  Duration simulated;
  std::array<std::vector<PromiseGap>, kCountOf<Invariant>> not_promised;
  bool is_checked = false;
  bool differs = false;
};

// `sink` also hears the run; it may be null.
RunOutcome OutcomeOf(const HuntOptions& options, uint64_t run, ObservationSink* sink);
// `world` is that of the run.
RunOutcome OutcomeOf(const HuntOptions& options, const RunName& name, const Scenario& world,
                     ObservationSink* sink);

// The features by which a corpus may keep the run.
std::vector<Feature> FeaturesOf(const RunOutcome& outcome);

// Random bits by which a guide picks the point from which run number `run` branches.
uint64_t BitsOfPlace(const HuntOptions& options, uint64_t run);

// Adds the run's violations to the findings of its protocol.
void AddFindings(const HuntOptions& options, uint64_t run, const RunOutcome& outcome,
                 HuntTally& tally);
// Adds the run to the tally of its protocol.
void AddRun(const HuntOptions& options, uint64_t run, const RunOutcome& outcome, HuntTally& tally);

}  // namespace whorl::sim
