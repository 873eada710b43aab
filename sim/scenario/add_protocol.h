// Adds a protocol from outside of this repository to those that scenarios and hunts can name.
// examples/own_protocol/ is a complete program that does so.
#pragma once

#include <string>
#include <vector>

#include "protocol/protocols.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/rules.h"

namespace whorl::sim {

// Adds the protocol to Protocols(), with its rules and its assumptions. If MistakesIn() finds a
// mistake, or the name is taken, the program ends with a message that says what is wrong.
// REQUIRES: no code has read Protocols() yet (make this call first in main()), and no other thread
// is running.
void AddProtocol(const ProtocolInfo& info, const Rules& rules, const Assumptions& assumptions);

// What is missing from a protocol's description, table and rules, and where they contradict each
// other, in words for its author.
std::vector<std::string> MistakesIn(const ProtocolInfo& info, const Rules& rules);

}  // namespace whorl::sim
