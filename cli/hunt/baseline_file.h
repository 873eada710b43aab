// Writes and reads the files of `whorl hunt --save-baseline`, as JSON lines:
//   {"format":"whorl-baseline","version":1,"whorl":"...","line":"hunt","hunt":{...},"figures":{...}}
//   {"line":"protocol","protocol":"spindle_v3","runs":500,"hash":"...","worlds":"...","events":"..."}
//   {"line":"figure","family":"violated","name":"single_leader_belief","runs":207,"sum":207,"levels":"..."}
//   {"line":"end","figures":60}
// A figure is of the protocol whose line stands before it; one that is 0 in every run has no line. `figures` of
// the first line are those that the revision counts in any case.
//
// `worlds` and `events` have four characters of base64 for each run. `levels` have a level for each run: a capital
// letter from A for 0 to Z for 25, or a small letter before it that adds 26, 52 and so on; a number behind it says
// how often it comes in a row.
// Invariants:
//   1. A baseline read back and written again is the same to the byte.
//   2. A file that was cut off, or is of another version, is refused with the line and the remedy.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "sim/hunt/baseline.h"

namespace whorl::cli {

inline constexpr std::string_view kBaselineFormatName = "whorl-baseline";
inline constexpr int kBaselineFormat = 1;

std::string BaselineText(const sim::Baseline& baseline);

// `path` is for messages.
absl::StatusOr<sim::Baseline> ParseBaseline(std::string_view text, const std::string& path);
absl::StatusOr<sim::Baseline> ReadBaseline(const std::string& path);

}  // namespace whorl::cli
