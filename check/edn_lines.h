// Reads EDN, the notation of Jepsen's histories: keywords and symbols become strings, maps objects, and
// tags are left out.
//
// Deliberately left out: maps whose keys are collections.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/brackets.h"
#include "check/line_reader.h"
#include "check/node.h"
#include "check/record_reader.h"
#include "protocol/protocols.h"

namespace whorl::check {

class EdnLines final : public LineReader {
 public:
  EdnLines(const ProtocolInfo& protocol, Wanted wanted)
      : protocol_(protocol), wanted_(std::move(wanted)) {}

  std::string Read(std::string_view line, const Place& place, std::vector<Operation>& out) override;
  std::string Finish() override;

 private:
  const ProtocolInfo& protocol_;
  Wanted wanted_;
  Nodes nodes_;
  Brackets document_{Syntax::kEdn};
};

}  // namespace whorl::check
