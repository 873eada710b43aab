// Draws random SQL expressions, mostly well typed, in the model's dialect.
//
// A TIMESTAMP column may hold a time that differs between two runs. Expressions compare it, return
// it and order by it, but do not compute with it.
#pragma once

#include <string>
#include <vector>

#include "spanner_model/schema.h"
#include "tests/differential/draw.h"
#include "tests/differential/sequence.h"

namespace whorl::differential {

enum class Failing : uint8_t {
  kMay,    // an evaluation may be an error (overflow, a bad cast)
  kNever,  // no evaluation of a well-typed expression fails
};

class ExpressionMaker {
 public:
  // Adds the parameters of its expressions to `call`. Uses no columns if `table` is null. `commits`
  // are the operations whose commit timestamps may be used.
  ExpressionMaker(Draw& draw, Call& call, const model::Table* table,
                  const std::vector<int>& commits)
      : draw_(draw), call_(call), table_(table), commits_(commits) {}

  std::string Make(Type type, int depth, Failing failing = Failing::kMay);
  // A literal or a parameter, sometimes NULL.
  std::string Constant(Type type);
  // `value` as a literal or a parameter.
  std::string Write(const Value& value, Type type);
  // A value that a row of the database may hold.
  Value DrawStored(Type type);

 private:
  std::string MakeTyped(Type type, int depth, Failing failing);
  std::string Leaf(Type type);
  std::string Bool(int depth, Failing failing);
  std::string Comparison(int depth, Failing failing);
  std::string Subquery(Type type, const std::string& left, const std::string& negated, int depth);
  std::string Int64(int depth, Failing failing);
  std::string Float64(int depth, Failing failing);
  std::string String(int depth, Failing failing);
  std::string Bytes(int depth, Failing failing);
  std::string Timestamp(int depth, Failing failing);
  std::string OfAnyType(Type type, int depth, Failing failing);
  // A TIMESTAMP that is the same in every run.
  std::string FixedTimestamp();

  Draw& draw_;
  Call& call_;
  const model::Table* table_;
  const std::vector<int>& commits_;
};

}  // namespace whorl::differential
