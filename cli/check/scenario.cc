#include "cli/check/scenario.h"

#include <iostream>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/output.h"
#include "sim/scenario/writer.h"

namespace whorl::cli {
namespace {

void PrintList(std::string_view head, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  std::cout << head << ":\n";
  for (const std::string& line : lines) std::cout << "  " << Printable(line, 2'000) << '\n';
}

}  // namespace

absl::Status WriteScenario(const std::string& path, const sim::Scenario& scenario) {
  OutputFile file;
  if (absl::Status opened = file.Open(path); !opened.ok()) return opened;
  file.stream() << sim::ScenarioText(scenario);
  return file.Commit();
}

void PrintReproduction(const std::string& path, const check::Reproduction& reproduction) {
  std::cout << "\nwritten as a scenario: " << Printable(path, 1'000)
            << " (times are from the history's beginning)\n";
  PrintList("inferred", reproduction.inferred);
  PrintList("its replay is like the history", reproduction.reproduced);
  PrintList("its replay differs from the history", reproduction.not_reproduced);
  PrintList("not inferred", reproduction.not_inferred);
}

sim::Json ReproductionJson(const std::string& path, const check::Reproduction& reproduction) {
  return {{"path", path},
          {"seed", reproduction.scenario.seed},
          {"inferred", reproduction.inferred},
          {"reproduced", reproduction.reproduced},
          {"not_reproduced", reproduction.not_reproduced},
          {"not_inferred", reproduction.not_inferred}};
}

}  // namespace whorl::cli
