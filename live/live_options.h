// What a person asks of `whorl replay --on`.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "live/backend.h"
#include "protocol/names.h"
#include "protocol/spanner/time.h"

namespace whorl::live {

struct LiveOptions {
  std::vector<std::string> paths;
  BackendKind on = BackendKind::kServer;
  uint64_t repeat = 1;
  uint64_t jobs = 1;
  Duration longest = Seconds(180);
  bool where_possible = false;
  bool timeline = false;
  std::string explain_text;  // as given
  bool explain = false;
  std::optional<Invariant> explained;  // rather than whatever came first
  std::string trace_folder;
  std::string perfetto_path;
  std::string save_path;
  bool json = false;
  std::string out;

  // One of the ways to look closely at a single run.
  bool ShowsOneRun() const {
    return timeline || explain || !perfetto_path.empty() || !save_path.empty();
  }
};

// --on, which has to be given.
void AddOnOption(CLI::App& app, std::function<void(BackendKind)> take);

void AddLiveOptions(CLI::App& app, const std::shared_ptr<LiveOptions>& options);

// Options that do not go together; nothing when all is well.
std::vector<std::string> Contradictions(const LiveOptions& options, size_t scenarios);

}  // namespace whorl::live
