#include "base/text.h"
#include "sim/scenario/faults/keys.h"
#include "sim/scenario/operator_write.h"

namespace whorl::sim {

FaultInfo ReleaseRowFault::Describe() {
  return {.word = "release_row",
          .about =
              "an operator ends the current lease, by the statement with which `whorl lock release "
              "--force` does it, in a transaction that waits for locks as any other",
          .keys = RowKeys(),
          .has_node = false,
          .is_noun = false,
          .example = R"({ "at": "20s", "do": "release_row", "lock": "lock" })"};
}

std::string ReleaseRowFault::Detail() const { return Printable(target.row); }

void ReleaseRowFault::Check(const FaultReading& reading) const {
  const ProtocolInfo* protocol = FindProtocol(reading.scenario.protocol);
  if (protocol == nullptr || !protocol->force_release.empty()) return;
  reading.AddAtKey("do", Cat(protocol->name,
                             " has no statement that releases a lock by force; an "
                             "operator of it can use \"delete_row\""));
}

OperatorWrite ReleaseRowFault::Writes(const OperatedRow& row) const {
  const std::string text(row.protocol.force_release);
  if (text.find("@name") == std::string::npos) {
    return Statement{.sql = Sql::Intern(text), .parameters = {}};
  }
  return Statement{.sql = Sql::Intern(text, {{.name = "name", .type = Type::kString}}),
                   .parameters = {row.name}};
}

}  // namespace whorl::sim
