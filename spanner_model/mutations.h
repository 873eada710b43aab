// Computes the writes that the mutations of a Commit make.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "protocol/spanner/mutation.h"
#include "protocol/spanner/status.h"
#include "spanner_model/schema.h"
#include "spanner_model/storage.h"
#include "spanner_model/transaction.h"

namespace whorl::model {

struct MutationWrites {
  std::vector<BufferedWrite> writes;  // the transaction's, with the mutations' applied to them
  // The error that depends on the stored rows: ALREADY_EXISTS or NOT_FOUND. It holds only once no
  // committing transaction blocks these writes.
  std::optional<Status> refused;
  // The error that does not depend on rows: NOT_FOUND for an unknown table or column,
  // FAILED_PRECONDITION for a value.
  std::optional<Status> invalid;
};

// A column with allow_commit_timestamp takes no timestamp later than `now`.
MutationWrites ApplyMutations(const Schema& schema, std::span<const StoredTable> tables,
                              std::vector<BufferedWrite> writes,
                              std::span<const Mutation> mutations, Timestamp now);

}  // namespace whorl::model
