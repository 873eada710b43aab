// Writes values and keys of a protocol's table in words: timestamps as seconds since the start of
// the run, so that they compare with true time; long ids shortened.
#pragma once

#include <string>

#include "protocol/spanner/mutation.h"
#include "protocol/spanner/value.h"
#include "protocol/token.h"
#include "sim/scenario/instant.h"

namespace whorl::sim {

// "12.345678": seconds since the start. Every report for people shows instants like this.
std::string InstantText(Instant at);

// "12.345678", "\"a\"", "NULL".
std::string ShortValueText(const Value& value);
// A value of a note: a string without quotes.
std::string NoteValueText(const Value& value);
// "12.345678", or "42" for an epoch.
std::string TokenText(const Token& token);

// The value of a row's key column, and of a key: a string without quotes.
std::string RowKeyText(const Row& row, size_t key_column);
std::string KeyText(const Value& key);

}  // namespace whorl::sim
