#include <absl/numeric/int128.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "spanner_model/execute.h"
#include "spanner_model/sql/functions.h"
#include "spanner_model/visible_rows.h"

namespace whorl::model {
namespace {

StatementResult FailedQuery(Status status) {
  StatementResult result;
  result.status = std::move(status);
  return result;
}

// The rows that LIMIT and OFFSET select: `count` after the first `skipped`.
struct Window {
  uint64_t skipped = 0;
  uint64_t count = std::numeric_limits<uint64_t>::max();
};

// Evaluates LIMIT or OFFSET, if there is one.
Status ReadCount(const ExecutionInput& input, const std::optional<Expression>& expression,
                 uint64_t& count) {
  if (!expression) return {};
  Value scratch;
  Status error;
  const Value* value = Evaluate(*expression, ContextOf(input, {}), scratch, error);
  if (value == nullptr) return error;
  if (IsNull(*value)) {
    return Error(Code::kOutOfRange, "Limit requires non-null count and offset");
  }
  const int64_t number = std::get<int64_t>(*value);
  if (number < 0) {
    return Error(Code::kOutOfRange, "Limit requires non-negative count and offset");
  }
  count = static_cast<uint64_t>(number);
  return {};
}

void Cut(const Window& window, std::vector<Row>& rows) {
  const size_t first = std::min<uint64_t>(window.skipped, rows.size());
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(first));
  if (rows.size() > window.count) rows.resize(window.count);
}

template <typename Visit>
Status ForEachGiven(const ExecutionInput& input, const SelectPlan& plan, const Visit& visit) {
  Status status;
  for (const Row& row : plan.given) {
    const Match match =
        plan.filter ? Matches(*plan.filter, ContextOf(input, row), status) : Match::kYes;
    if (match == Match::kYes) status = visit(row);
    if (!status.ok()) break;
  }
  return status;
}

// Calls visit(row) for the rows that match; once, with an empty row, if the query has no table.
template <typename Visit>
Status ForEachSource(const ExecutionInput& input, const SelectPlan& plan, const Visit& visit) {
  if (plan.access.kind == AccessKind::kNothing) return visit(Row());
  if (plan.access.kind == AccessKind::kGiven) return ForEachGiven(input, plan, visit);
  return ForEachMatch(input, plan.table, plan.access, plan.filter ? &*plan.filter : nullptr, visit);
}

// One aggregate over the rows visited so far.
class Accumulator {
 public:
  explicit Accumulator(AggregateKind kind) : kind_(kind) {
    const bool counts = kind == AggregateKind::kCountRows || kind == AggregateKind::kCount;
    if (counts) value_ = int64_t{0};
  }

  void Add(const Value& value) {
    if (kind_ != AggregateKind::kCountRows && IsNull(value)) return;
    switch (kind_) {
      case AggregateKind::kCountRows:
      case AggregateKind::kCount:
        ++std::get<int64_t>(value_);
        return;
      case AggregateKind::kMin:
      case AggregateKind::kMax: {
        const Extreme extreme = kind_ == AggregateKind::kMin ? Extreme::kLeast : Extreme::kGreatest;
        if (IsNull(value_) || Surpasses(extreme, value, value_)) value_ = value;
        return;
      }
      case AggregateKind::kSum:
        sum_ += std::get<int64_t>(value);
        value_ = static_cast<int64_t>(sum_);
        return;
    }
  }

  // Whether a sum fits INT64; a partial sum may exceed it.
  bool Fits() const {
    return kind_ != AggregateKind::kSum || IsNull(value_) || sum_ == std::get<int64_t>(value_);
  }
  const Value& value() const { return value_; }

 private:
  AggregateKind kind_;
  Value value_;
  absl::int128 sum_ = 0;
};

// The order of the rows by the keys of ORDER BY; ties stay in the order in which they were found.
// (std::stable_sort needs a temporary buffer, which it requests in a way that clang's library
// deprecates.)
std::vector<Row> Sorted(const SelectPlan& plan, const std::vector<Row>& keys,
                        std::vector<Row> rows) {
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    for (size_t i = 0; i < plan.order.size(); ++i) {
      const std::weak_ordering compared = CompareValues(keys[a][i], keys[b][i]);
      if (compared != 0) return plan.order[i].descending ? compared > 0 : compared < 0;
    }
    return a < b;
  });
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (const size_t at : order) sorted.push_back(std::move(rows[at]));
  return sorted;
}

// Appends the outputs over `row`, and the keys of ORDER BY.
Status AppendRow(const ExecutionInput& input, const SelectPlan& plan, const Row& row,
                 std::vector<Row>& rows, std::vector<Row>& keys) {
  Status error = AppendOutputs(input, plan.outputs, row, rows);
  if (!error.ok()) return error;
  Value scratch;
  Row& key = keys.emplace_back();
  for (const OrderKey& order : plan.order) {
    const Value* value = Evaluate(order.expression, ContextOf(input, row), scratch, error);
    if (value == nullptr) return error;
    key.push_back(*value);
  }
  return error;
}

