// Texts that every report shares: names of processes, times and numbers.
//
// Invariant: a text depends on its arguments alone, never on a locale or on the way in which a
// library prints floating point numbers, so it is the same from every compiler.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/machine.h"
#include "protocol/protocols.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/time.h"
#include "sim/observation.h"
#include "sim/scenario.h"

namespace whorl::sim {

// What numbers in observations stand for.
struct Names {
  std::vector<std::string> nodes;
  std::vector<std::string> locks;
  std::vector<std::string> columns;  // of the protocol's table
  WHORL_FIELDS(Names, nodes, locks, columns);

  // A number that has no name comes out as itself.
  std::string Node(int16_t node) const;
  std::string Lock(uint16_t lock) const;
  // "a#1"; "nobody" for the writer of the rows of the start, and for an operator.
  std::string Process(ProcessId process) const;
  // The same for people: "a", "a#2" for a's second life.
  std::string ShortProcess(ProcessId process) const;
};
Names NamesOf(const Scenario& scenario);

// Seconds with `digits` decimals, rounded half away from zero: "12.345678901".
// REQUIRES: digits is in [0, 9].
std::string SecondsText(Duration duration, int digits = 9);

// 16 hexadecimal digits.
std::string HashText(uint64_t hash);

// "1,234,567".
std::string GroupedText(int64_t number);

// "1 grant", "2 grants".
std::string CountText(int64_t count, std::string_view one, std::string_view many);

std::string_view LinkStateText(LinkState link);  // "up", "black_holed", "refused"
std::string_view PromiseText(Promise promise);   // "promised", "not_promised", "not_applicable"

}  // namespace whorl::sim
