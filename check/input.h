// Reads one file of a history, in any known format.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/line_reader.h"
#include "check/log_lines.h"
#include "check/record_reader.h"
#include "protocol/protocols.h"
#include "protocol/spanner/words.h"

namespace whorl::check {

enum class InputFormat : uint8_t { kJson, kEdn, kCsv, kLog };
constexpr auto WordTableOf(InputFormat) {
  return MakeWordTable<InputFormat>({
      {InputFormat::kJson, "json"},
      {InputFormat::kEdn, "edn"},
      {InputFormat::kCsv, "csv"},
      {InputFormat::kLog, "log"},
  });
}

// The format of a file, by its first line that is not empty; nothing if it is of none. `has_pattern`: it may be
// a log.
std::optional<InputFormat> FormatOf(std::string_view first_line, bool has_pattern);

struct InputOptions {
  Wanted wanted;
  std::optional<InputFormat> format;    // otherwise as FormatOf() says
  const LogPattern* pattern = nullptr;  // REQUIRED for a log; lives longer
};

class Input final : public LineReader {
 public:
  Input(const ProtocolInfo& protocol, InputOptions options)
      : protocol_(protocol), options_(std::move(options)) {}

  std::string Read(std::string_view line, const Place& place, std::vector<Operation>& out) override;
  bool TakesParts() const override { return true; }
  std::string Part(std::string_view part, const Place& place, std::vector<Operation>& out) override;
  std::string Finish() override;

 private:
  // Whether there is a reader now, by the line. Otherwise `wrong` says what is wrong with the file, if anything is.
  bool Knows(std::string_view line, const Place& place, std::string& wrong);
  void Make(InputFormat format);
  // Of lines that came before the first record.
  std::string RefuseUnknown();

  const ProtocolInfo& protocol_;
  InputOptions options_;
  std::unique_ptr<LineReader> reader_;
  std::vector<std::string> unknown_;  // the beginning of the first lines
  std::vector<int64_t> unknown_at_;
  int64_t unknown_lines_ = 0;
  Place place_;
  bool has_begun_ = false;
  bool is_part_ = false;     // of a line, whose beginning was seen
  std::string begun_;        // of such a line, for a reader that takes no parts
  bool is_refused_ = false;  // as a whole
};

}  // namespace whorl::check
