// Reads EDN, the notation of Jepsen's histories: keywords and symbols become strings, maps objects, and
// tags are left out. Lists are read element by element.
//
// Deliberately left out: members whose key is a collection, nil or a boolean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/elements.h"
#include "check/jepsen.h"
#include "check/line_reader.h"
#include "check/node.h"
#include "check/record_reader.h"
#include "protocol/protocols.h"

namespace whorl::check {

class EdnLines final : public LineReader, private Elements::Taker {
 public:
  EdnLines(const ProtocolInfo& protocol, Wanted wanted)
      : protocol_(protocol), wanted_(std::move(wanted)), jepsen_(wanted_) {}

  std::string Read(std::string_view line, const Place& place, std::vector<Operation>& out) override;
  bool TakesParts() const override { return true; }
  std::string Part(std::string_view part, const Place& place, std::vector<Operation>& out) override;
  std::string Finish() override;

 private:
  void Take(std::string_view text, const TextAt& at) override;
  void TakeNothing(const TextAt& /*at*/) override {}  // commas are spaces
  bool IsList(std::string_view /*name*/, size_t /*deep*/) const override { return false; }
  void Cut();
  // Gives up what is open, if the line is an operation by itself.
  bool BeginsAnew(std::string_view line);
  std::string Said();

  const ProtocolInfo& protocol_;
  Wanted wanted_;
  Nodes nodes_;
  JepsenHistory jepsen_;
  Elements elements_{Syntax::kEdn, *this};
  std::vector<Operation>* out_ = nullptr;  // of the call
  std::vector<std::string> wrong_;         // of the call
  int64_t column_ = 1;                     // of the next part of the line
};

}  // namespace whorl::check
