// Binds queries, and the outputs of queries and of THEN RETURN (statement_binding.h).
#include <algorithm>
#include <deque>
#include <utility>

#include "spanner_model/sql/information_schema.h"
#include "spanner_model/sql/source_error.h"
#include "spanner_model/sql/statement_binding.h"
#include "spanner_model/sql/words.h"

namespace whorl::model {
namespace {

void AddAllColumns(const Table& table, size_t offset, std::vector<BoundOutput>& outputs) {
  for (uint32_t column = 0; column < table.columns.size(); ++column) {
    Bound bound = MakeLeaf(Op::kColumn, table.columns[column].type, offset, column);
    bound.columns.Add(column);
    outputs.push_back({.name = table.columns[column].name, .bound = std::move(bound)});
  }
}

class SelectBinder {
 public:
  SelectBinder(const StatementContext& context, const ast::Select& select, const Table* table)
      : select_(select),
        table_(table),
        binder_(context.MakeBinder(table, select.table ? select.table->qualifier() : "")) {}

  std::variant<SelectPlan, Status> Run(uint32_t table) {
    plan_.table = table;
    if (table_ == nullptr) plan_.access.kind = AccessKind::kNothing;
    if (select_.where) {
      BoundWhere where = BindWhere(binder_, *table_, *select_.where);
      plan_.access = std::move(where.access);
      plan_.filter = std::move(where.filter);
      plan_.reads = where.reads;
    }
    BindItems();
    if (select_.having && !binder_.failed()) BindHaving(*select_.having);
    for (const ast::OrderItem& item : select_.order) BindOrder(item);
    // A literal of LIMIT is no output, even if it is written like one, or like a group's.
    binder_.LookInto({});
    binder_.GroupBy({});
    plan_.limit = BindLimit(select_.limit, "LIMIT");
    plan_.offset = BindLimit(select_.offset, "OFFSET");
    if (binder_.failed()) return binder_.TakeError();
    return std::move(plan_);
  }

 private:
  void BindItems() {
    const std::vector<ast::SelectItem> items = Items();
    BindGroups(items);
    const auto aggregate = std::ranges::find_if(
        items, [](const ast::SelectItem& item) { return HasAggregate(item.expression); });
    const bool aggregates = aggregate != items.end() || select_.having;
    if (aggregates || !groups_.empty()) {
      CheckAggregates(aggregate == items.end() ? items.front().offset : aggregate->offset, items);
    }
    if (binder_.failed()) return;
    outputs_ = BindOutputs(binder_, table_, items);
    if (binder_.failed()) return;
    plan_.outputs = FlattenOutputs(outputs_);
    plan_.reads.AddAll(ColumnsOf(outputs_));
  }

  // The items of the list. DISTINCT groups by all of them, so a star is written out for it.
  std::vector<ast::SelectItem> Items() {
    if (!select_.distinct || table_ == nullptr) return select_.items;
    std::vector<ast::SelectItem> items;
    for (const ast::SelectItem& item : select_.items) {
      if (!item.star) {
        items.push_back(item);
        continue;
      }
      if (!binder_.Qualifies(item.qualifier, item.offset)) break;
      for (const Column& column : table_->columns) {
        ast::SelectItem written{.offset = item.offset};
        written.expression.kind = ast::ExpressionKind::kQuotedName;
        written.expression.offset = item.offset;
        written.expression.text = column.name;
        items.push_back(std::move(written));
      }
    }
    return items;
  }

  // The keys of GROUP BY, or of DISTINCT: ordinals and aliases mean items.
  void BindGroups(const std::vector<ast::SelectItem>& items) {
    for (const ast::Expression& expression : select_.group) {
      const ast::Expression* key = KeyOf(expression, items);
      if (key != nullptr) group_expressions_.push_back(*key);
    }
    if (select_.distinct && table_ != nullptr) {
      const bool groups = !select_.group.empty() || select_.having ||
                          std::ranges::any_of(items, [](const ast::SelectItem& item) {
                            return HasAggregate(item.expression);
                          });
      if (groups && !binder_.failed()) {
        binder_.Fail(items.front().offset,
                     "DISTINCT beside GROUP BY or aggregates is not modelled");
      }
      for (const ast::SelectItem& item : items) group_expressions_.push_back(item.expression);
    }
    for (const ast::Expression& expression : group_expressions_) {
      GroupKey key{.expression = &expression, .bound = binder_.Bind(expression)};
      binder_.DefaultToInt64(key.bound);
      RefuseUnordered(key.bound, select_.distinct ? "DISTINCT" : "GROUP BY");
      if (binder_.failed()) return;
      plan_.reads.AddAll(key.bound.columns);
      plan_.groups.push_back(Flatten(key.bound));
      groups_.push_back(std::move(key));
    }
  }
  const ast::Expression* KeyOf(const ast::Expression& expression,
                               const std::vector<ast::SelectItem>& items) {
    if (HasAggregate(expression)) {
      binder_.Fail(expression.offset, "Aggregate functions are not allowed in GROUP BY");
      return nullptr;
    }
    if (expression.kind == ast::ExpressionKind::kLiteral) {
      const auto* number = std::get_if<int64_t>(&expression.value);
      if (number == nullptr) {
        binder_.Fail(expression.offset, "Cannot GROUP BY literal values");
      } else if (*number < 1 || static_cast<uint64_t>(*number) > items.size()) {
        binder_.Fail(expression.offset,
                     "GROUP BY is out of SELECT column number range: " + std::to_string(*number));
      } else {
        return &items[static_cast<size_t>(*number) - 1].expression;
      }
      return nullptr;
    }
    if (expression.kind != ast::ExpressionKind::kName || !expression.qualifier.empty()) {
      return &expression;
    }
    // A column is preferred to an alias of the same name.
    if (table_->FindColumn(expression.text)) return &expression;
    for (const ast::SelectItem& item : items) {
      if (EqualIgnoringCase(item.alias, expression.text)) return &item.expression;
    }
    return &expression;
  }

