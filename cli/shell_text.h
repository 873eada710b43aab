// Quotes text so that it can be pasted into a shell.
#pragma once

#include <string>
#include <string_view>

namespace whorl::cli {

// The text as one word of a shell, in quotes if it needs them.
std::string ShellQuoted(std::string_view text);

}  // namespace whorl::cli
