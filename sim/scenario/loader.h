// Loads scenarios: turns a JSON text into a Scenario, or into errors that say where the mistake is
// and what was expected.
//
// Invariants:
//   1. A loaded Scenario has been checked completely: names, ranges, references, and that every
//      fault can fire as far as the text shows. Patterns and counts are expanded; every default is
//      filled in.
//   2. All independent errors of a text are reported, by line, one to a line of the status's
//      message and at most kMaxErrorLines of them:
//        scenarios/x.json:12: /faults/0/node: unknown node "bb"; did you mean "b"? Known nodes: a,
//        b.
//      That is file, line, JSON pointer (none for the document itself), what was expected.
//   3. No input crashes the loader, and its memory is bounded by a constant.
// language.h describes the keys; scenarios/schema.json is generated from it too.
// Deliberately left out: includes and variables. A scenario is one plain JSON text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/scenario/json_document.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

inline constexpr size_t kMaxScenarioBytes = size_t{16} << 20;

// Loads the scenario in a file, or from standard input for "-".
// kInvalidArgument: the text was read and is wrong. kNotFound: there is no such file. kUnavailable:
// it cannot be read (a directory, no permission); the message names the path and the reason.
absl::StatusOr<Scenario> LoadScenario(const std::string& path);

// The text that LoadScenario would parse, with its errors but kInvalidArgument.
absl::StatusOr<std::string> ReadScenarioText(const std::string& path);

// Loads a scenario from memory; `path` is for messages and for Scenario::name. The only error is
// kInvalidArgument.
absl::StatusOr<Scenario> ParseScenario(std::string_view text, std::string_view path);

// Warnings about parts of a scenario that have no effect, or hardly any, as far as the text shows; one line
// each. The scenario runs nevertheless.
std::vector<std::string> WarningsOf(const Scenario& scenario);

}  // namespace whorl::sim
