// Reads JSON: a record or a list of them in each line, or documents of several lines.
//
// If the first line of a file is cut, the file's documents take several lines each. Otherwise a line that
// is cut is wrong, and hides none of the lines after it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/brackets.h"
#include "check/json_text.h"
#include "check/line_reader.h"
#include "check/record_reader.h"
#include "check/serve_calls.h"
#include "protocol/protocols.h"

namespace whorl::check {

class JsonLines final : public LineReader {
 public:
  JsonLines(const ProtocolInfo& protocol, Wanted wanted)
      : protocol_(protocol), wanted_(std::move(wanted)) {}

  std::string Read(std::string_view line, const Place& place, std::vector<Operation>& out) override;
  std::string Finish() override;

 private:
  std::string Document(std::vector<Operation>& out);
  std::string Records(const Node& value, const Place& place, std::vector<Operation>& out);

  const ProtocolInfo& protocol_;
  Wanted wanted_;
  ServeCalls serve_calls_;
  JsonText json_;
  Brackets document_{Syntax::kJson};
  bool is_first_ = true;
  bool takes_several_ = false;  // lines a document
};

}  // namespace whorl::check
