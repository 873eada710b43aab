// Runs a SELECT.
#pragma once

#include "protocol/spanner/sql.h"
#include "spanner_model/execute.h"
#include "spanner_model/sql/plan.h"

namespace whorl::model {

// The rows in the order of ORDER BY, or else of their keys. Without ORDER BY, it evaluates no more
// rows than LIMIT needs.
StatementResult RunQuery(const ExecutionInput& input, const SelectPlan& plan);

}  // namespace whorl::model
