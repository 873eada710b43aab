// Holds what the command line of `whorl check` asks for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/input.h"
#include "cli/exit_rules.h"

namespace whorl::cli {

// What is to be read of a database: a change stream, or the versions that the lock table's rows had.
struct DatabaseRequest {
  std::string name;    // projects/P/instances/I/databases/D; empty: $WHORL_DATABASE
  std::string stream;  // empty: versions, if anything
  std::string role;
  std::string endpoint;           // HOST:PORT; empty: Spanner's, or the emulator's
  std::string credentials_file;   // JSON
  std::string ca_file;            // PEM
  std::optional<Timestamp> from;  // empty: the oldest record that the stream has, or an hour ago
  std::optional<Timestamp> to;    // empty: now
  bool follow = false;            // there is no end
  std::optional<Duration> every;  // of versions: how often the table is read at least

  bool IsRead() const {
    return !name.empty() || !stream.empty() || !role.empty() || !endpoint.empty() ||
           !credentials_file.empty() || !ca_file.empty() || from || to || follow || every;
  }
  bool ReadsVersions() const { return IsRead() && stream.empty(); }
};

struct CheckRequest {
  DatabaseRequest database;
  std::vector<std::string> files;
  std::string protocol;
  std::string lock;
  std::string table;
  std::vector<std::string> clocks;
  std::optional<check::InputFormat> format;
  std::string pattern;
  check::JepsenOptions jepsen;
  std::optional<Duration> lease;
  std::optional<Duration> clock_error;
  std::optional<Duration> window;
  std::string resume_path;  // empty: nothing is kept for another process
  std::string scenario_path;
  std::string html_path;
  std::string junit_path;
  bool explain = false;
  bool timeline = false;
  bool json = false;
  std::shared_ptr<ExitRules> exits =
      std::make_shared<ExitRules>(ExitRules{.measure = Measure::kInvariants});

  bool WantsReport() const { return !html_path.empty() || explain || timeline; }
  // Whether the whole history has to be kept.
  bool WantsHistory() const { return !scenario_path.empty() || WantsReport(); }
};

}  // namespace whorl::cli
