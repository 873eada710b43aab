#include "spanner_model/visible_rows.h"

#include <utility>

namespace whorl::model {

KeyRange RangeOf(const ExecutionInput& input, const Access& access) {
  const EvaluationContext context = ContextOf(input, {});
  Value scratch;
  Status error;
  if (access.kind == AccessKind::kAll) return {};
  if (access.kind == AccessKind::kPrefix) {
    const Value* prefix = Evaluate(access.prefix, context, scratch, error);
    // The filter reports the error, for each row that exists.
    if (prefix == nullptr) return {};
    if (IsNull(*prefix)) return {.kind = RangeKind::kNothing, .key = {}, .prefix = {}};
    return {.kind = RangeKind::kPrefix, .key = {}, .prefix = std::get<std::string>(*prefix)};
  }
  KeyRange range{.kind = RangeKind::kKey, .key = {}, .prefix = {}};
  range.key.reserve(access.key.size());
  for (const Expression& expression : access.key) {
    const Value* value = Evaluate(expression, context, scratch, error);
    if (value == nullptr) return {};
    if (IsNull(*value)) return {.kind = RangeKind::kNothing, .key = {}, .prefix = {}};
    range.key.push_back(*value);
  }
  return range;
}

const Row* RowAt(const ExecutionInput& input, const BufferedWrite* own, uint32_t table,
                 const Key& key, Row& scratch) {
  const Row* committed = FindAt(input.tables[table], key, input.snapshot);
  if (own == nullptr) return committed;
  if (!own->row) return nullptr;
  scratch = *own->row;
  if (committed != nullptr) TakeUnwritten(*own, *committed, scratch);
  return &scratch;
}

const Value* OneKey(const ExecutionInput& input, const Access& access, Value& scratch) {
  if (!access.is_filter || access.key.size() != 1) return nullptr;
  if (input.transaction != nullptr && !input.transaction->writes.empty()) return nullptr;
  Status error;
  const Value* key = Evaluate(access.key.front(), ContextOf(input, {}), scratch, error);
  return key == nullptr || IsNull(*key) ? nullptr : key;
}

Status AppendOutputs(const ExecutionInput& input, const std::vector<Output>& outputs,
                     std::span<const Value> row, std::vector<Row>& out) {
  const EvaluationContext context = ContextOf(input, row);
  Value scratch;
  Status error;
  Row result;
  result.reserve(outputs.size());
  for (const Output& output : outputs) {
    const Value* value = Evaluate(output.expression, context, scratch, error);
    if (value == nullptr) return error;
    result.push_back(*value);
  }
  out.push_back(std::move(result));
  return {};
}

}  // namespace whorl::model
