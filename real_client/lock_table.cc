#include "real_client/lock_table.h"

#include <absl/strings/str_replace.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/utf8.h"

namespace whorl::real_client {
namespace {

// Spanner's limit for a key (8 KiB), minus the overhead of a row's encoding and the suffix that
// spindle_v2 appends to the name of a takeover row: "_" and up to 20 digits.
constexpr size_t kKeyBytesMax = 8192;
constexpr size_t kKeyOverhead = 64;
constexpr size_t kIdentifierMax = 128;

// Between the id and the value. No id or value contains it.
constexpr char kUnitSeparator = '\x1f';

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

// The columns of a read of holdings, in order. Columns that the protocol lacks are left out.
using Part = std::string_view HolderColumns::*;
constexpr std::array<Part, 7> kParts = {
    &HolderColumns::lock,    &HolderColumns::holder, &HolderColumns::since, &HolderColumns::token,
    &HolderColumns::renewed, &HolderColumns::until,  &HolderColumns::lease};

// Reads the columns of a row of ReadHoldings in order.
class HoldingRow {
 public:
  HoldingRow(const HolderColumns& columns, const Row& row) : row_(row) {
    size_t next = 0;
    for (size_t i = 0; i < kParts.size(); ++i) {
      if (!(columns.*kParts[i]).empty()) at_[i] = next++;
    }
  }
  // nullopt for NULL, or if the table has no such column.
  template <typename T>
  std::optional<T> Get(Part part) const {
    for (size_t i = 0; i < kParts.size(); ++i) {
      if (kParts[i] == part && at_[i]) return As<T>(row_[*at_[i]]);
    }
    return std::nullopt;
  }
  Timestamp now() const { return As<Timestamp>(row_.back()).value_or(Timestamp()); }

 private:
  template <typename T>
  static std::optional<T> As(const Value& value) {
    if constexpr (std::is_same_v<T, Token>) {
      return Token::In(value);
    } else {
      const T* typed = std::get_if<T>(&value);
      return typed == nullptr ? std::nullopt : std::optional(*typed);
    }
  }

