#include "base/text.h"
#include "sim/scenario/faults/keys.h"
#include "sim/scenario/operator_write.h"

namespace whorl::sim {

FaultInfo EmptyRowFault::Describe() {
  return {.word = "empty_row",
          .about =
              "an operator empties a row of the protocol's table: every column but the key becomes "
              "NULL, by a transaction that waits for locks as any other",
          .keys = RowKeys(),
          .has_node = false,
          .is_noun = false,
          .example = R"({ "at": "20s", "do": "empty_row", "lock": "lock" })"};
}

std::string EmptyRowFault::Detail() const { return Printable(target.row); }

OperatorWrite EmptyRowFault::Writes(const OperatedRow& row) const {
  Mutation update;
  update.kind = MutationKind::kUpdate;
  update.table = row.protocol.table;
  Row& values = update.rows.emplace_back();
  for (const ColumnInfo& column : row.protocol.columns) {
    update.columns.emplace_back(column.name);
    values.push_back(column.key ? row.key : Value(Null{}));
  }
  return update;
}

}  // namespace whorl::sim
