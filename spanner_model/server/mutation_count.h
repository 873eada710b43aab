// Counts the mutations of a transaction as Spanner's documentation does, except those of indexes, which the
// model does not have.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/spanner/mutation.h"
#include "protocol/spanner/status.h"
#include "spanner_model/schema.h"
#include "spanner_model/sql/plan.h"

namespace whorl::server {

// The most in a commit (cloud.google.com/spanner/quotas, 2026-11).
inline constexpr int64_t kMutationsMax = 80'000;

// Of one row of the plan's DML: each column that it affects is one, and so is a deletion.
int64_t MutationsOfRow(const model::Schema& schema, const model::Plan& plan);
// A deletion of a key or of a range is one; each column of a row is one otherwise.
int64_t CountMutations(const std::vector<Mutation>& mutations);
// Spanner's words, shortened.
Status TooManyMutations();

}  // namespace whorl::server
