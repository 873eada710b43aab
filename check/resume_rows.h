// Keeps the changes with which another checker can go on: of each row, the change by which its holder took it, and
// the newest one.
//
// The heartbeats in between are missing to that checker: a lease may be less certain to it, never more.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/operation.h"
#include "protocol/protocols.h"
#include "sim/scenario/json_text.h"
#include "sim/scenario/rules.h"

namespace whorl::check {

class ResumeRows {
 public:
  explicit ResumeRows(const ProtocolInfo& protocol)
      : protocol_(protocol), rules_(sim::RulesOf(protocol.name)) {}

  // In the order of their commit timestamps.
  void Add(const RowChange& change);
  // In the same order. A change that took a row is an insertion here.
  std::vector<RowChange> Changes() const;

 private:
  struct Row {
    std::optional<RowChange> taken;  // nothing: that was before the first change
    RowChange newest;
  };

  const ProtocolInfo& protocol_;
  const sim::Rules& rules_;
  std::map<std::string, Row> rows_;  // by lock
};

// The change as a data change record that the readers read.
sim::Json RecordJson(const ProtocolInfo& protocol, const RowChange& change);

}  // namespace whorl::check
