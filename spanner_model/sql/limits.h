// Checks Spanner's limits of a parsed statement, before its names are resolved.
#pragma once

#include <cstddef>

#include "protocol/spanner/status.h"
#include "spanner_model/sql/ast.h"

namespace whorl::model {

// From cloud.google.com/spanner/quotas (2026-11). The words are the official emulator's, except those of
// the list of IN, which it does not limit.
inline constexpr size_t kFunctionsMax = 1'000;  // operators count, chains of AND and of OR once
inline constexpr size_t kNestedFunctionsMax = 75;
inline constexpr size_t kGroupingColumnsMax = 1'000;  // of DISTINCT, too
inline constexpr size_t kInListMax = 10'000;
inline constexpr size_t kNestedSubqueriesMax = 25;

// INVALID_ARGUMENT for a statement beyond a limit.
Status CheckLimits(const ast::Statement& statement);

}  // namespace whorl::model
