// CAST between the six types.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"

namespace whorl::model {

// Whether GoogleSQL has a CAST from one to the other.
bool CanCast(Type from, Type to);

// The value as the other type. OUT_OF_RANGE when this value has none, which SAFE_CAST turns into
// NULL; INVALID_ARGUMENT when the model cannot tell (years before 1967 on the clock of Los
// Angeles). REQUIRES: CanCast, and the value is of `from` and not NULL.
std::variant<Value, Status> CastValue(const Value& value, Type from, Type to);

// The error of a text that is no timestamp, for CAST and for the coercion of a parameter.
std::variant<Value, Status> TimestampOf(const std::string& text);

}  // namespace whorl::model
