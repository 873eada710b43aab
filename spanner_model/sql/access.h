// The part of a table that a statement has to search for the rows that its WHERE keeps.
#pragma once

#include "spanner_model/schema.h"
#include "spanner_model/sql/bound.h"
#include "spanner_model/sql/plan.h"

namespace whorl::model {

// The narrowest access that the top-level AND conditions of `where` allow: one key if every key
// column equals an expression without columns, else a prefix of a key that is one STRING, else the
// whole table. OR, ranges and IS NULL do not narrow it.
Access FindAccess(const Table& table, const Bound& where);

}  // namespace whorl::model
