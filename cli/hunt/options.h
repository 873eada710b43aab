// Reads the options of `whorl hunt`, and refuses combinations that make no sense.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_rules.h"
#include "cli/shards/option.h"
#include "sim/hunt/hunt.h"

namespace whorl::cli {

struct HuntRequest {
  std::shared_ptr<ExitRules> exits =
      std::make_shared<ExitRules>(ExitRules{.measure = Measure::kPromises});
  sim::HuntOptions hunt;
  std::optional<uint64_t> runs;           // in the whole hunt; a shard does its share of them
  std::optional<Duration> time;           // real time
  std::optional<sim::RunName> shown_run;  // whose world is to be printed
  std::vector<std::string> merged;        // reports to add up
  bool partial = false;                   // even those that are cut off
  Shard shard;                            // as in `hunt`
  uint64_t jobs = 1;
  std::string from;                   // the scenario to start from; empty: none
  std::vector<std::string> compared;  // two protocols to compare; empty: none
  std::string save_baseline;          // the file to record the runs in; empty: none
  std::string baseline;               // the file of the record to compare with; empty: none
  std::vector<std::string> compared_commands;  // two, as words of a shell; empty: none
  std::string save_folder;
  bool pages = true;         // beside the scenarios that are saved
  std::string table_folder;  // the scenarios that the table links; empty: no table
  bool json = false;
  std::string out;
  std::string junit_path;
  std::string digests;             // the file of the digests of all runs; empty: none
  std::string canary;              // the protocol that has to be caught first; empty: none
  std::string checkpoint;          // the file to go on from; empty: none
  std::string corpus;              // the folder of what is worth keeping; empty: none
  std::vector<std::string> reach;  // waypoints
  bool goals = false;              // print a table of goals instead of findings
  bool draws = false;              // print a table of what the runs contain, and judge nothing
  std::string command;             // how this command was called
};

void AddHuntOptions(CLI::App& app, const std::shared_ptr<HuntRequest>& request);

// Options that do not go together; nothing when all is well.
std::vector<std::string> Contradictions(const CLI::App& app, const HuntRequest& request);

// How many runs the request asks of the whole hunt; nothing if time alone is to end it.
std::optional<uint64_t> RunsAsked(const HuntRequest& request);
// How many runs it asks of its shard at most.
uint64_t RunsOfShard(const HuntRequest& request);
// How many worlds to compare in at most.
uint64_t RunsOfComparison(const HuntRequest& request);

}  // namespace whorl::cli
