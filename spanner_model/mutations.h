// Mutations as writes of a Commit.
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
  std::vector<BufferedWrite> writes;  // the transaction's, and on top of them the mutations'
  // What the rows that are there refuse: ALREADY_EXISTS, NOT_FOUND. It counts once nothing that is
  // committing is in the way any more.
  std::optional<Status> refused;
  // What the mutations themselves are refused for, whatever the rows: NOT_FOUND of a table or a
  // column, FAILED_PRECONDITION of a value.
  std::optional<Status> invalid;
};

// `now`: no timestamp may be later that goes to a column with allow_commit_timestamp.
MutationWrites ApplyMutations(const Schema& schema, std::span<const StoredTable> tables,
                              std::vector<BufferedWrite> writes,
                              std::span<const Mutation> mutations, Timestamp now);

}  // namespace whorl::model
