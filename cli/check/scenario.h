// `whorl check --scenario`: writes what happened as a scenario, and says how its replay compares.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "check/reproduce.h"
#include "sim/scenario/json_text.h"

namespace whorl::cli {

absl::Status WriteScenario(const std::string& path, const sim::Scenario& scenario);
void PrintReproduction(const std::string& path, const check::Reproduction& reproduction);
sim::Json ReproductionJson(const std::string& path, const check::Reproduction& reproduction);

}  // namespace whorl::cli
