// Reads what a command prints for scripts: a document, or a document on each line.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/cli_testing.h"

namespace whorl {

inline nlohmann::json ParsedJson(const Ended& ended) {
  nlohmann::json read = nlohmann::json::parse(ended.out, nullptr, /*allow_exceptions=*/false);
  EXPECT_TRUE(read.is_object()) << ended.out << ended.err;
  return read;
}

inline std::vector<nlohmann::json> JsonLines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

}  // namespace whorl
