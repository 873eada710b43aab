// What a person asks of `whorl bench takeover`, and what of it cannot be meant.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/measure/takeover_case.h"

namespace whorl::cli {

struct TakeoverRequest {
  // What is given; where nothing is, --all or the usual grid decides.
  std::vector<std::string> protocols;
  std::vector<sim::TakeoverFault> faults;
  std::vector<Duration> leases;
  std::vector<int64_t> followers;
  std::vector<sim::Preset> presets;
  bool all = false;
  std::optional<uint64_t> runs;  // of each case; as many as make p99 stable when not given
  uint64_t seed = 1;
  uint64_t jobs = 1;
  bool json = false;
  std::string out;
  std::string csv;
  std::string plot;
};

void AddTakeoverOptions(CLI::App& app, const std::shared_ptr<TakeoverRequest>& request);

// What is wrong with the options together; nothing when all is well.
std::vector<std::string> Contradictions(const TakeoverRequest& request);

sim::TakeoverGrid GridOf(const TakeoverRequest& request);

}  // namespace whorl::cli
