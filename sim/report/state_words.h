// Pieces of state_report.cc: times, values and trees of fields as JSON, and the clocks of a world
// at any time between two events.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/field_tree.h"
#include "protocol/machine.h"
#include "sim/report/json_print.h"
#include "sim/scenario/instant.h"
#include "sim/world/world.h"
#include "spanner_model/truetime.h"

namespace whorl::sim {

// Seconds since the start, exact, without trailing zeros: "12.5".
std::string TimeWords(Instant at);
// The same for a TIMESTAMP of a row; other values as in Spanner's JSON.
Json ValueWords(const Value& value);

LocalTime NodesClocks(const World& world, int16_t node, Instant at);
model::ClockReading SpannersClocks(const World& world, Instant at);

Json Words(const FieldTree& tree);
Json Words(const FieldTree::Fields& fields);

}  // namespace whorl::sim
