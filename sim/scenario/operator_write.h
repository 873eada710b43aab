// Makes what an operator writes to a row of the protocol's table.
#pragma once

#include <string>
#include <variant>

#include "protocol/protocols.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/value.h"
#include "sim/scenario/faults/kinds.h"

namespace whorl::sim {

// The row on which an operator acts.
struct OperatedRow {
  const ProtocolInfo& protocol;
  Value key;         // in the protocol's table
  std::string name;  // the key as text: @name of the protocol's statements
};

// OperatorWrite (faults/kinds.h): one mutation, or one DML statement in a read-write transaction.

// What the fault of an operator writes. REQUIRES: TargetOf(fault) is not null.
OperatorWrite OperatorWriteOf(const AnyFault& fault, const OperatedRow& row);

}  // namespace whorl::sim
