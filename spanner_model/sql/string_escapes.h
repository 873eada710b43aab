// The escapes of GoogleSQL's string literals: \a \b \f \n \r \t \v \\ \? \" \' \` \ooo \xhh
// \uhhhh \Uhhhhhhhh. In a BYTES literal, \ooo and \xhh mean any byte, and \u and \U do not exist.
//
// Invariant: in a STRING, \ooo, \xhh, \u and \U mean a character below 128 or a code point, so that
// escapes never produce bytes that are not UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whorl::model {

struct EscapeError {
  size_t offset = 0;   // the position of the backslash in the body
  std::string reason;  // names the sequence and the error
};

enum class EscapesOf : uint8_t { kString, kBytes };

// The body of a literal (the text between its quotes) with its escapes replaced; nullopt, with
// `error` filled in, if one is invalid.
std::optional<std::string> UndoEscapes(std::string_view body, EscapesOf literal,
                                       EscapeError& error);

}  // namespace whorl::model
