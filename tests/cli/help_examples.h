// Lists the examples in help texts, and runs them for a test as a shell does: in a folder that has
// scenarios/ and examples/, and interrupted after half a second, since some hunt for a minute. Those that
// write the traces that the examples of `whorl diff` read run to their end, however busy the machine is.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/cli/cli_testing.h"

namespace whorl {

// The lines below "Examples:", without what is said of them: from two spaces on.
inline std::vector<std::string> ExamplesIn(std::string_view help) {
  std::vector<std::string> examples;
  bool inside = false;
  while (!help.empty()) {
    const size_t end = std::min(help.find('\n'), help.size());
    std::string_view line = help.substr(0, end);
    help.remove_prefix(std::min(end + 1, help.size()));
    if (line.ends_with("Examples:")) {
      inside = true;
    } else if (inside && line.starts_with("  ")) {
      line.remove_prefix(2);
      examples.emplace_back(line.substr(0, line.find("  ")));
    } else if (!line.empty()) {
      inside = false;
    }
  }
  return examples;
}

// The names below "Subcommands:".
inline std::vector<std::string> SubCommandsIn(std::string_view help) {
  std::vector<std::string> names;
  bool inside = false;
  while (!help.empty()) {
    const size_t end = std::min(help.find('\n'), help.size());
    const std::string_view line = help.substr(0, end);
    help.remove_prefix(std::min(end + 1, help.size()));
    if (line == "Subcommands:") {
      inside = true;
    } else if (inside && line.starts_with("  ") && !line.starts_with("   ")) {
      names.emplace_back(line.substr(2, line.find(' ', 2) - 2));
    } else if (!line.starts_with(" ")) {
      inside = false;
    }
  }
  return names;
}

class HelpExamples : public CliTest {
 protected:
  HelpExamples() {
    for (const char* kept : {"scenarios", "examples"}) {
      fs::create_symlink(fs::path(WHORL_SOURCE_DIR) / kept, folder_ / kept);
    }
  }

  std::string HelpOf(const std::string& command) {
    const Ended ended = Whorl(command + " --help");
    EXPECT_EQ(ended.code, 0) << command << ": " << ended.err;
    return ended.out;
  }

  Ended RunExample(const std::string& example) {
    const bool is_needed =
        example.ends_with(" --trace before") || example.ends_with(" --trace after");
    return is_needed ? RunToItsEnd(example) : RunFor("0.5", example);
  }
  // Of one that ends by itself, a test may say how, however busy the machine is.
  Ended RunToItsEnd(const std::string& example) { return RunFor("600", example); }

  // 0 and 1: it ran to its end; 124: it was still running, and was interrupted. An example may well merge the
  // one part that there is.
  static bool Ran(const Ended& ended) {
    const bool is_part =
        ended.code == 3 && ended.err.find("did not come to its end") != std::string::npos;
    return ended.code <= 1 || ended.code == 124 || is_part;
  }

  void RemoveWhatExamplesWrote() {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      if (name != "scenarios" && name != "examples") fs::remove_all(entry.path());
    }
  }

  size_t examples_ = 0;

 private:
  Ended RunFor(const std::string& limit, const std::string& example) {
    // In the foreground, timeout interrupts the command once. Otherwise it interrupts its whole group,
    // too, and a second interrupt ends a command without its report.
    Write("example.sh",
          "set -o pipefail\nwhorl() { timeout --foreground --signal=INT --kill-after=60 " + limit +
              " '" WHORL_COMMAND "' \"$@\"; }\n" + example + "\n");
    return Shell("bash example.sh");
  }
};

}  // namespace whorl
