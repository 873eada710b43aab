// Evaluates CAST between the six types.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"

namespace whorl::model {

// Whether GoogleSQL has a CAST from one to the other.
bool CanCast(Type from, Type to);

// Converts the value. OUT_OF_RANGE if it has no counterpart in `to`, which SAFE_CAST turns into
// NULL; INVALID_ARGUMENT if the model does not know it (local times of Los Angeles before 1967).
// REQUIRES: CanCast(from, to), and the value has type `from` and is not NULL.
std::variant<Value, Status> CastValue(const Value& value, Type from, Type to);

// The text as a TIMESTAMP, for CAST and for the coercion of a parameter; the error is that of a
// text that is no timestamp.
std::variant<Value, Status> TimestampOf(const std::string& text);

}  // namespace whorl::model