  // Makes this a query of aggregates or groups, or fails if it cannot be one.
  void CheckAggregates(size_t offset, const std::vector<ast::SelectItem>& items) {
    if (table_ == nullptr) {
      return binder_.Fail(offset, "Aggregate function not allowed in SELECT without FROM clause");
    }
    for (const ast::SelectItem& item : items) {
      if (!item.star) continue;
      return binder_.Fail(item.offset, "Star expansion expression references column " +
                                           table_->columns.front().name +
                                           " which is neither grouped nor aggregated");
    }
    plan_.is_grouped = true;
    binder_.AggregateInto(&plan_.aggregates);
    binder_.GroupBy(groups_);
  }

  void BindHaving(const ast::Expression& having) {
    binder_.LookInto(outputs_);
    Bound bound = binder_.Bind(having);
    if (!binder_.failed() && !binder_.Coerce(bound, Type::kBool)) {
      binder_.Fail(having.offset, "HAVING clause should return type BOOL, but returns " +
                                      std::string(WordOf(*bound.type)));
    }
    if (binder_.failed()) return;
    plan_.reads.AddAll(bound.columns);
    plan_.having = Flatten(bound);
  }

  void BindOrder(const ast::OrderItem& item) {
    if (binder_.failed()) return;
    Bound bound;
    const ast::Expression& expression = item.expression;
    if (expression.kind == ast::ExpressionKind::kLiteral) {
      const BoundOutput* output = FindOrdinal(expression);
      if (output == nullptr) return;
      bound = output->bound;
    } else {
      binder_.LookInto(outputs_);
      bound = binder_.Bind(expression);
      binder_.DefaultToInt64(bound);
    }
    RefuseUnordered(bound, "ORDER BY");
    if (binder_.failed()) return;
    plan_.reads.AddAll(bound.columns);
    plan_.order.push_back({.expression = Flatten(bound), .descending = item.descending});
  }

  void RefuseUnordered(const Bound& bound, const std::string& clause) {
    if (binder_.failed() || IsOrdered(*bound.type)) return;
    binder_.Fail(bound.offset,
                 clause + " of " + std::string(WordOf(*bound.type)) + " is not modelled");
  }

  // The output that an ordinal such as `ORDER BY 2` means.
  const BoundOutput* FindOrdinal(const ast::Expression& literal) {
    const auto* number = std::get_if<int64_t>(&literal.value);
    if (number == nullptr) {
      binder_.Fail(literal.offset, "Cannot ORDER BY literal values");
    } else if (*number < 1) {
      binder_.Fail(literal.offset,
                   "ORDER BY column number item is out of range. Column numbers must be greater "
                   "than or equal to one. Found : " +
                       std::to_string(*number));
    } else if (static_cast<uint64_t>(*number) > outputs_.size()) {
      binder_.Fail(literal.offset,
                   "ORDER BY is out of SELECT column number range: " + std::to_string(*number));
    } else {
      return &outputs_[static_cast<size_t>(*number) - 1];
    }
    return nullptr;
  }

  std::optional<Expression> BindLimit(const std::optional<ast::Expression>& expression,
                                      const std::string& clause) {
    if (!expression || binder_.failed()) return std::nullopt;
    const bool literal = expression->kind == ast::ExpressionKind::kLiteral;
    if (!literal && expression->kind != ast::ExpressionKind::kParameter) {
      binder_.Fail(expression->offset, clause + " expects an integer literal or parameter");
      return std::nullopt;
    }
    if (literal && IsNull(expression->value)) {
      binder_.Fail(expression->offset, clause + " must not be null");
      return std::nullopt;
    }
    Bound bound = binder_.Bind(*expression);
    binder_.DefaultToInt64(bound);
    if (binder_.failed()) return std::nullopt;
    if (bound.type != Type::kInt64) {
      binder_.Fail(expression->offset, clause + " expects an integer literal or parameter");
    } else if (literal && std::get<int64_t>(bound.literal) < 0) {
      binder_.Fail(expression->offset,
                   clause + " expects a non-negative integer literal or parameter");
    }
    return Flatten(bound);
  }

