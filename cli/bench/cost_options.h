// What a person asks of `whorl bench cost`, and what of it cannot be meant.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/measure/cost_report.h"

namespace whorl::cli {

struct CostRequest {
  sim::CostOptions cost;
  uint64_t takeovers = 1'000;  // of each protocol and lease; 0: none
  uint64_t jobs = 1;
  bool json = false;
  bool markdown = false;
  std::string out;
  std::string csv;
};

void AddCostOptions(CLI::App& app, const std::shared_ptr<CostRequest>& request);

// Options that do not go together, or that ask for what cannot be had; nothing when all is well.
std::vector<std::string> Contradictions(const CostRequest& request);

}  // namespace whorl::cli
