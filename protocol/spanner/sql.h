// Holds one text of SQL, with the names and types of its parameters.
//
// Invariants:
//   1. A text is interned: the same text with the same parameters is one object that is never
//      freed, so a handle is one pointer, == is one comparison, and a statement costs no copy.
//   2. index() numbers texts in the order in which this process first saw them. It finds a plan
//      in an array and must reach no trace and no fingerprint; digest() is what these use.
//   3. A text that is not interned is borrowed: its owner keeps it as long as any handle exists.
//      A server does that, because it receives any number of texts.
// Texts are interned when a configuration is made, not during a run; any thread may call Intern.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"

namespace whorl {

struct Parameter {
  std::string name;  // without the @
  Type type = Type::kString;
  WHORL_FIELDS(Parameter, name, type);
};

struct SqlText {
  std::string text;
  std::vector<Parameter> parameters;
  uint64_t digest = 0;
  uint32_t index = kNotInterned;

  static constexpr uint32_t kNotInterned = std::numeric_limits<uint32_t>::max();
};

// With its digest. REQUIRES: the names of `parameters` differ.
SqlText MakeSqlText(std::string_view text, std::vector<Parameter> parameters);

class Sql {
 public:
  // The empty text, which Spanner would refuse.
  Sql();
  static Sql Intern(std::string_view text, std::vector<Parameter> parameters = {});
  // REQUIRES: `text` outlives every copy of the handle, and was made by MakeSqlText.
  static Sql Borrow(const SqlText& text) { return Sql(&text); }

  const std::string& text() const { return text_->text; }
  const std::vector<Parameter>& parameters() const { return text_->parameters; }
  uint64_t digest() const { return text_->digest; }
  uint32_t index() const { return text_->index; }

  friend bool operator==(Sql, Sql) = default;

 private:
  explicit Sql(const SqlText* text) : text_(text) {}
  const SqlText* text_;
};

// A statement as it goes to Spanner: `parameters` in the order of sql.parameters().
struct Statement {
  Sql sql;
  std::vector<Value> parameters;
  // The transaction goes on when this statement fails (spindle's clean-up does not look).
  bool ignore_error = false;
  WHORL_FIELDS(Statement, sql, parameters, ignore_error);
};

// The answer to one statement.
struct StatementResult {
  Status status;
  std::vector<Row> rows;
  int64_t row_count = 0;  // exact count of rows changed by DML
  WHORL_FIELDS(StatementResult, status, rows, row_count);
};

}  // namespace whorl
