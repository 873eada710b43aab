// Reads the options of `whorl bench cost`, and refuses combinations that make no sense.
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
  uint64_t takeovers = 1'000;  // for each protocol and lease; 0: none
  uint64_t jobs = 1;
  bool json = false;
  bool markdown = false;
  std::string out;
  std::string csv;
  std::string html;
};

void AddCostOptions(CLI::App& app, const std::shared_ptr<CostRequest>& request);

// Messages for options that do not go together or cannot be satisfied; empty if there are none.
std::vector<std::string> Contradictions(const CostRequest& request);

}  // namespace whorl::cli
