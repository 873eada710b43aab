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
  // what is wrong, beginning with the file, the line and, if it is known, the column. Of that record it adds
  // nothing. If more than one element of a line is wrong, it returns the last one, and the others are in
  // RecordCounts::TakeRefused().
  virtual std::string Read(std::string_view line, const Place& place,
                           std::vector<Operation>& out) = 0;
  // The same for the next part of a line that goes on; Read() takes the last part. A reader that does
  // not take parts is given none.
  virtual bool TakesParts() const { return false; }
  virtual std::string Part(std::string_view /*part*/, const Place& /*place*/,
                           std::vector<Operation>& /*out*/) {
    return {};
  }
  // The file has ended. Returns what is wrong with a record that it cuts.
  virtual std::string Finish() { return {}; }
};

}  // namespace whorl::check
