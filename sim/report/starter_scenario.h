// A scenario to start from: it loads, and it is as expected when it is replayed.
#pragma once

#include <string>

#include "protocol/protocols.h"

namespace whorl::sim {

// The text of a file, with comments.
std::string StarterScenario(const ProtocolInfo& protocol);

}  // namespace whorl::sim
