// Writes to the lock table that no process of the protocol can have made: by an operator, a restored backup, or
// a row deletion policy.
//
// By the statements of each protocol: a column that a statement sets to PENDING_COMMIT_TIMESTAMP() is its commit
// timestamp, and a row that no statement deletes is not deleted. What is not known counts as what a process may
// have written. Of a protocol that is not whorl's own only system transactions are told.
#pragma once

#include <string>

#include "check/operation.h"
#include "protocol/protocols.h"
#include "sim/scenario/rules.h"

namespace whorl::check {

// What shows it, for people: "set heartbeat to .., which is not its commit timestamp"; empty: a process may have
// made the change. `before`: what is known of the row; empty: it was not there.
std::string WhyOutside(const ProtocolInfo& protocol, const RowChange& change,
                       const KnownRow& before);

}  // namespace whorl::check
