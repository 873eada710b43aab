// Files of DDL, as Spanner's tools read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whorl::cli {

// The statements of a text, which a semicolon ends each. Comments begin with -- or #.
std::vector<std::string> StatementsIn(const std::string& text);

// Reads a file that an option names. Returns what is wrong; empty if nothing is.
std::string ReadOption(std::string_view option, const std::string& path, std::string& out);

}  // namespace whorl::cli
