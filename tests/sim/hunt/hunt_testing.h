// Makes worlds and hunts of every protocol, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sim/hunt/hunt.h"
#include "sim/hunt/world_generator.h"
#include "sim/scenario/loader.h"
#include "sim/scenario/writer.h"
#include "sim/world/draws.h"
#include "tests/support/fewer.h"

namespace whorl::sim {

// Calls visit(protocol, world) for `count` worlds, the protocols in turn.
template <typename Visit>
void ForEachWorld(uint64_t count, const WorldOptions& options, const Visit& visit) {
  for (uint64_t seed = 0; seed < count; ++seed) {
    const ProtocolInfo& protocol = Protocols()[seed % Protocols().size()];
    visit(protocol, DrawWorld(options, protocol, seed));
  }
}

// The scenario that the loader reads from the scenario's text.
inline Scenario Reloaded(const Scenario& scenario) {
  const std::string text = ScenarioText(scenario);
  const absl::StatusOr<Scenario> again = ParseScenario(text, "drawn.json");
  EXPECT_TRUE(again.ok()) << again.status().message() << "\n" << text;
  return again.ok() ? *again : Scenario{};
}

inline HuntOptions HuntOf(const std::string& protocol, uint64_t seed) {
  HuntOptions options;
  options.protocols = {protocol};
  options.seed = seed;
  return options;
}

inline HuntTallies Hunted(const HuntOptions& options, uint64_t count, int threads = 1) {
  HuntTallies tallies;
  const absl::Status status = RunHunt(
      options, 0, count, threads,
      [](uint64_t, const RunDigest&, const HuntTallies&) { return BatchStep::kGoOn; }, tallies);
  EXPECT_TRUE(status.ok()) << status.message();
  return tallies;
}

}  // namespace whorl::sim
