// Reads JSON lines (check/record_reader.h says of what).
//
// Deliberately left out: documents of several lines.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/json_text.h"
#include "check/operation.h"
#include "check/record_reader.h"
#include "protocol/protocols.h"

namespace whorl::check {

class JsonLines {
 public:
  JsonLines(const ProtocolInfo& protocol, Wanted wanted)
      : protocol_(protocol), wanted_(std::move(wanted)) {}

  // Adds the line's operations to `out`; an empty line has none. Returns what is wrong with it,
  // beginning with the file, the line and, if there is one, the column; then it adds nothing.
  std::string Read(std::string_view line, const Place& place, std::vector<Operation>& out);

 private:
  const ProtocolInfo& protocol_;
  Wanted wanted_;
  JsonText json_;
};

}  // namespace whorl::check
