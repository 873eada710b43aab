// Writes scenarios for a user to start from. They load; a replay of StarterScenario meets its expectations.
#pragma once

#include <string>
#include <vector>

#include "protocol/protocols.h"

namespace whorl::sim {

// The text of the scenario's file, with comments.
std::string StarterScenario(const ProtocolInfo& protocol);

// Something that happens to people's locks, and the fault that means it.
struct IncidentStart {
  std::string words;  // "long pause"
  std::string about;  // a sentence
  std::string fault;  // as JSON; @lease@ and the like stand for times; empty: none
};
std::vector<IncidentStart> IncidentStarts();

// The text of a short scenario of the incident, without comments and without expectations of its verdict.
std::string ScenarioOfIncident(const ProtocolInfo& protocol, const IncidentStart& incident);

}  // namespace whorl::sim
