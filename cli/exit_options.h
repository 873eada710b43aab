// --expect, --any and --accept-incomplete: what decides the exit code of a command that searches.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cli/exit_rules.h"

namespace whorl::cli {

void AddExpectAndAny(CLI::App& app, const std::shared_ptr<ExitRules>& rules);
void AddAcceptIncomplete(CLI::App& app, const std::shared_ptr<ExitRules>& rules);

// What --expect names and the search does not look for. `invariant`: the only one that it does.
std::vector<std::string> ContradictionsOfExpect(const ExitRules& rules, bool promised_only,
                                                std::optional<Invariant> invariant);

// How a command ends whose verdict is told: by `done`, if that is an error, else by CodeOf. Says on standard
// error why an answer is missing.
int EndJudged(const absl::Status& done, const ExitRules& rules, const CommandResult& result);

// The line above violations that do not decide.
inline constexpr std::string_view kUndecidingHead =
    "found, and not promised, so that the exit code is not 1 for it (--any, --expect INVARIANT):";

}  // namespace whorl::cli
