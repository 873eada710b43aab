// Parses the command line of `whorl explore`.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/exit_rules.h"
#include "sim/explore/bounds.h"
#include "sim/explore/menu.h"
#include "sim/explore/scenario_space.h"
#include "sim/judge/checkers/setup.h"

namespace whorl::cli {

constexpr uint64_t kExploreMemoryByDefaultMiB = 4'096;

// Whether a search judges it: states show it or, for no_wedge, loops of states do.
constexpr bool IsExplored(Invariant invariant) {
  return !sim::IsJudgedOfRuns(invariant) || invariant == Invariant::kNoWedge;
}

struct ExploreRequest {
  std::shared_ptr<ExitRules> exits =
      std::make_shared<ExitRules>(ExitRules{.measure = Measure::kPromises});
  std::string scenario_path;
  std::optional<sim::ScenarioSpace> space;  // of that scenario
  bool after_schedule = false;              // the search begins where its schedule ends
  sim::Scenario scenario;                   // the file's own, if after_schedule
  sim::ExploreWorld world;
  sim::ExploreBounds bounds;
  std::optional<Duration> lease;
  std::optional<Duration> grid;
  std::optional<Duration> longest_pause;
  std::optional<Duration> horizon;
  std::optional<Invariant> invariant;
  bool promised_only = false;
  bool first_only = false;
  bool all = false;  // each kind of violation
  bool plain = false;
  bool symmetry = true;
  bool timeline = false;
  bool json = false;
  std::string out;
  std::string junit_path;
  std::string checkpoint;  // the file; empty: none
  std::string save_folder;
  std::string command;  // how this command was called
  uint64_t memory_mib = kExploreMemoryByDefaultMiB;
  uint64_t jobs = 1;
};

// Takes the world of --scenario, and fills in what was not said. False if it has said on standard error
// what cannot be meant.
bool CompleteRequest(const CLI::App& app, ExploreRequest& request);

// Adds the options to `app`; parsing it fills `request`.
void AddExploreOptions(CLI::App& app, const std::shared_ptr<ExploreRequest>& request);

}  // namespace whorl::cli
