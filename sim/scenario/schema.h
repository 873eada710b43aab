// Generates scenarios/schema.json: the scenario language as a JSON Schema (draft 2020-12), for
// editors.
//
// It is generated from language.h, and a test compares the file, so the two cannot drift apart.
// Deliberately left out: what a schema cannot say well (references between parts, faults that can
// never fire, exact nanoseconds). The loader decides what is valid.
#pragma once

#include <string>

namespace whorl::sim {

// The text of the file, with its final newline.
std::string ScenarioSchema();
// Likewise of scenarios/rules.schema.json, for files of rules.
std::string RulesSchema();

}  // namespace whorl::sim
