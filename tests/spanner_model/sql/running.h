// Runs statements over its own tables, each in a transaction that commits at once. Shared by the
// tests of queries and DML.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "spanner_model/catalogue.h"
#include "spanner_model/execute.h"
#include "tests/spanner_model/sql/testing.h"

namespace whorl::model {

class SqlRunner {
 public:
  explicit SqlRunner(Schema schema = TestSchema(), Options options = {})
      : catalogue_(std::move(schema), {}, std::move(options)),
        tables_(catalogue_.schema().tables.size()) {}

  // "a:INT64 b:STRING | 1 'x' | 2 NULL", then " # 2" for DML; or the status.
  std::string Run(const std::string& text, const std::vector<Parameter>& parameters = {},
                  const Row& values = {}) {
    const Execution execution = Execute(text, parameters, values);
    std::string shown = Describe(execution);
    if (execution.result.status.ok()) Apply();
    transaction_ = {};
    return shown;
  }

  // The same in a transaction that stays open for the next call and never commits.
  std::string RunOpen(const std::string& text) { return Describe(Execute(text, {}, {})); }

  // A query as of a time.
  std::string RunAt(const std::string& text, Timestamp snapshot) {
    snapshot_ = snapshot;
    std::string shown = Describe(Execute(text, {}, {}));
    snapshot_.reset();
    return shown;
  }

  // The locks that the statement takes: tables and columns as numbers.
  std::vector<ReadLock> Locks(const std::string& text) {
    std::vector<ReadLock> locks;
    const auto plan = Compile(catalogue_.schema(), text, {});
    if (std::holds_alternative<Plan>(plan)) {
      const ClockReading moment = Now();
      AppendReadLocks(InputOf(moment, {}, /*query=*/false), std::get<Plan>(plan), locks);
    }
    return locks;
  }

  Timestamp now() const { return now_; }
  bool dooms() const { return dooms_; }

 private:
  ClockReading Now() const {
    ClockReading moment{};
    moment.truetime = {.earliest = now_, .latest = now_};
    moment.current_timestamp = now_;
    return moment;
  }

  ExecutionInput InputOf(const ClockReading& moment, const Row& values, bool query) {
    return {.catalogue = catalogue_,
            .tables = tables_,
            .transaction = query && transaction_.writes.empty() ? nullptr : &transaction_,
            .parameters = values,
            .moment = moment,
            .snapshot = snapshot_};
  }

  Execution Execute(const std::string& text, const std::vector<Parameter>& parameters,
                    const Row& values) {
    now_ = now_ + Seconds(1);
    columns_.clear();
    Execution execution;
    auto plan = Compile(catalogue_.schema(), text, parameters);
    if (auto* error = std::get_if<Status>(&plan)) {
      execution.result.status = std::move(*error);
      return execution;
    }
    is_query_ = std::holds_alternative<SelectPlan>(std::get<Plan>(plan));
    const ClockReading moment = Now();
    const ExecutionInput input = InputOf(moment, values, is_query_);
    execution.result.status = CheckPending(input, std::get<Plan>(plan));
    if (!execution.result.status.ok()) return execution;
    execution = model::Execute(input, std::get<Plan>(plan));
    for (const ResultColumn& column : ResultColumns(std::get<Plan>(plan))) {
      columns_ +=
          (columns_.empty() ? "" : " ") + column.name + ":" + std::string(WordOf(column.type));
    }
    return execution;
  }

  std::string Describe(const Execution& execution) {
    dooms_ = execution.dooms;
    const StatementResult& result = execution.result;
    if (!result.status.ok()) {
      // Without the line and the caret, which other tests check.
      const std::string message = FormatStatus(result.status);
      return message.substr(0, message.find(" [at "));
    }
    std::string text = columns_;
    for (const Row& row : result.rows) {
      text += " |";
      for (const Value& value : row) text += " " + FormatValue(value);
    }
    if (!is_query_) text += " # " + std::to_string(result.row_count);
    return text;
  }

  void Apply() {
    for (BufferedWrite& write : transaction_.writes) {
      StoredTable& table = tables_[write.table];
      const Row* newest = FindNewest(table, write.key);
      if (write.row && newest != nullptr) TakeUnwritten(write, *newest, *write.row);
      for (uint32_t column = 0; write.row && column < write.row->size(); ++column) {
        if ((write.pending >> column & 1) != 0) (*write.row)[column] = now_;
      }
      Put(table, write.key, {.commit = now_, .columns = write.columns, .row = write.row},
          Timestamp::Min());
    }
  }

  Catalogue catalogue_;
  std::vector<StoredTable> tables_;
  TransactionState transaction_;
  std::optional<Timestamp> snapshot_;
  Timestamp now_ = Timestamp::FromUnixNanos(1'767'225'600'000'000'000);
  std::string columns_;
  bool is_query_ = false;
  bool dooms_ = false;
};

}  // namespace whorl::model
