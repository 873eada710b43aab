// Holds what a hunt reports: what was hunted, what was found, and which shards of the whole it
// covers.
//
// As JSON lines, which `whorl hunt --merge` reads back: one with the entries of a corpus that the others
// name, if there are any, a line for each protocol, one for each finding, and one at the end that counts them.
//   {"format":"whorl-hunt","version":7,"line":"protocol","hunt":{...},"protocol":"spindle_v2",...}
//   {"format":"whorl-hunt","version":7,"line":"finding","protocol":"spindle_v2",...}
//   {"format":"whorl-hunt","version":7,"line":"end","hunt":{...},"protocols":1,"findings":1,...}
// Invariants:
//   1. A report read back and written again is the same to the byte.
//   2. The reports of all shards of a hunt, added up (merge.h), are the report of the whole hunt.
//   3. A report says which runs it contains. One that was ended early, or from which a line is
//      missing, is never taken for a whole one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/exit_rules.h"
#include "cli/shards/coverage.h"
#include "sim/hunt/hunt.h"

namespace whorl::cli {

inline constexpr std::string_view kHuntFormatName = "whorl-hunt";
inline constexpr int kHuntFormat = 7;

// A run and the hash of its events.
struct RunMark {
  sim::RunName name;
  uint64_t hash = 0;
  friend bool operator==(const RunMark&, const RunMark&) = default;
};

struct HuntReport {
  sim::HuntOptions hunt;          // without its shard
  std::optional<uint64_t> asked;  // how many runs of the whole hunt; nothing: time ended it
  Coverage coverage;
  sim::HuntTallies tallies;
  bool is_partial = false;      // lines are missing: a file was cut off
  std::optional<RunMark> last;  // in a checkpoint: the last of its runs
  sim::Guides guides;           // in a checkpoint of a guided hunt
  std::string corpus;           // which entries it began with, as a hash; empty: it had no corpus
};

// Of one shard. The tallies are of its first runs.
HuntReport MakeReport(const sim::HuntOptions& hunt, std::optional<uint64_t> asked,
                      sim::HuntTallies tallies);

// In the order in which a report tells them: promised ones first.
struct NamedFinding {
  const ProtocolInfo* protocol = nullptr;
  const sim::ViolationKind* kind = nullptr;
  const sim::Finding* finding = nullptr;

  bool IsPromised() const { return finding->promised; }
};
std::vector<NamedFinding> FindingsOf(const sim::HuntTallies& tallies);

// Whether something decides the exit code: a finding, or a run that could not be repeated.
bool HasDecided(const HuntReport& report, const ExitRules& rules);
bool Decides(const NamedFinding& finding, const ExitRules& rules);
// Whether runs are missing that were asked for: of a shard, or a whole shard. `MissingText` has them in words.
bool IsIncomplete(const HuntReport& report);

// `save_folder`: where the scenarios lie, or empty.
std::string ReportLines(const HuntReport& report, const std::string& command,
                        const std::string& save_folder);

// `path` is for messages, which name it and the line. A report that is cut off is an error, unless
// `accepts_partial`: then the lines that are whole are read, and the report says that it is partial.
absl::StatusOr<HuntReport> ReadReport(std::string_view text, const std::string& path,
                                      bool accepts_partial);

// A waypoint of the hunt, as it stands on the command line.
std::string TextOf(const sim::HuntOptions& hunt, const sim::Waypoint& waypoint);
// "spindle_v2.no_wedge.takeover_insert", the name of its scenario.
std::string NameOfFinding(const ProtocolInfo& protocol, const sim::ViolationKind& kind);
// One line of shell that replays a finding.
std::string ReplayLine(const HuntReport& report, const NamedFinding& finding,
                       const std::string& command, const std::string& save_folder);
// The finding's scenario, as it lies in the folder where it is saved.
sim::Scenario SavedScenario(const HuntReport& report, const NamedFinding& finding,
                            const std::string& save_folder);
// The path of the finding's scenario in the folder where it is saved.
std::string SavedPath(const NamedFinding& finding, const std::string& save_folder);

}  // namespace whorl::cli
