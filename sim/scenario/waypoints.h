// Reads and writes waypoints as text: "takeover_insert replied", "old leader resumed", "b crashed".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/protocols.h"
#include "sim/scenario/metrics.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// The waypoint as a file has it.
std::string WaypointText(const Waypoint& waypoint, const Scenario& scenario);

// The waypoint, or why there is none, with the remedy. `nodes` are their names; `protocol` may be null if
// it is not known, and then any protocol's step will do.
std::variant<Waypoint, std::string> ParseWaypoint(std::string_view text,
                                                  std::span<const std::string_view> nodes,
                                                  const ProtocolInfo* protocol);

// Why no run of the protocol can meet the goal (`sometimes`); empty if one may, or if it is not known that
// none can.
std::string_view WhyNever(const ProtocolInfo& protocol, Sometimes goal);

}  // namespace whorl::sim
