// The escapes of GoogleSQL's string literals: \a \b \f \n \r \t \v \\ \? \" \' \` \ooo \xhh
// \uhhhh \Uhhhhhhhh; in a literal of BYTES \ooo and \xhh are any byte, and there is no \u or \U.
//
// Invariant: in a STRING what \ooo, \xhh, \u and \U stand for is a character below 128 or a code
// point, so that escapes never make bytes that are not UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whorl::model {

struct EscapeError {
  size_t offset = 0;   // of the backslash, in the body
  std::string reason;  // the sequence, and what is wrong with it
};

enum class EscapesOf : uint8_t { kString, kBytes };

// The body of a literal (what stands between its quotes) with its escapes undone; nothing, and the
// error filled in, when one is bad.
std::optional<std::string> UndoEscapes(std::string_view body, EscapesOf literal,
                                       EscapeError& error);

}  // namespace whorl::model
