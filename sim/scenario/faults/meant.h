// Finds the fault that a person means by a word that is no fault's name, such as "gc" or "network".
#pragma once

#include <string>
#include <string_view>

namespace whorl::sim {

// `a process that does not run for a while is "pause"`; empty if nobody is known to mean a fault by the word.
// Upper case and lower case, and `-`, `_` and a space, count as the same.
std::string FaultMeantBy(std::string_view word);

}  // namespace whorl::sim
