#include "check/brackets.h"

#include <algorithm>

#include "sim/scenario/error_text.h"

namespace whorl::check {

void Brackets::Begin(std::string_view line, const Place& place) {
  text_ = line;
  place_ = place;
  depth_ = 0;
  in_string_ = false;
  Follow(line);
}

void Brackets::Add(std::string_view line) {
  text_ += '\n';
  text_ += line;
  Follow(line);
}

void Brackets::Follow(std::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && (in_string_ || syntax_ == Syntax::kEdn)) {
      ++i;  // a character of EDN, or one of a string
    } else if (c == '"') {
      in_string_ = !in_string_;
    } else if (in_string_) {
      continue;
    } else if (c == ';' && syntax_ == Syntax::kEdn) {
      return;
    } else if (c == '{' || c == '[' || c == '(') {
      ++depth_;
    } else if (c == '}' || c == ']' || c == ')') {
      --depth_;
    }
  }
}

std::string Brackets::WhereIs(size_t at) const {
  const std::string_view before = std::string_view(text_).substr(0, std::min(at, text_.size()));
  const auto lines = std::ranges::count(before, '\n');
  const size_t newline = before.rfind('\n');
  const size_t column =
      newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return sim::Cat(sim::Printable(place_.file, 1'000), ":", std::to_string(place_.line + lines), ":",
                  std::to_string(column));
}

}  // namespace whorl::check