struct RowLess {
  bool operator()(const Row& a, const Row& b) const {
    return std::lexicographical_compare(
        a.begin(), a.end(), b.begin(), b.end(),
        [](const Value& x, const Value& y) { return CompareValues(x, y) < 0; });
  }
};
using Groups = std::map<Row, std::vector<Accumulator>, RowLess>;

// Adds a row of the table to its group.
Status AddToGroup(const ExecutionInput& input, const SelectPlan& plan, const Row& row,
                  Groups& groups) {
  Status error;
  Value scratch;
  Row key;
  for (const Expression& expression : plan.groups) {
    const Value* value = Evaluate(expression, ContextOf(input, row), scratch, error);
    if (value == nullptr) return error;
    key.push_back(*value);
  }
  std::vector<Accumulator>& accumulators = groups[std::move(key)];
  if (accumulators.empty()) {
    for (const Aggregate& aggregate : plan.aggregates) accumulators.emplace_back(aggregate.kind);
  }
  for (size_t i = 0; i < accumulators.size(); ++i) {
    const Expression& argument = plan.aggregates[i].argument;
    static const Value none;
    const Value* value =
        argument.nodes.empty() ? &none : Evaluate(argument, ContextOf(input, row), scratch, error);
    if (value == nullptr) return error;
    accumulators[i].Add(*value);
  }
  return error;
}

StatementResult RunGrouped(const ExecutionInput& input, const SelectPlan& plan,
                           const Window& window) {
  Groups groups;
  if (plan.groups.empty()) {
    std::vector<Accumulator>& all = groups[{}];
    for (const Aggregate& aggregate : plan.aggregates) all.emplace_back(aggregate.kind);
  }
  Status status = ForEachSource(
      input, plan, [&](const Row& row) { return AddToGroup(input, plan, row, groups); });
  if (!status.ok()) return FailedQuery(std::move(status));
  std::vector<Row> rows;
  std::vector<Row> keys;
  for (auto& [key, accumulators] : groups) {
    Row values = key;
    for (const Accumulator& accumulator : accumulators) {
      if (!accumulator.Fits()) return FailedQuery(Error(Code::kOutOfRange, "int64 overflow"));
      values.push_back(accumulator.value());
    }
    if (plan.having) {
      const Match match = Matches(*plan.having, ContextOf(input, values), status);
      if (match == Match::kError) return FailedQuery(std::move(status));
      if (match == Match::kNo) continue;
    }
    status = AppendRow(input, plan, values, rows, keys);
    if (!status.ok()) return FailedQuery(std::move(status));
  }
  StatementResult result;
  result.rows = Sorted(plan, keys, std::move(rows));
  Cut(window, result.rows);
  return result;
}

StatementResult RunSorted(const ExecutionInput& input, const SelectPlan& plan,
                          const Window& window) {
  std::vector<Row> rows;
  std::vector<Row> keys;
  Status status = ForEachSource(
      input, plan, [&](const Row& row) { return AppendRow(input, plan, row, rows, keys); });
  if (!status.ok()) return FailedQuery(std::move(status));
  StatementResult result;
  result.rows = Sorted(plan, keys, std::move(rows));
  Cut(window, result.rows);
  return result;
}

StatementResult RunInKeyOrder(const ExecutionInput& input, const SelectPlan& plan, Window window) {
  StatementResult result;
  if (window.count == 0) return result;
  bool enough = false;
  // Ends the scan when there are enough rows; no caller gets this error.
  const Status stop = {.code = Code::kCancelled};
  Status status = ForEachSource(input, plan, [&](const Row& row) {
    Status error = AppendOutputs(input, plan.outputs, row, result.rows);
    if (!error.ok()) return error;
    if (window.skipped > 0) {
      --window.skipped;
      result.rows.pop_back();
    }
    enough = result.rows.size() >= window.count;
    return enough ? stop : error;
  });
  if (status.ok() || enough) return result;
  return FailedQuery(std::move(status));
}

}  // namespace

StatementResult RunQuery(const ExecutionInput& input, const SelectPlan& plan) {
  Window window;
  Status status = ReadCount(input, plan.limit, window.count);
  if (status.ok()) status = ReadCount(input, plan.offset, window.skipped);
  if (!status.ok()) return FailedQuery(std::move(status));
  if (plan.is_grouped) return RunGrouped(input, plan, window);
  if (!plan.order.empty()) return RunSorted(input, plan, window);
  return RunInKeyOrder(input, plan, window);
}

}  // namespace whorl::model
