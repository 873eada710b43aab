// Names the rights that a protocol needs on its table, and the statements that show whether a role, or an
// account, has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "real_client/lock_table.h"
#include "sim/scenario/add_protocol.h"

namespace whorl::cli {

// The privileges of Spanner's fine-grained access control.
enum class Right : uint8_t { kSelect, kInsert, kUpdate, kDelete };
constexpr auto WordTableOf(Right) {
  return MakeWordTable<Right>({
      {Right::kSelect, "SELECT"},
      {Right::kInsert, "INSERT"},
      {Right::kUpdate, "UPDATE"},
      {Right::kDelete, "DELETE"},
  });
}

struct NeededRight {
  Right right = Right::kSelect;
  // The only command that needs it; empty: processes of the protocol do.
  std::string_view only_command;
};
std::vector<NeededRight> RightsNeededBy(const ProtocolInfo& info);

// Succeeds only with this right, needs no other one, and changes no row. REQUIRES: the table is valid.
Transaction TransactionThatNeeds(Right right, const ProtocolInfo& info, const std::string& table);

// "GRANT INSERT ON TABLE fenced_locks TO ROLE locker"
std::string GrantOf(Right right, std::string_view table, std::string_view role);

}  // namespace whorl::cli
