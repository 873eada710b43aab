// Checks what must be true of the scenario loader for every text: the body of the fuzzer
// (tests/fuzz/scenario_fuzz.cc) and of mutations_test.cc.
#pragma once

#include <string_view>

namespace whorl::sim {

// Parses `text`, and aborts when a scenario that comes out breaks a promise of loader.h,
// or an error is not fit to be printed. Answers whether it is a scenario.
bool LoadAnyText(std::string_view text);

}  // namespace whorl::sim
