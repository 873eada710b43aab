// Finds writes to the lock table that no process of the protocol can have made: by an operator, a restored backup,
// or a row deletion policy.
//
// The protocol's statements decide: a column that a statement sets to PENDING_COMMIT_TIMESTAMP() holds the commit
// timestamp, and a row that no statement deletes is not deleted. An unknown value counts as one that a process may
// have written. If the rules do not know the statements, only system transactions are found.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "check/operation.h"
#include "protocol/protocols.h"
#include "sim/scenario/rules.h"

namespace whorl::check {

struct OutsideRules {
  explicit OutsideRules(const ProtocolInfo& judged);

  // What shows it, for people: "set heartbeat to .., which is not its commit timestamp"; empty: a process may have
  // made the change. `before`: what is known of the row; empty: it was not there.
  std::string Why(const RowChange& change, const KnownRow& before) const;

  const ProtocolInfo& protocol;
  const sim::StatementRules& statements;
  // Columns, if the protocol has them.
  std::optional<size_t> holder;
  std::optional<size_t> token;
  std::optional<size_t> renewed;
  std::optional<size_t> until;
};

}  // namespace whorl::check
