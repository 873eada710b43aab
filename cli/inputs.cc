#include "cli/inputs.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "sim/error_text.h"
#include "sim/scenario_loader.h"

namespace whorl::cli {
namespace {

namespace fs = std::filesystem;

bool IsScenarioFile(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".json") && !name.ends_with("schema.json");
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void AddBad(const std::string& path, std::string_view error, Inputs& inputs) {
  inputs.bad.push_back(
      {.path = path, .errors = {sim::Cat(sim::Printable(path, 1000), ": ", error)}});
}

void LoadFile(const std::string& path, Inputs& inputs) {
  absl::StatusOr<sim::Scenario> scenario = sim::LoadScenario(path);
  if (scenario.ok()) {
    if (path == "-") scenario->name = "stdin";
    inputs.scenarios.push_back(*std::move(scenario));
  } else {
    inputs.bad.push_back({.path = path, .errors = Lines(std::string(scenario.status().message()))});
  }
}

void LoadFolder(const std::string& folder, Inputs& inputs) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (IsScenarioFile(entry->path())) files.push_back(entry->path().string());
  }
  if (error) return AddBad(folder, sim::Cat("cannot be read: ", error.message()), inputs);
  if (files.empty()) {
    return AddBad(folder, "no scenario in this folder (*.json, but not *schema.json)", inputs);
  }
  std::ranges::sort(files);
  for (const std::string& file : files) LoadFile(file, inputs);
}

}  // namespace

Inputs LoadInputs(const std::vector<std::string>& paths) {
  Inputs inputs;
  bool has_read_stdin = false;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-" && std::exchange(has_read_stdin, true)) {
      AddBad(path, "standard input can be read once only", inputs);
    } else if (path != "-" && fs::is_directory(path, error)) {
      LoadFolder(path, inputs);
    } else {
      LoadFile(path, inputs);
    }
  }
  return inputs;
}

}  // namespace whorl::cli
