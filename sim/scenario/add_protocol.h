// Adds a protocol of one's own to those that scenarios and hunts can name. examples/own_protocol/
// is a whole program that does it.
#pragma once

#include <string>
#include <vector>

#include "protocol/protocols.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/rules.h"

namespace whorl::sim {

// From then on it is one of Protocols(), with its rules and its assumptions. A protocol with
// MistakesIn() it, or one whose name is taken, ends the program with what is wrong.
// REQUIRES: nothing has looked at the protocols yet (begin main() with it), and no other thread
// runs.
void AddProtocol(const ProtocolInfo& info, const Rules& rules, const Assumptions& assumptions);

// In what the three texts of a protocol (its description, its table and its rules) contradict each
// other or say nothing, for people.
std::vector<std::string> MistakesIn(const ProtocolInfo& info, const Rules& rules);

}  // namespace whorl::sim
