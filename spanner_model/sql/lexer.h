// Splits the text of a statement or of DDL into tokens.
//
// Invariants:
//   1. Any bytes are accepted; an invalid text gives INVALID_ARGUMENT that points at the position.
//   2. The last token is kEnd. Tokens refer to the text by offset and hold no pointers into it.
//   3. A keyword is an unquoted identifier: the parser decides by Token::Is, since most words of
//      GoogleSQL are keywords in some places only. IsReserved is true for those that cannot name a
//      column without backquotes.
// Deliberately left out: triple quotes, positional parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/spanner/status.h"

namespace whorl::model {

enum class TokenKind : uint8_t {
  kIdentifier,        // text as written
  kQuotedIdentifier,  // text without the backquotes
  kInteger,           // magnitude
  kFloat,             // number
  kString,            // text with its escapes undone
  kBytes,             // text with its escapes undone
  kParameter,         // text without the @
  kHint,              // text between the braces of @{...}
  kSymbol,            // text: ( ) , ; = != < and so on
  kEnd
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  size_t offset = 0;
  size_t end = 0;  // one past the last byte
  std::string text;
  uint64_t magnitude = 0;
  double number = 0;

  // Whether the token is this unquoted word, in any case.
  bool Is(std::string_view word) const;
  bool IsSymbol(std::string_view symbol) const {
    return kind == TokenKind::kSymbol && text == symbol;
  }
};

std::variant<std::vector<Token>, Status> Tokenize(std::string_view text);

// Whether GoogleSQL reserves the word. REQUIRES: `word` in capitals.
bool IsReserved(std::string_view word);

// The token as messages describe it: `keyword FROM`, `identifier "x"`, `end of statement`.
std::string DescribeToken(const Token& token, std::string_view source);

// The escapes of GoogleSQL's string literals: \a \b \f \n \r \t \v \\ \? \" \' \` \ooo \xhh
// \uhhhh \Uhhhhhhhh. In a BYTES literal, \ooo and \xhh mean any byte, and \u and \U do not exist.
//
// Invariant: in a STRING, \ooo, \xhh, \u and \U mean a character below 128 or a code point, so that
// escapes never produce bytes that are not UTF-8.

struct EscapeError {
  size_t offset = 0;   // the position of the backslash in the body
  std::string reason;  // names the sequence and the error
};

enum class EscapesOf : uint8_t { kString, kBytes };

// The body of a literal (the text between its quotes) with its escapes replaced; nullopt, with
// `error` filled in, if one is invalid.
std::optional<std::string> UndoEscapes(std::string_view body, EscapesOf literal,
                                       EscapeError& error);

}  // namespace whorl::model
