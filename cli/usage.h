// Reading a command line, and what to tell a person whose line could not be understood.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whorl::cli {

// One sentence or more, with the nearest known word where there is one.
// REQUIRES: `error` is what parsing `root` has thrown.
std::string UsageError(const CLI::App& root, const CLI::ParseError& error);

// What is wrong with an argument that says nothing, as an unset variable of a script makes it;
// nothing when all say something. No argument of any command means anything when it is empty.
// The first of `arguments` is the command's name; `of`: how their numbers go on, " of whorl lock".
std::string EmptyArgument(std::span<const std::string> arguments, std::string_view of);

// Parses the arguments behind the command's name, and prints the help or the version where that is
// asked for. Then, and with `wrong` where the line cannot be understood: the exit code.
std::optional<int> Parse(CLI::App& root, std::vector<std::string> arguments, int wrong);

}  // namespace whorl::cli
