// scenarios/schema.json: the scenario language as a JSON Schema (draft 2020-12), for editors.
//
// Made from language.h, so that the two cannot drift apart; a test compares the file.
// Deliberately left out: what a schema cannot say well (references between parts, faults that can
// never fire, exact nanoseconds). The loader is the judge.
#pragma once

#include <string>

namespace whorl::sim {

// The whole file, with its last newline.
std::string ScenarioSchema();

}  // namespace whorl::sim