  const ast::Select& select_;
  const Table* table_;
  ExpressionBinder binder_;
  std::deque<ast::Expression> group_expressions_;  // stay where they are
  std::vector<GroupKey> groups_;
  std::vector<BoundOutput> outputs_;
  SelectPlan plan_;
};

}  // namespace

ExpressionBinder StatementContext::MakeBinder(const Table* table, std::string qualifier) const {
  if (table != nullptr && qualifier.empty()) qualifier = table->name;
  return {*this, table, std::move(qualifier)};
}

Status StatementContext::NoTable(const ast::Name& name, const std::string& schema_name) const {
  std::string message = "Table not found: ";
  if (!schema_name.empty()) message += schema_name + ".";
  message += name.text;
  if (EqualIgnoringCase(schema_name, "INFORMATION_SCHEMA")) message += " (or it is not modelled)";
  return SourceError(text, name.offset, message);
}

Status StatementContext::CheckHint(const ast::TableName& name) const {
  if (name.index.text.empty()) return {};
  for (const Index& index : schema.indexes) {
    const bool here = EqualIgnoringCase(index.table, name.text);
    if (here && EqualIgnoringCase(index.name, name.index.text)) return {};
  }
  return SourceError(
      text, name.index.offset,
      "The table " + name.text + " does not have a secondary index called " + name.index.text);
}

BoundWhere BindWhere(ExpressionBinder& binder, const Table& table,
                     const ast::Expression& expression) {
  Bound bound = binder.Bind(expression);
  if (!binder.failed() && !binder.Coerce(bound, Type::kBool)) {
    binder.Fail(expression.offset, "WHERE clause should return type BOOL, but returns " +
                                       std::string(WordOf(*bound.type)));
  }
  if (binder.failed()) return {};
  return {.access = FindAccess(table, bound), .filter = Flatten(bound), .reads = bound.columns};
}

std::vector<BoundOutput> BindOutputs(ExpressionBinder& binder, const Table* table,
                                     const std::vector<ast::SelectItem>& items) {
  std::vector<BoundOutput> outputs;
  for (const ast::SelectItem& item : items) {
    if (item.star && table == nullptr) {
      binder.Fail(item.offset, "SELECT * must have a FROM clause");
    } else if (item.star) {
      if (!binder.Qualifies(item.qualifier, item.offset)) return {};
      AddAllColumns(*table, item.offset, outputs);
    } else {
      BoundOutput output{.name = item.alias, .bound = binder.Bind(item.expression)};
      binder.DefaultToInt64(output.bound);
      // A name is a column, or the value of the group's column.
      const Op op = output.bound.node.op;
      const bool is_name = item.expression.kind == ast::ExpressionKind::kName ||
                           item.expression.kind == ast::ExpressionKind::kQuotedName;
      const bool is_column = op == Op::kColumn || (is_name && op == Op::kAggregate);
      if (output.name.empty() && is_column) output.name = item.expression.text;
      outputs.push_back(std::move(output));
    }
    if (binder.failed()) return {};
  }
  return outputs;
}

std::vector<Output> FlattenOutputs(const std::vector<BoundOutput>& outputs) {
  std::vector<Output> flat;
  flat.reserve(outputs.size());
  for (const BoundOutput& output : outputs) {
    flat.push_back({.name = output.name,
                    .type = output.bound.type.value_or(Type::kInt64),
                    .expression = Flatten(output.bound)});
  }
  return flat;
}

ColumnSet ColumnsOf(const std::vector<BoundOutput>& outputs) {
  ColumnSet columns;
  for (const BoundOutput& output : outputs) columns.AddAll(output.bound.columns);
  return columns;
}

std::variant<SelectPlan, Status> BindSelect(const StatementContext& context,
                                            const ast::Select& select) {
  if (!select.table) return SelectBinder(context, select, nullptr).Run(0);
  if (!select.table->schema.empty()) {
    const auto system = FindSystemTable(context.schema, select.table->schema, select.table->text);
    if (!system) return context.NoTable(*select.table, select.table->schema);
    auto bound = SelectBinder(context, select, &system->table).Run(0);
    if (auto* plan = std::get_if<SelectPlan>(&bound)) {
      plan->access = {.kind = AccessKind::kGiven};
      plan->given = system->rows;
    }
    return bound;
  }
  const auto table = context.schema.FindTable(select.table->text);
  if (!table) return context.NoTable(*select.table);
  if (Status hint = context.CheckHint(*select.table); !hint.ok()) return hint;
  return SelectBinder(context, select, &context.schema.tables[*table]).Run(*table);
}

}  // namespace whorl::model
