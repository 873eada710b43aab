// scenarios/LANGUAGE.md: the scenario language for people, in Markdown.
//
// Made from language.h, vocabulary.h and the protocols' descriptions, so that
// what it says of keys, words, defaults and examples is what the loader does; a test compares the
// file. Only the paragraphs between the tables are written here.
#pragma once

#include <string>

namespace whorl::sim {

// The whole file, with its last newline.
std::string ScenarioGuide();

}  // namespace whorl::sim
