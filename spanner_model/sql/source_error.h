// Errors that point at a position in a text of SQL, in Spanner's form:
//
//   Table not found: nosuch [at 1:15]
//   SELECT a FROM nosuch
//                 ^
//
// Invariant: any bytes are accepted. Lines and columns count from 1, a column is a character of
// UTF-8, and a tab extends to the next multiple of eight, as in GoogleSQL.
// Deliberately left out: shortening of long lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/spanner/status.h"

namespace whorl::model {

struct SourcePosition {
  int64_t line = 1;
  int64_t column = 1;
  std::string line_text;  // without the line end, tabs expanded
};

// REQUIRES: offset <= text.size().
SourcePosition LocateInSource(std::string_view text, size_t offset);

// INVALID_ARGUMENT with the position, the line and the caret appended.
Status SourceError(std::string_view text, size_t offset, const std::string& message);

}  // namespace whorl::model
