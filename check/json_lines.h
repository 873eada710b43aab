// Reads JSON lines: data change records of a Spanner change stream, and what processes log.
// docs/CHECKING.md has the schema.
//
// Deliberately left out: documents of several lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "check/operation.h"
#include "protocol/protocols.h"

namespace whorl::check {

class JsonLines {
 public:
  // `lock` and `table`: all others are left out; empty: none is.
  JsonLines(const ProtocolInfo& protocol, std::string lock, std::string table)
      : protocol_(protocol), lock_(std::move(lock)), table_(std::move(table)) {}

  // Adds the line's operations to `out`; an empty line has none. Returns what is wrong with it,
  // beginning with the file, the line and, if there is one, the column; then it adds nothing.
  std::string Read(std::string_view line, const Place& place, std::vector<Operation>& out) const;

 private:
  bool Wants(const std::string& lock) const {
    return lock_.empty() || lock.empty() || lock == lock_;
  }

  const ProtocolInfo& protocol_;
  std::string lock_;
  std::string table_;

  friend class LineReader;
};

}  // namespace whorl::check
