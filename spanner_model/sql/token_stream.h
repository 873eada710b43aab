// Reads the tokens of one text from left to right, and keeps the first error.
//
// Invariants:
//   1. After Fail, TakeWord and TakeSymbol take no token, so that every loop over them ends and a
//      parser may continue to its next test of failed().
//   2. The first error stays, since later ones may be its consequences.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/spanner/status.h"
#include "spanner_model/sql/lexer.h"
#include "spanner_model/sql/source_error.h"

namespace whorl::model {

class TokenStream {
 public:
  // REQUIRES: the tokens are those of `text`, which outlives this.
  TokenStream(std::string_view text, std::vector<Token> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  bool failed() const { return error_.has_value(); }
  Status TakeError() { return std::move(*error_); }
  void Fail(size_t offset, const std::string& message) {
    if (!error_) error_ = SourceError(text_, offset, message);
  }

  const Token& Peek(size_t ahead = 0) const {
    return tokens_[next_ + ahead < tokens_.size() ? next_ + ahead : tokens_.size() - 1];
  }
  bool AtWord(std::string_view word) const { return Peek().Is(word); }
  bool AtSymbol(std::string_view symbol) const { return Peek().IsSymbol(symbol); }
  // The last token is never removed, so Peek always has one to return.
  const Token& Take() {
    const Token& token = Peek();
    if (next_ + 1 < tokens_.size()) ++next_;
    return token;
  }

  bool TakeWord(std::string_view word) {
    if (failed() || !AtWord(word)) return false;
    Take();
    return true;
  }
  bool TakeSymbol(std::string_view symbol) {
    if (failed() || !AtSymbol(symbol)) return false;
    Take();
    return true;
  }
  std::string Describe(const Token& token) const { return DescribeToken(token, text_); }

 private:
  std::string_view text_;
  std::vector<Token> tokens_;
  size_t next_ = 0;
  std::optional<Status> error_;
};

}  // namespace whorl::model