  const Row& row_;
  std::array<std::optional<size_t>, kParts.size()> at_{};
};

// A lock without a holder, which no process may take before `free_at`.
Holding FreeFrom(Timestamp free_at, Timestamp now, Holding holding) {
  holding.holder.clear();
  if (free_at <= now) return holding;
  holding.free_at = free_at;
  holding.left = free_at - now;
  return holding;
}

Holding HoldingIn(const ProtocolInfo& info, const HoldingRow& row, Duration lease) {
  Holding holding;
  holding.lock = row.Get<std::string>(&HolderColumns::lock).value_or(std::string(info.table));
  holding.holder = row.Get<std::string>(&HolderColumns::holder).value_or("");
  if (const size_t end = holding.holder.find(kUnitSeparator); end != std::string::npos) {
    holding.value = holding.holder.substr(end + 1);
    holding.holder = IdIn(holding.holder);
  }
  holding.renewed = row.Get<Timestamp>(&HolderColumns::renewed);
  if (holding.renewed) holding.age = row.now() - *holding.renewed;
  if (holding.holder.empty()) {
    // A release keeps the token, so that a row without one has only been made.
    if (row.Get<Token>(&HolderColumns::token)) holding.last_until = holding.renewed;
    return holding;
  }
  holding.since = row.Get<Timestamp>(&HolderColumns::since);
  holding.token = row.Get<Token>(&HolderColumns::token);
  const auto until = row.Get<Timestamp>(&HolderColumns::until);
  const auto own_lease = row.Get<int64_t>(&HolderColumns::lease);
  if (own_lease) lease = Milliseconds(*own_lease);
  if (holding.holder == kInitHolder && !holding.token && holding.renewed) {
    const Timestamp free_at = *holding.renewed + lease * info.first_look_leases;
    return FreeFrom(free_at, row.now(), std::move(holding));
  }
  if (until) holding.left = *until - row.now();
  if (holding.renewed) holding.left = *holding.renewed - row.now() + lease + info.lease_grace;
  if (holding.left) holding.until = row.now() + *holding.left;
  // An operator who ends a lease sets some protocols' heartbeats back to 1970, which says nothing.
  const bool is_set_back = holding.renewed && *holding.renewed <= Timestamp();
  if (holding.left && *holding.left <= Duration() && !is_set_back) {
    holding.last_until = holding.until;
  }
  return holding;
}

Transaction HoldingsWhere(const ProtocolInfo& info, const std::string& table,
                          const std::string& where, std::vector<Parameter> parameters,
                          std::vector<Value> values) {
  std::string sql = "SELECT ";
  for (const Part part : kParts) {
    const std::string_view column = info.holder_columns.*part;
    if (!column.empty()) sql += std::string(column) + ", ";
  }
  sql += "CURRENT_TIMESTAMP() AS now FROM " + table + where;
  return OneStatement(operator_steps::kList, Mode::kStrongRead,
                      Sql::Intern(sql, std::move(parameters)), std::move(values));
}

struct Argument {
  std::string_view name;
  Type type;
  Value value;
};

// Optimistic, like all transactions of operators: they leave no locks behind if the process hangs.
Transaction WriteOf(const std::string& sql, std::vector<Argument> arguments) {
  std::vector<Parameter> parameters;
  std::vector<Value> values;
  for (Argument& argument : arguments) {
    if (sql.find("@" + std::string(argument.name)) == std::string::npos) continue;
    parameters.push_back({.name = std::string(argument.name), .type = argument.type});
    values.push_back(std::move(argument.value));
  }
  Transaction transaction =
      OneStatement(operator_steps::kChange, Mode::kReadWrite,
                   Sql::Intern(sql, std::move(parameters)), std::move(values));
  transaction.lock_mode = LockMode::kOptimistic;
  return transaction;
}

// Inserts a row whose other columns are NULL.
Transaction InsertOf(const std::string& table, std::vector<std::string> columns, Row row) {
  Mutation insert = {.kind = MutationKind::kInsert, .table = table};
  insert.columns = std::move(columns);
  insert.rows = {std::move(row)};
  return {.step = operator_steps::kChange,
          .mode = Mode::kReadWrite,
          .mutations = {std::move(insert)},
          .lock_mode = LockMode::kOptimistic};
}

Type TypeOf(const ProtocolInfo& info, std::string_view column) {
  return std::ranges::find(info.columns, column, &ColumnInfo::name)->type;
}

}  // namespace

std::string WithTable(std::string_view text, std::string_view from, std::string_view to) {
  return absl::StrReplaceAll({text.data(), text.size()}, {{std::string(from), std::string(to)}});
}

bool IsIdentifier(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789_";
  return !name.empty() && name.size() <= kIdentifierMax &&
         kLetters.find(name.front()) != std::string_view::npos &&
         std::ranges::all_of(name, [&](char c) {
           return kLetters.find(c) != std::string_view::npos ||
                  kDigits.find(c) != std::string_view::npos;
         });
}

Status ValidateTable(const std::string& table) {
  if (IsIdentifier(table)) return {};
  return Error(Code::kInvalidArgument,
               "table \"" + table + "\": expected a letter, then letters, digits and _, at most " +
                   std::to_string(kIdentifierMax) + " in all");
}

Status ValidateLockName(const ProtocolInfo& info, const std::string& name) {
  if (name.empty()) return Error(Code::kInvalidArgument, "a lock's name is empty");
  if (!IsUtf8(name)) return Error(Code::kInvalidArgument, "a lock's name is no UTF-8");
  if (!info.takes_one_lock && name.size() > kKeyBytesMax - kKeyOverhead) {
    return Error(Code::kInvalidArgument, "a lock's name has " + std::to_string(name.size()) +
                                             " bytes, and Spanner's keys "
                                             "leave room for " +
                                             std::to_string(kKeyBytesMax - kKeyOverhead));
  }
  return {};
}

Transaction ProbeOf(const ProtocolInfo& info, const std::string& table) {
  std::string sql = "SELECT ";
  for (const ColumnInfo& column : info.columns) {
    if (&column != &info.columns.front()) sql += ", ";
    sql += column.name;
  }
  return OneStatement(operator_steps::kProbe, Mode::kStrongRead,
                      Sql::Intern(sql + " FROM " + table + " LIMIT 1"), {});
}

std::optional<Transaction> ForeignProbeOf(const ProtocolInfo& info, const std::string& table,
                                          const ProtocolInfo*& whose) {
  for (const ProtocolInfo& other : Protocols()) {
    if (&other == &info || other.columns.size() <= info.columns.size()) continue;
    const auto has = [](const ProtocolInfo& protocol, const ColumnInfo& column) {
      return std::ranges::find(protocol.columns, column.name, &ColumnInfo::name) !=
             protocol.columns.end();
    };
    const bool contains = std::ranges::all_of(
        info.columns, [&](const ColumnInfo& column) { return has(other, column); });
    if (!contains) continue;
    std::string sql;
    for (const ColumnInfo& column : other.columns) {
      if (!has(info, column)) sql += (sql.empty() ? "SELECT " : ", ") + std::string(column.name);
    }
    whose = &other;
    return OneStatement(operator_steps::kProbe, Mode::kStrongRead,
                        Sql::Intern(sql + " FROM " + table + " LIMIT 1"), {});
  }
  return std::nullopt;
}

Status JudgeForeignProbe(const ProtocolInfo& info, const std::string& table,
                         const ProtocolInfo& whose, const Status& read) {
  if (read.ok()) {
    return Error(Code::kInvalidArgument,
                 "the table " + table + " is " + std::string(whose.name) + "'s, and locks by " +
                     std::string(info.name) +
                     " in it would be taken by processes of both; name "
                     "another table (real_client/README.md says how to migrate)");
  }
  const bool lacks_it = read.code == Code::kInvalidArgument || read.code == Code::kNotFound;
  return lacks_it ? Status() : read;
}

Transaction ReadHoldings(const ProtocolInfo& info, const std::string& table,
                         const std::optional<std::string>& name) {
  const std::string_view lock = info.holder_columns.lock;
  if (!name || lock.empty()) return HoldingsWhere(info, table, {}, {}, {});
  return HoldingsWhere(info, table, " WHERE " + std::string(lock) + " = @name",
                       {{.name = "name", .type = Type::kString}}, {*name});
}

Transaction ReadHoldings(const ProtocolInfo& info, const std::string& table,
                         std::span<const std::string> names) {
  const std::string lock(info.holder_columns.lock);
  if (lock.empty()) return HoldingsWhere(info, table, {}, {}, {});
  std::string where;
  std::vector<Parameter> parameters;
  std::vector<Value> values;
  for (const std::string& name : names) {
    const std::string parameter = "name" + std::to_string(values.size());
    where += (values.empty() ? " WHERE " + lock + " IN (@" : ", @") + parameter;
    parameters.push_back({.name = parameter, .type = Type::kString});
    values.emplace_back(name);
  }
  return HoldingsWhere(info, table, where + ")", std::move(parameters), std::move(values));
}

Transaction ReadHoldings(const ProtocolInfo& info, const std::string& table,
                         const ListRange& range) {
  if (info.holder_columns.lock.empty()) return HoldingsWhere(info, table, {}, {}, {});
  const std::string lock(info.holder_columns.lock);
  std::string where = " WHERE STARTS_WITH(" + lock + ", @prefix) AND " + lock + " > @after";
  // HoldingsIn leaves these rows out: a page must not be full of them.
  if (!info.holder_columns.token.empty() && !info.holder_columns.renewed.empty()) {
    where += " AND " + std::string(info.holder_columns.renewed) + " IS NOT NULL";
  }
  where += " ORDER BY " + lock;
  if (range.limit > 0) where += " LIMIT " + std::to_string(range.limit);
  return HoldingsWhere(
      info, table, where,
      {{.name = "prefix", .type = Type::kString}, {.name = "after", .type = Type::kString}},
      {range.prefix, range.after});
}

std::optional<Transaction> DeleteTransaction(const ProtocolInfo& info, const std::string& table,
                                             const Holding& listed) {
  if (info.delete_lock.empty() || !listed.renewed) return std::nullopt;
  return WriteOf(WithTable(info.delete_lock, info.table, table),
                 {{.name = "name", .type = Type::kString, .value = listed.lock},
                  {.name = "seen", .type = Type::kTimestamp, .value = *listed.renewed}});
}

std::vector<Holding> HoldingsIn(const ProtocolInfo& info, const std::vector<Row>& rows,
                                Duration lease) {
  std::vector<Holding> holdings;
  for (const Row& row : rows) {
    const HoldingRow read(info.holder_columns, row);
    // A takeover row of spindle_v2 is no lock.
    if (!info.holder_columns.token.empty() && !read.Get<Timestamp>(&HolderColumns::renewed)) {
      continue;
    }
    holdings.push_back(HoldingIn(info, read, lease));
  }
  std::ranges::sort(holdings, {}, &Holding::lock);
  return holdings;
}

Holding CurrentHolding(std::vector<Holding> holdings, const std::string& lock) {
  if (!holdings.empty() && holdings[0].is_held()) return std::move(holdings[0]);
  Holding free;
  free.lock = lock;
  return free;
}

std::string IdIn(const std::string& content) {
  return content.substr(0, content.find(kUnitSeparator));
}

std::string IdWithValue(const std::string& id, const std::string& value) {
  return value.empty() ? id : id + kUnitSeparator + value;
}

std::optional<Transaction> InitTransaction(const ProtocolInfo& info, const std::string& table,
                                           const std::string& name) {
  if (!info.init_row.empty()) {
    std::vector<std::string> columns;
    for (const ColumnInfo& column : info.columns) columns.emplace_back(column.name);
    return InsertOf(table, std::move(columns), info.init_row);
  }
  if (info.init_lock.empty()) return std::nullopt;
  return WriteOf(WithTable(info.init_lock, info.table, table),
                 {{.name = "name", .type = Type::kString, .value = name}});
}

Transaction InitHeldTransaction(const ProtocolInfo& info, const std::string& table,
                                const std::string& name, Timestamp free_at, Duration lease) {
  const HolderColumns& holder = info.holder_columns;
  std::vector<std::string> columns;
  Row row;
  const auto add = [&](std::string_view column, Value value) {
    columns.emplace_back(column);
    row.push_back(std::move(value));
  };
  for (size_t i = 0; i < info.columns.size(); ++i) {
    const std::string_view column = info.columns[i].name;
    if (column == holder.lock) {
      add(column, name);
    } else if (column == holder.holder) {
      add(column, std::string(kInitHolder));
    } else if (column == holder.renewed) {
      add(column, free_at - lease * info.first_look_leases);
    } else if (column == holder.until) {
      add(column, free_at);
    } else if (column == holder.lease) {
      add(column, (lease.ns + 999'999) / 1'000'000);
    } else if (info.columns[i].key) {
      add(column, info.init_row[i]);
    }
  }
  return InsertOf(table, std::move(columns), std::move(row));
}

std::optional<Transaction> ForceReleaseTransaction(const ProtocolInfo& info,
                                                   const std::string& table,
                                                   const std::string& name,
                                                   const ReleaseTarget& only) {
  if (info.force_release.empty()) return std::nullopt;
  const HolderColumns& columns = info.holder_columns;
  std::string sql = WithTable(info.force_release, info.table, table);
  std::vector<Argument> arguments = {{.name = "name", .type = Type::kString, .value = name}};
  // The statement that frees decides: a process that has taken the lock meanwhile keeps it.
  if (only.holder) {
    const std::string column(columns.holder);
    sql += " AND (" + column + " = @holder OR STARTS_WITH(" + column + ", @holder_with_value))";
    arguments.push_back({.name = "holder", .type = Type::kString, .value = *only.holder});
    arguments.push_back({.name = "holder_with_value",
                         .type = Type::kString,
                         .value = *only.holder + kUnitSeparator});
  }
  if (only.token) {
    const Type type = TypeOf(info, columns.token);
    const auto number = static_cast<int64_t>(*only.token);
    sql += " AND " + std::string(columns.token) + " = @token";
    arguments.push_back(
        {.name = "token",
         .type = type,
         .value = type == Type::kInt64 ? Value(number) : Value(Timestamp() + Nanoseconds(number))});
  }
  return WriteOf(sql, std::move(arguments));
}

}  // namespace whorl::real_client
