// Generates scenarios/LANGUAGE.md, the guide to the scenario language.
//
// The tables are generated from language.h, vocabulary.h and the protocols' descriptions, so the
// guide's keys, words, defaults and examples are those of the loader. A test compares the file.
// Only the paragraphs between the tables are written here.
#pragma once

#include <string>

namespace whorl::sim {

// The text of the file, with its final newline.
std::string ScenarioGuide();

}  // namespace whorl::sim
