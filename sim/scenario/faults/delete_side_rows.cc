#include "base/text.h"
#include "sim/scenario/faults/keys.h"
#include "sim/scenario/operator_write.h"

namespace whorl::sim {

FaultInfo DeleteSideRowsFault::Describe() {
  return {.word = "delete_side_rows",
          .about =
              "an operator deletes the rows beside the lock's own, whose keys begin with its "
              "name and _, in a transaction that waits for locks as any other",
          .keys = RowKeys(),
          .has_node = false,
          .is_noun = false,
          .example = R"({ "at": "20s", "do": "delete_side_rows", "lock": "lock" })"};
}

std::string DeleteSideRowsFault::Detail() const { return Printable(target.row); }

void DeleteSideRowsFault::Check(const FaultReading& reading) const {
  const ProtocolInfo* protocol = FindProtocol(reading.scenario.protocol);
  if (protocol == nullptr || !protocol->takes_one_lock) return;
  reading.AddAtKey("do", Cat(protocol->name, " has one row, and none beside it"));
}

OperatorWrite DeleteSideRowsFault::Writes(const OperatedRow& row) const {
  std::string_view key;
  for (const ColumnInfo& column : row.protocol.columns) {
    if (column.key) key = column.name;
  }
  const std::string text =
      Cat("DELETE FROM ", row.protocol.table, " WHERE STARTS_WITH(", key, ", @prefix)");
  return Statement{.sql = Sql::Intern(text, {{.name = "prefix", .type = Type::kString}}),
                   .parameters = {row.name + "_"}};
}

}  // namespace whorl::sim
