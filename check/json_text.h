// Parses JSON by RapidJSON's parser, which says where a text is broken and is headers only, so that it costs a
// start of the command nothing. (Its document does not compile with clang 19.) nlohmann-json, which scenarios are
// read with, takes 4.5 times the instructions for a line of a history.
//
// Invariants:
//   1. What Parse() returns is valid UTF-8, however deeply nested.
//   2. Memory is that of the longest text so far.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "check/node.h"

namespace whorl::check {

class JsonText {
 public:
  // The value, or nullptr. It lives until the next call; its strings are those of this object.
  const Node* Parse(std::string_view text);

  // Of the text that was refused.
  const std::string& error() const { return error_; }
  size_t error_at() const { return error_at_; }  // in bytes, from 0
  // Whether more of it might have made it a value.
  bool is_cut() const { return is_cut_; }

 private:
  std::string buffer_;
  Nodes nodes_;
  std::string error_;
  size_t error_at_ = 0;
  bool is_cut_ = false;
};

}  // namespace whorl::check
