// Locates mistakes in files, and prints their places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whorl {

// Lines and columns count from 1; a column is a character, not a byte.
struct Position {
  int line = 1;
  int column = 1;
};

// A mistake in a text: where it is, and what was expected there.
struct Problem {
  Position position;
  std::string pointer;  // JSON pointer (RFC 6901); empty for the document itself
  std::string text;
};

// The path as messages show it: printable, and cut after about 1,000 bytes.
std::string PathText(std::string_view path);

// "FILE:3".
std::string AtLine(std::string_view path, int64_t line);

// How many problems ErrorLines prints.
inline constexpr size_t kMaxErrorLines = 20;

// "FILE:3: /faults/0/do: ...", a line for each problem, in the order of the text; at the same place, in the
// order found. If there are more than kMaxErrorLines, the last line says that the others are not shown.
std::vector<std::string> ErrorLines(std::string_view path, const std::vector<Problem>& problems);

}  // namespace whorl
