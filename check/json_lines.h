// Reads JSON: a record in each line, or documents of several lines, whose lists are read element by element.
//
// If the first line of a file is cut, the file's documents take several lines each. Otherwise a line that
// is cut is wrong, and hides none of the lines after it; nor does a first line after which whole objects come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/elements.h"
#include "check/jepsen.h"
#include "check/json_text.h"
#include "check/line_reader.h"
#include "check/record_reader.h"
#include "check/serve_calls.h"
#include "protocol/protocols.h"

namespace whorl::check {

class JsonLines final : public LineReader, private Elements::Taker {
 public:
  JsonLines(const ProtocolInfo& protocol, Wanted wanted)
      : protocol_(protocol), wanted_(std::move(wanted)), jepsen_(wanted_) {}

  std::string Read(std::string_view line, const Place& place, std::vector<Operation>& out) override;
  bool TakesParts() const override { return true; }
  std::string Part(std::string_view part, const Place& place, std::vector<Operation>& out) override;
  std::string Finish() override;

 private:
  // A span, or a record of a log, whose resource has not come yet.
  struct Waiting {
    std::string text;
    TextAt at;
    bool is_span = false;
  };

  void Take(std::string_view text, const TextAt& at) override;
  void TakeNothing(const TextAt& at) override;
  bool IsList(std::string_view name, size_t deep) const override;
  void OfResource(std::string_view text, const TextAt& at, const Node* resource, bool is_span);
  // The resource of what is read now; nothing: it has not come yet.
  std::optional<const Node*> Resource();
  void ReadWaiting(const Node* resource);
  const Node* Parsed(std::string_view text, const TextAt& at, JsonText& json);
  // `at`: where it is in its line; null: it is the line.
  void Records(const Node& value, const Place& place, const TextAt* at);
  void Cut();
  // Gives up what is open, if the line is whole by itself.
  bool BeginsAnew(std::string_view line, const Place& place);
  std::string Said();

  const ProtocolInfo& protocol_;
  Wanted wanted_;
  ServeCalls serve_calls_;
  JepsenHistory jepsen_;
  JsonText json_;
  Elements elements_{Syntax::kJson, *this};
  std::vector<Operation>* out_ = nullptr;  // of the call
  std::vector<std::string> wrong_;         // of the call
  JsonText resource_json_;
  const Node* resource_ = nullptr;
  int64_t resource_of_ = 0;  // the number of the head
  std::vector<Waiting> waiting_;
  int64_t column_ = 1;  // of the next part of the line
  bool is_first_ = true;
  bool takes_several_ = false;  // lines a document
  bool may_be_cut_ = false;     // the line that is read by its parts
};

}  // namespace whorl::check
