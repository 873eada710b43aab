// Loads the scenarios and the files of DDL that the command line names.
#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/scenario/scenario.h"

namespace whorl::cli {

struct BadInput {
  std::string path;                 // as given
  std::vector<std::string> errors;  // each for one line, beginning with the path
};

struct Inputs {
  std::vector<sim::Scenario> scenarios;  // in the order given; those of a folder sorted by name
  std::vector<std::string> texts;        // of the scenarios, as they were read
  std::vector<BadInput> bad;
};

// A path is a file, a folder (all its *.json but *schema.json) or "-" (standard input, once). A
// pipe that no process opens for writing within a second is a bad input.
Inputs LoadInputs(const std::vector<std::string>& paths);

// The message for a file or folder that cannot be read, for `reason`.
std::string CannotRead(const std::string& path, std::string_view reason);

// The lines of a text, without their ends.
std::vector<std::string> LinesOf(std::string_view text);

// Opens a file for reading. Returns an error that says why if it cannot be read or is a folder.
absl::Status OpenInput(const std::string& path, std::ifstream& stream);

// The scenario that a text of Inputs is, read from the path.
absl::StatusOr<sim::Scenario> ScenarioFrom(const std::string& text, const std::string& path);

// The path of the input that is the same file as `path`, even under another name; empty if none is.
std::string SameInput(const Inputs& inputs, const std::string& path);

// The statements of a text of DDL as Spanner's tools read it: each ends with a semicolon. Comments begin with -- or #.
std::vector<std::string> StatementsIn(const std::string& text);

// Reads a file that an option names. Returns what is wrong; empty if nothing is.
std::string ReadOption(std::string_view option, const std::string& path, std::string& out);

}  // namespace whorl::cli
