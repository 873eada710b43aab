// Parses command lines and words the errors for those that are not valid.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whorl::cli {

// The message for a line that could not be parsed, with the nearest known word if there is one.
// REQUIRES: parsing by `root` has thrown `error`.
std::string UsageError(const CLI::App& root, const CLI::ParseError& error);

// The message for an empty argument, which comes from an unset variable in a script; empty if no
// argument is empty. No command accepts an empty argument. The first of `arguments` is the command's
// name. `of` follows the argument's number in the message, such as " of whorl lock".
std::string EmptyArgument(std::span<const std::string> arguments, std::string_view of);

// Parses the arguments after the command's name. Returns an exit code if the command ends here: after
// printing the help or the version, or `wrong` after an error; otherwise nullopt.
std::optional<int> Parse(CLI::App& root, std::vector<std::string> arguments, int wrong);

}  // namespace whorl::cli
