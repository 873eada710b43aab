#include "cli/replay/state.h"

#include <iostream>
#include <string>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/version.h"
#include "sim/report/json_print.h"
#include "sim/report/state_report.h"
#include "sim/world/driver.h"

namespace whorl::cli {
namespace {

constexpr int kStateFormat = 1;

}  // namespace

int ShowState(const ReplayRequest& request, const sim::Scenario& scenario) {
  OutputFile file;
  if (!request.out.empty()) {
    if (const absl::Status opened = file.Open(request.out); !opened.ok()) return End(opened);
  }
  const uint64_t seed = request.seed.value_or(scenario.seed);
  sim::StateWatch watch(scenario);
  const sim::World world = sim::RunUntil(scenario, seed, *request.at, &watch);
  sim::Json about = sim::Json::object();
  about["scenario"] = scenario.name;
  about["protocol"] = scenario.protocol;
  about["seed"] = std::to_string(seed);
  about.update(sim::StateJson(world, watch, *request.at));
  sim::Json document = {{"format", "whorl-state"}, {"version", kStateFormat}, {"whorl", kVersion}};
  document.update(about);
  const std::string text = sim::DumpJson(document, 2) + "\n";
  if (request.json) {
    std::cout << text;
  } else {
    sim::PrintState(about, std::cout);
  }
  if (!request.out.empty()) {
    file.stream() << text;
    if (const absl::Status written = file.Commit(); !written.ok()) return End(written);
  }
  return End(FlushStdout());
}

}  // namespace whorl::cli
