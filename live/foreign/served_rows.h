// Collects the rows of a protocol's table that commits change at whorl's own server, as the server
// tells of them. Thread-safe.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/protocols.h"
#include "spanner_model/server/options.h"

namespace whorl::live {

// Columns are in the order of the protocol's table.
struct CommittedRow {
  std::string database;
  Timestamp commit;
  std::optional<Row> before;
  std::optional<Row> after;
};

class ServedRows final : public server::ChangeObserver {
 public:
  // `protocol` lives longer. `table`: its name; letter cases do not matter, as at Spanner.
  ServedRows(const ProtocolInfo& protocol, std::string table)
      : protocol_(protocol), table_(std::move(table)) {}

  void OnChange(const server::ServedChange& change) override;
  // Those since the last call, in the order in which they became visible. A table that lacks a column of the
  // protocol's has none.
  std::vector<CommittedRow> Take();

 private:
  const ProtocolInfo& protocol_;
  const std::string table_;
  std::mutex mutex_;  // guards rows_
  std::vector<CommittedRow> rows_;
};

}  // namespace whorl::live
