// Reads the options of `whorl bench takeover`, on simulated and on real processes, and refuses
// combinations that make no sense.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/shards/option.h"
#include "live/backend_kind.h"
#include "sim/measure/takeover_case.h"

namespace whorl::cli {

struct TakeoverRequest {
  // The values given; for those left empty, --all or the usual grid decides.
  std::vector<std::string> protocols;
  std::vector<sim::TakeoverFault> faults;
  std::vector<Duration> leases;
  std::vector<int64_t> followers;
  std::vector<sim::Preset> presets;
  bool all = false;
  std::optional<uint64_t> runs;  // per case; empty: as many as make p99 stable
  uint64_t seed = 1;
  std::optional<uint64_t> jobs;         // empty: by the number of cores
  std::optional<live::BackendKind> on;  // on real processes; empty: simulated
  std::string program;  // that takes part in the lock for the processes; empty: none
  bool json = false;
  std::string out;
  std::string csv;
  std::string html;
  Shard shard;
  std::vector<std::string> merged;  // reports to add up

  uint64_t Jobs() const;
};

void AddTakeoverOptions(CLI::App& app, const std::shared_ptr<TakeoverRequest>& request);

// Messages for options that do not go together; empty if there are none.
std::vector<std::string> Contradictions(const TakeoverRequest& request);

sim::TakeoverGrid GridOf(const TakeoverRequest& request);

}  // namespace whorl::cli
