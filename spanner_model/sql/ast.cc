#include "spanner_model/sql/ast.h"

#include <algorithm>

#include "spanner_model/sql/words.h"

namespace whorl::model::ast {

bool IsSame(const Expression& a, const Expression& b) {
  // A name is the same column with and without its table, and in backquotes.
  const auto is_name = [](const Expression& one) {
    return one.kind == ExpressionKind::kName || one.kind == ExpressionKind::kQuotedName;
  };
  if (is_name(a) && is_name(b)) return EqualIgnoringCase(a.text, b.text);
  if (a.kind != b.kind || a.op != b.op || a.type != b.type || a.star != b.star) return false;
  if (a.typed != b.typed || a.query != b.query) return false;
  const bool is_text = a.kind == ExpressionKind::kTypedLiteral;
  if (is_text ? a.text != b.text : !EqualIgnoringCase(a.text, b.text)) return false;
  if (a.value.index() != b.value.index() || CompareValues(a.value, b.value) != 0) return false;
  return std::ranges::equal(a.operands, b.operands, IsSame);
}

}  // namespace whorl::model::ast
