#include "cli/lock/rights.h"

#include "base/text.h"
#include "real_client/lock_table.h"

namespace whorl::cli {
namespace {

// NULL has the type INT64 where nothing else says which.
std::string SqlOfInsert(const ProtocolInfo& info, const std::string& table) {
  std::string names;
  std::string values;
  for (const ColumnInfo& column : info.columns) {
    const std::string_view comma = names.empty() ? "" : ", ";
    names += Cat(comma, column.name);
    values += Cat(comma, "CAST(NULL AS ", WordOf(column.type), ")");
  }
  return Cat("INSERT INTO ", table, " (", names, ") SELECT ", values, " LIMIT 0");
}

// A column in WHERE would need SELECT, too.
std::string SqlOfUpdate(const ProtocolInfo& info, const std::string& table) {
  std::string assignments;
  for (const ColumnInfo& column : info.columns) {
    if (!column.key) assignments += Cat(assignments.empty() ? "" : ", ", column.name, " = NULL");
  }
  return Cat("UPDATE ", table, " SET ", assignments, " WHERE FALSE");
}

}  // namespace

std::vector<NeededRight> RightsNeededBy(const ProtocolInfo& info) {
  // The one row of such a protocol is made by an operator, and stays.
  const bool has_one_row = !info.init_row.empty();
  std::vector<NeededRight> rights = {
      {.right = Right::kSelect, .only_command = {}},
      {.right = Right::kInsert, .only_command = has_one_row ? "whorl lock init" : ""},
      {.right = Right::kUpdate, .only_command = {}}};
  if (has_one_row) return rights;
  // Processes leave their rows where an operator has a statement that deletes them.
  rights.push_back({.right = Right::kDelete,
                    .only_command = info.delete_lock.empty() ? "" : "whorl lock delete"});
  return rights;
}

Transaction TransactionThatNeeds(Right right, const ProtocolInfo& info, const std::string& table) {
  std::string sql;
  switch (right) {
    case Right::kSelect:
      return real_client::ProbeOf(info, table);
    case Right::kInsert:
      sql = SqlOfInsert(info, table);
      break;
    case Right::kUpdate:
      sql = SqlOfUpdate(info, table);
      break;
    case Right::kDelete:
      sql = Cat("DELETE FROM ", table, " WHERE FALSE");
      break;
  }
  Transaction transaction =
      OneStatement(real_client::operator_steps::kProbe, Mode::kReadWrite, Sql::Intern(sql, {}), {});
  // Waits for nobody's row locks, and leaves none behind.
  transaction.lock_mode = LockMode::kOptimistic;
  return transaction;
}

std::string GrantOf(Right right, std::string_view table, std::string_view role) {
  return Cat("GRANT ", WordOf(right), " ON TABLE ", table, " TO ROLE ", role);
}

}  // namespace whorl::cli
