// What can happen to a transaction's calls, and the calls and the outcome that are to follow: one
// text for every way of running it.
#pragma once

#include <string>
#include <vector>

#include "tests/support/scripted_network.h"

namespace whorl {

inline constexpr const char* kScriptDatabase =
    "projects/test-project/instances/test-instance/databases/locks";
// Its tables.
const std::vector<std::string>& ScriptDdl();

// Each script on both kinds of sessions.
std::vector<Script> AllScripts();

// On a regular session everything is the same, but that there are no precommit tokens, and that
// Spanner hands the age on by itself.
std::vector<std::string> LinesOnRegular(std::vector<std::string> lines);

}  // namespace whorl
