// Maps nodes, locks and columns to numbers, by which observations refer to them, and back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct Names {
  std::vector<std::string> nodes;
  std::vector<std::string> locks;
  std::vector<std::string> columns;  // columns of the protocol's table
  WHORL_FIELDS(Names, nodes, locks, columns);

  // A number without a name is printed as a number.
  std::string Node(int16_t node) const;
  std::string Lock(uint16_t lock) const;
  // "a#1"; "nobody" for ProcessId{}, which wrote the initial rows, and is an operator later.
  std::string Process(ProcessId process) const;
  // The same for people: "a" for the first incarnation, "a#2" for the second.
  std::string ShortProcess(ProcessId process) const;
};
Names NamesOf(const Scenario& scenario);

}  // namespace whorl::sim
