// What a person asks of `whorl replay`, and what of it cannot be meant.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/inputs.h"
#include "sim/scenario/instant.h"

namespace whorl::cli {

struct ReplayOptions {
  std::vector<std::string> paths;
  std::optional<uint64_t> seed;
  uint64_t repeat = 1;
  uint64_t jobs = 1;
  bool timeline = false;
  std::string explain_text;  // as given
  bool explain = false;
  std::optional<Invariant> explained;  // rather than whatever came first
  std::optional<sim::Instant> at;
  std::string trace_folder;
  std::string perfetto_path;
  bool json = false;
  std::string out;
  bool check_determinism = false;
  std::string command;  // how this command was called

  // One of the ways to look closely at a single run.
  bool ShowsOneRun() const { return at.has_value() || !perfetto_path.empty(); }
};

void AddReplayOptions(CLI::App& app, const std::shared_ptr<ReplayOptions>& options);

// Options that do not go together; nothing when all is well.
std::vector<std::string> Contradictions(const ReplayOptions& options);
// The same, of what was loaded: two runs that would write the same trace, a seed that does not
// exist, many scenarios where one is to be shown, a time after the end.
std::vector<std::string> Contradictions(const ReplayOptions& options, const Inputs& inputs);

}  // namespace whorl::cli
