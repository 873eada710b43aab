// Reads the log of any program by regular expressions (RE2's: linear in the line's length), which a mapping
// in JSON names:
//
//   {"time": "%Y/%m/%d %H:%M:%E*S", "utc_offset": "+02:00", "resolution": "1s",
//    "lines": [{"match": "\\[(?P<id>[^]]+)\\] (?P<time>\\S+ \\S+) became leader", "event": "leads",
//               "lock": "job"}]}
//
// The first expression that is found in a line decides. Its named groups, and the strings beside "match",
// are the members that a JSON line of a process has; with the event "none" the line says nothing. Lines in which
// no expression is found may say anything, unless the mapping says which kinds of lines its expressions find:
//   "logs"        "leads works": each line of these kinds is found, and so the others say nothing of them
//   "time"        how absl::ParseTime reads time, sent and received; otherwise RFC 3339
//   "utc_offset"  of times that name none; otherwise UTC
//   "resolution"  what a time may lack of the clock's reading: "1s" if it shows whole seconds
// Without an id it is the file's name, without its ending; without a lock, the one that is judged.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/line_reader.h"
#include "check/node.h"
#include "check/record_reader.h"
#include "protocol/protocols.h"

namespace whorl::check {

class LogPattern {
 public:
  LogPattern();
  LogPattern(LogPattern&&) noexcept;
  LogPattern& operator=(LogPattern&&) noexcept;
  ~LogPattern();

  // Returns what is wrong with the mapping, or an empty text.
  std::string Parse(std::string_view text);
  std::string Parse(const Node& mapping);

  using Members = std::vector<std::pair<std::string, std::string>>;
  struct Found {
    size_t expression = 0;
    Members members;
  };
  // Nothing if no expression is found in the line. Throws Wrong.
  std::optional<Found> Match(std::string_view line) const;
  std::vector<std::string> Expressions() const;
  // Whether it says which kinds of lines its expressions find.
  bool is_complete() const { return !logs_.empty(); }

 private:
  struct Line;
  std::vector<Line> lines_;
  std::string time_;
  int utc_offset_s_ = 0;
  std::string resolution_;
  std::string logs_;
};

// The mapping of a program's log that comes with whorl.
std::optional<std::string_view> ReadyPattern(std::string_view name);
// A ready mapping by its name, or a file with one. Returns what is wrong, or an empty text.
std::string ReadPattern(const std::string& name, LogPattern& out);

class LogLines final : public LineReader {
 public:
  // REQUIRES: the pattern lives longer.
  LogLines(const ProtocolInfo& protocol, Wanted wanted, const LogPattern& pattern)
      : protocol_(protocol), wanted_(std::move(wanted)), pattern_(pattern) {
    size_t index = 0;
    for (const std::string& match : pattern.Expressions()) {
      wanted_.Counts().Matched(index++, match, /*count=*/0);
    }
  }

  std::string Read(std::string_view line, const Place& place, std::vector<Operation>& out) override;

 private:
  const ProtocolInfo& protocol_;
  Wanted wanted_;
  const LogPattern& pattern_;
  Nodes nodes_;
};

}  // namespace whorl::check
