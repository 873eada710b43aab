// What a hunt reports: what was hunted, what was found, and which shards of the whole it covers.
//
// As JSON lines, which `whorl hunt --merge` reads back: a line for each protocol, and one for each
// finding.
//   {"format":"whorl-hunt","version":1,"line":"protocol","hunt":{...},"protocol":"spindle_v2",...}
//   {"format":"whorl-hunt","version":1,"line":"finding","protocol":"spindle_v2",...}
// Invariant: a report read back and written again is the same to the byte, and the reports of all
// shards of a hunt, added up, are the report of the whole hunt.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/hunt/hunt.h"

namespace whorl::cli {

inline constexpr int kHuntFormat = 3;

struct HuntReport {
  sim::HuntOptions hunt;       // without its shard
  uint64_t shards = 1;         // how many there are
  std::set<uint64_t> covered;  // the shards that this report contains, from 0
  sim::HuntTallies tallies;

  // Nothing was left out: the shards are the whole hunt.
  bool IsWhole() const { return covered.size() == shards; }
};

HuntReport MakeReport(const sim::HuntOptions& hunt, sim::HuntTallies tallies);

// In the order in which a report tells them: promised ones first.
struct NamedFinding {
  const ProtocolInfo* protocol = nullptr;
  const sim::ViolationKind* kind = nullptr;
  const sim::Finding* finding = nullptr;

  bool IsPromised() const { return finding->promised; }
};
std::vector<NamedFinding> FindingsOf(const sim::HuntTallies& tallies);

// `save_folder`: where the scenarios lie, or empty.
std::string ReportLines(const HuntReport& report, const std::string& command,
                        const std::string& save_folder);

// `path` is for messages, which name it and the line.
absl::StatusOr<HuntReport> ReadReport(std::string_view text, const std::string& path);

// Adds one of another part of the same hunt. kInvalidArgument: of another hunt, or of a part that
// is there already.
absl::Status AddReport(const HuntReport& other, const std::string& path, HuntReport& sum);

// One line of shell that replays a finding.
std::string ReplayLine(const HuntReport& report, const NamedFinding& finding,
                       const std::string& command, const std::string& save_folder);
// The path of the finding's scenario in the folder where it is saved.
std::string SavedPath(const NamedFinding& finding, const std::string& save_folder);

}  // namespace whorl::cli
