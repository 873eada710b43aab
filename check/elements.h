// Cuts a document of JSON or EDN into its elements while it is read, so that one that is broken costs itself,
// and a document of any length no more memory than its longest element.
//
// An element is a value at the top, or one of a list that stands at the top, in such a list, or, by its name, in
// an object there: {"resourceSpans": [..]}. What of such an object stands before its list is kept as its head,
// and the object without the list's elements is an element itself when it ends.
//
// Invariant: elements come with the place of their first character. That they are JSON, or EDN, is not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "check/operation.h"

namespace whorl::check {

enum class Syntax : uint8_t { kJson, kEdn };

// A character of a file.
struct TextAt {
  Place place;
  int64_t column = 1;

  // "file:line:column", of the character `offset` further on in `text`, which begins here.
  std::string WhereIs(std::string_view text, size_t offset) const;
};

class Elements {
 public:
  class Taker {
   public:
    virtual ~Taker() = default;
    virtual void Take(std::string_view text, const TextAt& at) = 0;
    // A comma stands where a value is missing.
    virtual void TakeNothing(const TextAt& at) = 0;
    // Whether the member of an object within `deep` such members is a list of elements.
    virtual bool IsList(std::string_view name, size_t deep) const = 0;
  };
  // An object whose list is being read.
  struct Head {
    std::string text;  // up to the list's bracket
    std::string list;  // its name
    TextAt at;
    int64_t number = 0;  // tells heads apart
  };

  Elements(Syntax syntax, Taker& taker) : syntax_(syntax), taker_(taker) {}

  // The text of a line, or a part of it, that begins at the column.
  void Add(std::string_view text, const Place& place, int64_t column = 1);
  void EndLine();
  // Whether what began has not ended.
  bool is_open() const { return !open_.empty() || depth_ > 0 || in_string_; }
  // Whether an element of the top is open.
  bool is_open_at_top() const { return open_.empty() && is_open(); }
  // Whether an element of a list may have ended, but no comma has come.
  bool MayMissComma() const { return !open_.empty() && depth_ == 0 && !in_string_ && !Blank(); }
  // Gives out the element unchanged.
  void Flush();
  // The text has ended, or is given up: where what is open began.
  TextAt Abandon();

  // From the outermost one to that whose list's elements come now.
  const std::vector<Head>& heads() const { return heads_; }

 private:
  struct Open {
    bool is_in_object = false;
    TextAt at;
  };

  bool Blank() const { return text_.empty(); }
  TextAt Here() const { return {.place = place_, .column = column_}; }
  void Keep(char c);
  void Bracket(char c);
  void OpenList();
  void CloseList();

  static constexpr size_t kDeepest = 8;

  const Syntax syntax_;
  Taker& taker_;
  std::vector<Open> open_;  // lists whose elements are taken one by one
  std::vector<Head> heads_;
  int64_t heads_made_ = 0;
  std::string text_;  // of the element, from its first character
  TextAt at_;
  int64_t depth_ = 0;  // brackets within it
  bool in_string_ = false;
  bool is_escaped_ = false;
  bool in_comment_ = false;
  bool may_end_list_ = true;  // in JSON no comma stands before
  bool has_value_ = false;    // since the last comma
  char last_ = 0;
  int64_t discards_ = 0;  // values that EDN leaves out
  size_t string_at_ = 0;  // of the newest string in `text_`
  std::string key_;       // the newest string of an object's first depth
  bool has_key_ = false;
  Place place_;
  int64_t column_ = 1;
};

}  // namespace whorl::check
