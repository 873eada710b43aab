// Reads scenarios: a JSON text becomes a Scenario, or errors that say where and what was expected.
//
// Invariants:
//   1. A Scenario that comes out has been checked whole: names, ranges, references, and every fault
//      can fire as far as the text shows. Patterns and counts are expanded; no default is left
//      open.
//   2. All independent errors of a text are reported, by line, one to a line of the status's
//   message
//      and at most kMaxScenarioErrors of them:
//        scenarios/x.json:12: /faults/0/node: unknown node "bb"; did you mean "b"? Known nodes: a,
//        b.
//      File, line, JSON pointer (none for the document itself), what was expected.
//   3. No input crashes it, and memory is bounded by a constant, not by the input.
// The keys are described in language.h, from which scenarios/schema.json is made too.
// Deliberately left out: includes, variables, comments. A scenario is one plain JSON text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

inline constexpr size_t kMaxScenarioBytes = size_t{16} << 20;
inline constexpr size_t kMaxScenarioErrors = 20;

// The scenario in a file, or in standard input for "-".
// kInvalidArgument: read, and wrong. kNotFound: no such file. kUnavailable: it cannot be read (a
// directory, no permission); the message names the path and the reason.
absl::StatusOr<Scenario> LoadScenario(const std::string& path);

// The same from memory; `path` is for messages and for Scenario::name. Only kInvalidArgument.
absl::StatusOr<Scenario> ParseScenario(std::string_view text, std::string_view path);

}  // namespace whorl::sim
