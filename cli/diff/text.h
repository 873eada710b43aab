// The difference of two traces, for people and for machines.
#pragma once

#include <array>
#include <string>

#include "sim/report/json_print.h"
#include "sim/report/trace_diff.h"

namespace whorl::cli {

// What the two runs are called: the files of their traces, or what became of them.
using DiffNames = std::array<std::string, 2>;

// A text of a trace, or its name, for people.
std::string ShownTrace(const std::string& text);

void PrintDifference(const sim::TraceDifference& difference, const DiffNames& names);

sim::Json DifferenceJson(const sim::TraceDifference& difference, const DiffNames& names);

}  // namespace whorl::cli
