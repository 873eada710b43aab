// Joins the lines of a document that takes several: they belong together until all brackets are closed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "check/operation.h"

namespace whorl::check {

enum class Syntax : uint8_t { kJson, kEdn };

class Brackets {
 public:
  explicit Brackets(Syntax syntax) : syntax_(syntax) {}

  bool is_open() const { return depth_ > 0 || in_string_; }
  const std::string& text() const { return text_; }
  const Place& place() const { return place_; }  // of its first line

  // REQUIRES: !is_open().
  void Begin(std::string_view line, const Place& place);
  void Add(std::string_view line);

  // The place of a byte of the text, as "file:line:column".
  std::string WhereIs(size_t at) const;

 private:
  void Follow(std::string_view line);

  Syntax syntax_;
  std::string text_;
  Place place_;
  int64_t depth_ = 0;
  bool in_string_ = false;
};

}  // namespace whorl::check
