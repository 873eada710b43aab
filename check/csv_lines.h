// Reads CSV (RFC 4180), whose first line names the columns. Between fields stand commas, semicolons, tabs or
// bars, as in the first line; spaces around a field are left out, as are lines that begin with #.
//
// A row of lines of processes has the columns that JSON lines have as members: event, id, lock, time, ..
// A row of changes has commit_timestamp, mod_type, the columns of the lock table, and old_NAME for what was
// in the column NAME before. An empty field is not known; NULL is NULL. Names of columns are the same in any case.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/line_reader.h"
#include "check/node.h"
#include "check/record_reader.h"
#include "protocol/protocols.h"

namespace whorl::check {

// Whether it may be the first line of a history in CSV.
bool IsCsvHeader(std::string_view line);

class CsvLines final : public LineReader {
 public:
  CsvLines(const ProtocolInfo& protocol, Wanted wanted)
      : protocol_(protocol), wanted_(std::move(wanted)) {}

  std::string Read(std::string_view line, const Place& place, std::vector<Operation>& out) override;
  std::string Finish() override;

 private:
  // Throws Wrong.
  void Header();
  const Node& Object();
  const Node& Change();

  const ProtocolInfo& protocol_;
  Wanted wanted_;
  Nodes nodes_;
  char delimiter_ = ',';
  std::vector<std::string> columns_;
  std::vector<std::string> fields_;
  std::string record_;  // a quoted field may have line breaks
  Place begun_;
};

}  // namespace whorl::check
