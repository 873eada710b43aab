// Where the rows that a WHERE can keep are to be looked for.
#pragma once

#include "spanner_model/schema.h"
#include "spanner_model/sql/bound.h"
#include "spanner_model/sql/plan.h"

namespace whorl::model {

// The narrowest access that the conditions joined by the top-level AND of `where` allow: every key
// column equal to an expression without columns, else a prefix of a key that is one STRING, else
// the whole table. OR, ranges and IS NULL do not narrow.
Access FindAccess(const Table& table, const Bound& where);

}  // namespace whorl::model
