// Reads a file line by line, in one of the formats that histories come in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "check/operation.h"

namespace whorl::check {

class LineReader {
 public:
  LineReader() = default;
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  virtual ~LineReader() = default;

  // Adds the operations of a line, or of a record that it ends, to `out`; many lines have none. Returns
  // what is wrong, beginning with the file, the line and, if it is known, the column; then it adds
  // nothing.
  virtual std::string Read(std::string_view line, const Place& place,
                           std::vector<Operation>& out) = 0;
  // The file has ended. Returns what is wrong with a record that it cuts.
  virtual std::string Finish() { return {}; }
};

}  // namespace whorl::check
