// Rows of a protocol's table, as people read them beside true time: timestamps in seconds since the
// start of the run, long ids cut short.
#pragma once

#include <optional>
#include <string>

#include "protocol/spanner/value.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/names.h"

namespace whorl::sim {

// "12.345678": seconds since the start, as every report for people shows an instant.
std::string InstantText(Instant at);

// "12.345678", "\"a\"", "NULL".
std::string ShortValueText(const Value& value);

// "name \"lock\", heartbeat 18.019113, token 0.009273".
std::string RowText(const Names& names, const Row& row);

// The key column's value, or the whole key's when it is no string.
std::string RowKeyText(const Row& row, size_t key_column);
std::string KeyText(const Value& key);

}  // namespace whorl::sim
