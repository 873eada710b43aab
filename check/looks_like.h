// Guesses what a file is that no reader takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whorl::check {

// For people: what it seems to be, and what to do. `lines`: its first ones.
std::string LooksLike(const std::vector<std::string>& lines);
// Whether the bytes are those of a file that has no lines.
bool IsBinary(std::string_view first_line);

}  // namespace whorl::check
