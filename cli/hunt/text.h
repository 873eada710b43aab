// The report of a hunt for people.
#pragma once

#include <ostream>
#include <string>

#include "cli/hunt/report.h"

namespace whorl::cli {

// `command` and `save_folder` are for the lines that replay what was found.
void PrintHunt(const HuntReport& report, const std::string& command, const std::string& save_folder,
               std::ostream& out);

}  // namespace whorl::cli
