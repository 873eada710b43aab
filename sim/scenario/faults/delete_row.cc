#include "base/text.h"
#include "sim/scenario/faults/keys.h"
#include "sim/scenario/operator_write.h"

namespace whorl::sim {

FaultInfo DeleteRowFault::Describe() {
  return {.word = "delete_row",
          .about =
              "an operator deletes a row of the protocol's table, by a transaction that waits "
              "for locks as any other",
          .keys = RowKeys(),
          .has_node = false,
          .example = R"({ "at": "20s", "do": "delete_row", "lock": "lock" })"};
}

std::string DeleteRowFault::Detail() const { return Printable(target.row); }

OperatorWrite DeleteRowFault::Writes(const OperatedRow& row) const {
  Mutation deletion;
  deletion.kind = MutationKind::kDelete;
  deletion.table = row.protocol.table;
  deletion.keys.keys.push_back({row.key});
  return deletion;
}

}  // namespace whorl::sim
