#include "check/elements.h"

#include <algorithm>
#include <utility>

#include "base/located_error.h"
#include "base/text.h"

namespace whorl::check {

std::string TextAt::WhereIs(std::string_view text, size_t offset) const {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto lines = std::ranges::count(before, '\n');
  const size_t newline = before.rfind('\n');
  const auto of_line = static_cast<int64_t>(
      newline == std::string_view::npos ? before.size() : before.size() - newline - 1);
  return Cat(AtLine(place.file, place.line + lines), ":",
             std::to_string(newline == std::string_view::npos ? column + of_line : of_line + 1));
}

void Elements::Flush() {
  if (Blank()) return;
  // What takes the text may ask for the heads, but adds nothing.
  const std::string text = std::exchange(text_, {});
  depth_ = 0;
  in_string_ = false;
  discards_ = 0;
  has_key_ = false;
  taker_.Take(text, at_);
}

void Elements::Keep(char c) {
  if (Blank()) at_ = Here();
  text_ += c;
}

void Elements::OpenList() {
  open_.push_back({.is_in_object = depth_ == 1, .at = Blank() ? Here() : at_});
  if (depth_ == 1) {
    heads_.push_back(
        {.text = std::exchange(text_, {}), .list = key_, .at = at_, .number = ++heads_made_});
    depth_ = 0;
    has_key_ = false;
  }
  may_end_list_ = true;
  has_value_ = false;
}

void Elements::CloseList() {
  const bool may_end = may_end_list_ || has_value_ || !Blank();
  Flush();
  if (syntax_ == Syntax::kJson && !may_end) taker_.TakeNothing(Here());
  const bool is_in_object = open_.back().is_in_object;
  open_.pop_back();
  may_end_list_ = true;
  has_value_ = true;
  if (!is_in_object) return;
  text_ = std::move(heads_.back().text) + "[]";
  at_ = heads_.back().at;
  heads_.pop_back();
  depth_ = 1;
}

void Elements::Bracket(char c) {
  const bool opens = c == '{' || c == '[' || c == '(';
  const bool is_list = c == '[' || (c == '(' && syntax_ == Syntax::kEdn);
  if (opens) {
    const bool is_member = syntax_ == Syntax::kJson && depth_ == 1 && text_.front() == '{' &&
                           has_key_ && open_.size() < kDeepest &&
                           taker_.IsList(key_, heads_.size());
    if (is_list && ((Blank() && open_.size() < kDeepest) || is_member)) return OpenList();
    Keep(c);
    ++depth_;
    return;
  }
  if (depth_ == 0 && !open_.empty() && c != '}') return CloseList();
  Keep(c);
  if (depth_ > 0) --depth_;
  if (syntax_ != Syntax::kEdn || depth_ > 0) return;
  if (discards_ > 0) {
    --discards_;
  } else {
    Flush();
  }
}

void Elements::Add(std::string_view text, const Place& place, int64_t column) {
  if (place_.line != place.line || place_.file != place.file) place_ = place;
  column_ = column;
  for (const char c : text) {
    if (in_comment_) break;
    if (is_escaped_) {
      is_escaped_ = false;
      Keep(c);
    } else if (c == '\\' && (in_string_ || syntax_ == Syntax::kEdn)) {
      is_escaped_ = true;  // a character of EDN, or one of a string
      Keep(c);
    } else if (c == '"') {
      Keep(c);
      if (!in_string_) string_at_ = text_.size();
      in_string_ = !in_string_;
      if (!in_string_ && depth_ == 1 && syntax_ == Syntax::kJson) {
        key_.assign(text_, string_at_, text_.size() - 1 - string_at_);
        has_key_ = false;
      }
    } else if (in_string_) {
      text_ += c;
    } else if (c == ';' && syntax_ == Syntax::kEdn) {
      in_comment_ = true;
    } else if (c == '{' || c == '[' || c == '(' || c == '}' || c == ']' || c == ')') {
      Bracket(c);
    } else if (c == ',' && syntax_ == Syntax::kJson && depth_ == 0 && !open_.empty()) {
      if (Blank() && !has_value_) taker_.TakeNothing(Here());
      Flush();
      may_end_list_ = false;
      has_value_ = false;
    } else if (c == ' ' || c == '\t' || c == '\r' || (c == ',' && syntax_ == Syntax::kEdn)) {
      if (!Blank()) text_ += c;
    } else {
      if (c == '_' && last_ == '#' && syntax_ == Syntax::kEdn) ++discards_;
      if (c == ':' && depth_ == 1) has_key_ = true;
      if (c == ',' && depth_ == 1) has_key_ = false;
      Keep(c);
    }
    last_ = c;
    ++column_;
  }
}

void Elements::EndLine() {
  in_comment_ = false;
  is_escaped_ = false;
  last_ = '\n';
  // No string of JSON goes on in the next line.
  if (syntax_ == Syntax::kJson) in_string_ = false;
  if (open_.empty() && !is_open()) {
    Flush();
  } else if (!Blank()) {
    text_ += '\n';
  }
}

TextAt Elements::Abandon() {
  const TextAt at = !Blank() ? at_ : !open_.empty() ? open_.back().at : Here();
  open_.clear();
  heads_.clear();
  text_.clear();
  depth_ = 0;
  in_string_ = is_escaped_ = in_comment_ = has_key_ = has_value_ = false;
  may_end_list_ = true;
  discards_ = 0;
  return at;
}

}  // namespace whorl::check
