#include "cli/explore/save.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/status/status.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "sim/scenario/writer.h"

namespace whorl::cli {

absl::StatusOr<std::string> SaveCounterexample(const sim::Scenario& scenario,
                                               const std::string& folder) {
  const std::string text = sim::ScenarioText(scenario);
  for (int number = 1;; ++number) {
    const std::string name =
        number == 1 ? scenario.name : Cat(scenario.name, "-", std::to_string(number));
    const std::string path = (std::filesystem::path(folder) / (name + ".json")).string();
    std::error_code ignored;  // opening the file says it better
    if (!std::filesystem::exists(path, ignored)) {
      OutputFile file;
      if (const absl::Status opened = file.Open(path); !opened.ok()) return opened;
      file.stream() << text;
      if (const absl::Status written = file.Commit(); !written.ok()) return written;
      return path;
    }
    std::ifstream stream;
    if (const absl::Status opened = OpenInput(path, stream); !opened.ok()) return opened;
    const std::string there{std::istreambuf_iterator<char>(stream),
                            std::istreambuf_iterator<char>()};
    if (there == text) return path;
  }
}

}  // namespace whorl::cli
