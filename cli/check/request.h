// What the command line of `whorl check` asks for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/input.h"

namespace whorl::cli {

// A change stream to be read.
struct StreamRequest {
  std::string name;      // empty: none is read
  std::string database;  // projects/P/instances/I/databases/D; empty: $WHORL_DATABASE
  std::string database_role;
  std::string endpoint;           // HOST:PORT; empty: Spanner's, or the emulator's
  std::string credentials_file;   // JSON
  std::string ca_file;            // PEM
  std::optional<Timestamp> from;  // empty: the oldest record that the stream has
  std::optional<Timestamp> to;    // empty: now
  bool follow = false;            // there is no end
};

struct CheckRequest {
  StreamRequest stream;
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
