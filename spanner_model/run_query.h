// Runs a SELECT.
#pragma once

#include "protocol/spanner/sql.h"
#include "spanner_model/execute.h"
#include "spanner_model/sql/plan.h"

namespace whorl::model {

// The rows in the order asked for, else in that of the key. Without an order no more rows are
// evaluated than LIMIT needs.
StatementResult RunQuery(const ExecutionInput& input, const SelectPlan& plan);

}  // namespace whorl::model
