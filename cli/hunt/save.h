// Saves what a hunt found: a scenario for each finding, and its page beside it.
#pragma once

#include "absl/status/status.h"
#include "cli/hunt/options.h"
#include "cli/hunt/report.h"

namespace whorl::cli {

// Into the folder that the request names; nothing if it names none. What can be saved is, even if
// something else cannot.
absl::Status SaveFindings(const HuntRequest& request, const HuntReport& report);

}  // namespace whorl::cli
