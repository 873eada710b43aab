// Draws random tables, and statements, mutations and reads of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spanner_model/schema.h"
#include "tests/differential/draw.h"
#include "tests/differential/expressions.h"
#include "tests/differential/sequence.h"

namespace whorl::differential {

model::Table DrawTable(Draw& draw, const std::string& name);

enum class Typing : uint8_t { kRight, kMayBeWrong };

class StatementMaker {
 public:
  // `tables` is never empty; it may grow and shrink between calls. `commits` as in expressions.h.
  StatementMaker(Draw& draw, const std::vector<model::Table>& tables,
                 const std::vector<int>& commits)
      : draw_(draw), tables_(tables), commits_(commits) {}

  // Sets `ordered` if the query requests an order of rows.
  Call Query(bool& ordered);
  Call Dml();
  // Fills in the table, columns and keys of a read.
  void Read(Operation& read);
  std::vector<Mutation> Mutations(Typing typing);

 private:
  const model::Table& DrawTableOf() { return draw_.Of(tables_); }
  Call MaybeUndeclared(Call call);
  Call Insert(const model::Table& table);
  Call Update(const model::Table& table);
  Call Delete(const model::Table& table);
  std::string Where(Call& call, const model::Table& table);
  std::string Outputs(Call& call, const model::Table& table, int most, Failing failing);
  std::string Aggregates(Call& call, const model::Table& table);
  std::string ThenReturn(Call& call, const model::Table& table);
  std::string OrderAndLimit(Call& call, const model::Table& table, bool& ordered);
  Value DrawCell(const model::Column& column);
  Row DrawKey(const model::Table& table, size_t size);
  KeySet DrawKeys(const model::Table& table);
  KeySet DrawKeysToDelete(const model::Table& table);
  std::vector<const model::Column*> DrawColumns(const model::Table& table, bool all);

  Draw& draw_;
  const std::vector<model::Table>& tables_;
  const std::vector<int>& commits_;
};

}  // namespace whorl::differential
