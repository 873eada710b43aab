// Waypoints as text: "takeover_insert replied", "old leader resumed", "b crashed".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/protocols.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// As it stands in a file.
std::string WaypointText(const Waypoint& waypoint, const Scenario& scenario);

// The waypoint, or why there is none, with the remedy. `nodes` are their names; `protocol` may be null if
// it is not known, and then any protocol's step will do.
std::variant<Waypoint, std::string> ParseWaypoint(std::string_view text,
                                                  std::span<const std::string_view> nodes,
                                                  const ProtocolInfo* protocol);

}  // namespace whorl::sim
