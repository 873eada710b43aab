// What a person can paste into a shell.
#pragma once

#include <string>
#include <string_view>

namespace whorl::cli {

// As one word, in quotes where it needs them.
std::string ShellQuoted(std::string_view text);

}  // namespace whorl::cli
