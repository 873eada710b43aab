// Lists scripts, each with faults in a transaction's calls and the expected calls and outcome, for
// every way of running the transaction.
#pragma once

#include <string>
#include <vector>

#include "tests/support/scripted_network.h"

namespace whorl {

inline constexpr const char* kScriptDatabase =
    "projects/test-project/instances/test-instance/databases/locks";
// The tables of that database.
const std::vector<std::string>& ScriptDdl();

// Each script on both kinds of sessions.
std::vector<Script> AllScripts();

// Translates the lines of a script to those of a regular session, which has no precommit tokens and
// on which Spanner passes on the age of an aborted attempt by itself.
std::vector<std::string> LinesOnRegular(std::vector<std::string> lines);

}  // namespace whorl
