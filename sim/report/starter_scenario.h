// Writes a scenario for a user to start from. It loads, and a replay meets its expectations.
#pragma once

#include <string>

#include "protocol/protocols.h"

namespace whorl::sim {

// The text of the scenario's file, with comments.
std::string StarterScenario(const ProtocolInfo& protocol);

}  // namespace whorl::sim
