// Reads the options of `whorl replay`, on simulated and on real processes, and refuses combinations
// that make no sense.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_rules.h"
#include "cli/inputs.h"
#include "cli/shards/option.h"
#include "live/backend_kind.h"
#include "sim/scenario/instant.h"

namespace whorl::cli {

struct ReplayRequest {
  std::vector<std::string> paths;
  std::optional<live::BackendKind> on;  // on real processes; empty: simulated
  std::optional<uint64_t> seed;
  uint64_t repeat = 1;
  std::optional<uint64_t> jobs;  // empty: by the number of cores
  bool timeline = false;
  std::string explain_text;  // as given
  bool explain = false;
  std::optional<Invariant> explained;  // empty: whichever was violated first
  std::optional<sim::Instant> at;
  std::string trace_folder;
  std::string perfetto_path;
  std::string html_path;
  std::string jepsen_path;
  bool mermaid = false;
  bool json = false;
  std::string out;
  std::string junit_path;
  Shard shard;
  std::vector<std::string> merged;  // reports to add up
  std::shared_ptr<ExitRules> exits = std::make_shared<ExitRules>();
  bool check_determinism = false;
  bool unlimited = false;
  std::string command;  // how this command was called
  // With `on` only:
  std::optional<Duration> longest;  // scenarios that last longer are left out
  bool where_possible = false;
  std::string save_path;
  std::string program;   // that takes part in the locks for the nodes; an absolute path
  std::string protocol;  // scenarios of others are left out; empty: none is

  uint64_t Jobs() const;
  bool WantsJson() const { return json || !out.empty(); }
};

void AddReplayOptions(CLI::App& app, const std::shared_ptr<ReplayRequest>& request);

// Messages for options that do not go together; empty if there are none.
std::vector<std::string> Contradictions(const ReplayRequest& request);
// The same for options that do not go with the inputs: files that would be written twice or over a
// scenario, a seed out of range, many scenarios where only one can be shown, a time after the end.
std::vector<std::string> Contradictions(const ReplayRequest& request, const Inputs& inputs);

}  // namespace whorl::cli
