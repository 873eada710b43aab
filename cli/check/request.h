// What the command line of `whorl check` asks for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/input.h"

namespace whorl::cli {

struct CheckRequest {
  std::vector<std::string> files;
  std::string protocol;
  std::string lock;
  std::string table;
  std::vector<std::string> clocks;
  std::optional<check::InputFormat> format;
  std::string pattern;
  std::optional<Duration> lease;
  std::optional<Duration> clock_error;
  std::optional<Duration> window;
  std::string scenario_path;
  std::string html_path;
  bool explain = false;
  bool timeline = false;
  bool json = false;

  bool WantsReport() const { return !html_path.empty() || explain || timeline; }
  // Whether the whole history has to be kept.
  bool WantsHistory() const { return !scenario_path.empty() || WantsReport(); }
};

}  // namespace whorl::cli
