#include "spanner_model/sql/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "spanner_model/sql/source_error.h"
#include "spanner_model/sql/words.h"

namespace whorl::model {

namespace {

bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool StartsWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool ContinuesWord(char c) { return StartsWord(c) || IsDigit(c); }
bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

// One byte of a text, in octal if it is not ASCII, since it may be part of a character.
std::string Printable(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x80) return {c};
  const auto digit = [byte](int shift) { return static_cast<char>('0' + (byte >> shift & 7)); };
  return {'\\', digit(6), digit(3), digit(0)};
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::variant<std::vector<Token>, Status> Run() {
    while (!error_) {
      SkipSpaceAndComments();
      if (error_ || at_ == text_.size()) break;
      LexToken();
    }
    if (error_) return std::move(*error_);
    Token& end = Begin(TokenKind::kEnd);
    end.offset = text_.size();
    end.end = text_.size();
    return std::move(tokens_);
  }

 private:
  // The byte `ahead` of the current one; NUL, which no token contains, beyond the end.
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void Fail(size_t offset, const std::string& message) {
    if (!error_) error_ = SourceError(text_, offset, message);
  }
  Token& Begin(TokenKind kind) {
    Token& token = tokens_.emplace_back();
    token.kind = kind;
    token.offset = at_;
    return token;
  }

  void SkipSpaceAndComments() {
    while (at_ < text_.size()) {
      if (IsSpace(Peek())) {
        ++at_;
      } else if (Peek() == '#' || (Peek() == '-' && Peek(1) == '-')) {
        while (at_ < text_.size() && Peek() != '\n' && Peek() != '\r') ++at_;
      } else if (Peek() == '/' && Peek(1) == '*') {
        const size_t close = text_.find("*/", at_ + 2);
        if (close == std::string_view::npos) return Fail(at_, "Syntax error: Unclosed comment");
        at_ = close + 2;
      } else {
        return;
      }
    }
  }

  void LexToken() {
    const char c = Peek();
    if (StartsWord(c)) {
      LexWord();
    } else if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) {
      LexNumber();
    } else if (c == '\'' || c == '"') {
      TakeLiteral(Begin(TokenKind::kString), /*raw=*/false);
    } else if (c == '`') {
      LexQuotedIdentifier(TokenKind::kQuotedIdentifier);
    } else if (c == '@') {
      LexParameter();
    } else {
      LexSymbol();
    }
    if (!error_) tokens_.back().end = at_;
  }

  void LexWord() {
    const size_t start = at_;
    Token& token = Begin(TokenKind::kIdentifier);
    while (ContinuesWord(Peek())) ++at_;
    token.text = std::string(text_.substr(start, at_ - start));
    if (Peek() != '\'' && Peek() != '"') return;
    const std::string prefix = ToCapitals(token.text);
    const bool raw = prefix == "R" || prefix == "RB" || prefix == "BR";
    if (!raw && prefix != "B") return;
    token.kind = prefix == "R" ? TokenKind::kString : TokenKind::kBytes;
    TakeLiteral(token, raw);
  }

  void LexNumber() {
    Token& token = Begin(TokenKind::kInteger);
    const size_t start = at_;
    if (Peek() == '0' && (Peek(1) == 'x' || Peek(1) == 'X') && IsHexDigit(Peek(2))) {
      at_ += 2;
      while (IsHexDigit(Peek())) ++at_;
      FinishInteger(token, start + 2, 16);
    } else {
      while (IsDigit(Peek())) ++at_;
      if (SkipFractionAndExponent()) {
        FinishFloat(token);
      } else {
        FinishInteger(token, start, 10);
      }
    }
    if (ContinuesWord(Peek())) {
      Fail(at_, "Syntax error: Missing whitespace between literal and alias");
    }
  }

  // Skips a fraction (`.5`) and an exponent (`e-3`); false if there is neither.
  bool SkipFractionAndExponent() {
    const size_t start = at_;
    if (Peek() == '.') {
      ++at_;
      while (IsDigit(Peek())) ++at_;
    }
    if (Peek() == 'e' || Peek() == 'E') {
      const size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
      if (IsDigit(Peek(1 + sign))) {
        at_ += 2 + sign;
        while (IsDigit(Peek())) ++at_;
      }
    }
    return at_ != start;
  }

  void FinishInteger(Token& token, size_t digits, int base) {
    const auto result =
        std::from_chars(text_.data() + digits, text_.data() + at_, token.magnitude, base);
    // A minus sign, which only the parser sees, may precede one more than the greatest INT64.
    constexpr uint64_t kMost = uint64_t{1} << 63;
    if (result.ec != std::errc() || token.magnitude > kMost) {
      Fail(token.offset, "Invalid integer literal: " +
                             std::string(text_.substr(token.offset, at_ - token.offset)));
    }
  }

  void FinishFloat(Token& token) {
    token.kind = TokenKind::kFloat;
    const char* const begin = text_.data() + token.offset;
    const auto result = std::from_chars(begin, text_.data() + at_, token.number);
    if (result.ec != std::errc() || result.ptr != text_.data() + at_) {
      Fail(token.offset, "Invalid floating point literal: " +
                             std::string(text_.substr(token.offset, at_ - token.offset)));
    }
  }

  // Reads a literal from its opening quote on. A raw literal keeps its backslashes.
  void TakeLiteral(Token& token, bool raw) {
    const char quote = Peek();
    if (Peek(1) == quote && Peek(2) == quote) {
      return Fail(at_, "A triple-quoted string is not modelled");
    }
    const bool bytes = token.kind == TokenKind::kBytes;
    const auto body = TakeQuoted(quote, bytes ? "bytes literal" : "string literal");
    if (!body) return;
    if (raw) {
      token.text = std::string(*body);
    } else {
      Unescape(*body, token);
    }
  }

  void LexQuotedIdentifier(TokenKind kind) {
    Token& token = Begin(kind);
    const auto body = TakeQuoted('`', "identifier literal");
    if (!body) return;
    Unescape(*body, token);
    if (!error_ && token.text.empty()) Fail(token.offset, "Syntax error: Invalid empty identifier");
  }

  // Reads the text between two quotes and skips the quotes. Escapes are left as they are.
  std::optional<std::string_view> TakeQuoted(char quote, const char* what) {
    const size_t start = at_++;
    while (at_ < text_.size() && Peek() != quote && Peek() != '\n' && Peek() != '\r') {
      at_ += Peek() == '\\' && at_ + 1 < text_.size() ? 2 : 1;
    }
    if (at_ >= text_.size() || Peek() != quote) {
      Fail(start, std::string("Syntax error: Unclosed ") + what);
      return std::nullopt;
    }
    ++at_;
    return text_.substr(start + 1, at_ - start - 2);
  }

  void Unescape(std::string_view body, Token& token) {
    EscapeError error;
    const EscapesOf literal =
        token.kind == TokenKind::kBytes ? EscapesOf::kBytes : EscapesOf::kString;
    if (auto text = UndoEscapes(body, literal, error)) {
      token.text = std::move(*text);
      return;
    }
    Fail(static_cast<size_t>(body.data() - text_.data()) + error.offset,
         "Syntax error: Illegal escape sequence: " + error.reason);
  }

  // @{name=value, ...}
  void LexHint() {
    const size_t start = at_;
    const size_t end = text_.find('}', start);
    if (end == std::string_view::npos) return Fail(start, "Syntax error: Unclosed hint");
    const std::string_view body = text_.substr(start + 2, end - start - 2);
    if (body.find('=') == std::string_view::npos || body.find('{') != std::string_view::npos) {
      return Fail(start, "Syntax error: A hint is @{name=value, ...}");
    }
    Begin(TokenKind::kHint).text = std::string(body);
    at_ = end + 1;
  }

  void LexParameter() {
    const size_t start = at_;
    if (Peek(1) == '@') return Fail(start, "A system variable is not modelled");
    if (Peek(1) == '{') return LexHint();
    ++at_;
    if (Peek() == '`') {
      LexQuotedIdentifier(TokenKind::kParameter);
    } else if (StartsWord(Peek())) {
      Token& token = Begin(TokenKind::kParameter);
      while (ContinuesWord(Peek())) ++at_;
      token.text = std::string(text_.substr(start + 1, at_ - start - 1));
    } else {
      return Fail(start, "Syntax error: Unexpected \"@\"");
    }
    tokens_.back().offset = start;
  }

  void LexSymbol() {
    constexpr std::array<std::string_view, 7> kDouble = {"!=", "<>", "<=", ">=", "||", "<<", ">>"};
    constexpr std::string_view kSingle = "(),;=<>+-*/.[]{}:~&|^%?";
    const std::string_view two = text_.substr(at_, 2);
    size_t length = 1;
    if (std::find(kDouble.begin(), kDouble.end(), two) != kDouble.end()) {
      length = 2;
    } else if (kSingle.find(Peek()) == std::string_view::npos || Peek() == '\0') {
      return Fail(at_, "Syntax error: Illegal input character \"" + Printable(Peek()) + "\"");
    }
    Begin(TokenKind::kSymbol).text = std::string(text_.substr(at_, length));
    at_ += length;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<Token> tokens_;
  std::optional<Status> error_;
};

}  // namespace

bool Token::Is(std::string_view word) const {
  return kind == TokenKind::kIdentifier && EqualIgnoringCase(text, word);
}

std::variant<std::vector<Token>, Status> Tokenize(std::string_view text) {
  return Lexer(text).Run();
}

bool IsReserved(std::string_view word) {
  // Sorted for binary search.
  constexpr auto kWords = std::to_array<std::string_view>({"ALL",
                                                           "AND",
                                                           "ANY",
                                                           "ARRAY",
                                                           "AS",
                                                           "ASC",
                                                           "ASSERT_ROWS_MODIFIED",
                                                           "AT",
                                                           "BETWEEN",
                                                           "BY",
                                                           "CASE",
                                                           "CAST",
                                                           "COLLATE",
                                                           "CONTAINS",
                                                           "CREATE",
                                                           "CROSS",
                                                           "CUBE",
                                                           "CURRENT",
                                                           "DEFAULT",
                                                           "DEFINE",
                                                           "DESC",
                                                           "DISTINCT",
                                                           "ELSE",
                                                           "END",
                                                           "ENUM",
                                                           "ESCAPE",
                                                           "EXCEPT",
                                                           "EXCLUDE",
                                                           "EXISTS",
                                                           "EXTRACT",
                                                           "FALSE",
                                                           "FETCH",
                                                           "FOLLOWING",
                                                           "FOR",
                                                           "FROM",
                                                           "FULL",
                                                           "GROUP",
                                                           "GROUPING",
                                                           "GROUPS",
                                                           "HASH",
                                                           "HAVING",
                                                           "IF",
                                                           "IGNORE",
                                                           "IN",
                                                           "INNER",
                                                           "INTERSECT",
                                                           "INTERVAL",
                                                           "INTO",
                                                           "IS",
                                                           "JOIN",
                                                           "LATERAL",
                                                           "LEFT",
                                                           "LIKE",
                                                           "LIMIT",
                                                           "LOOKUP",
                                                           "MERGE",
                                                           "NATURAL",
                                                           "NEW",
                                                           "NO",
                                                           "NOT",
                                                           "NULL",
                                                           "NULLS",
                                                           "OF",
                                                           "ON",
                                                           "OR",
                                                           "ORDER",
                                                           "OUTER",
                                                           "OVER",
                                                           "PARTITION",
                                                           "PRECEDING",
                                                           "PROTO",
                                                           "RANGE",
                                                           "RECURSIVE",
                                                           "RESPECT",
                                                           "RIGHT",
                                                           "ROLLUP",
                                                           "ROWS",
                                                           "SELECT",
                                                           "SET",
                                                           "SOME",
                                                           "STRUCT",
                                                           "TABLESAMPLE",
                                                           "THEN",
                                                           "TO",
                                                           "TREAT",
                                                           "TRUE",
                                                           "UNBOUNDED",
                                                           "UNION",
                                                           "UNNEST",
                                                           "USING",
                                                           "WHEN",
                                                           "WHERE",
                                                           "WINDOW",
                                                           "WITH",
                                                           "WITHIN"});
  static_assert(std::is_sorted(kWords.begin(), kWords.end()));
  return std::binary_search(kWords.begin(), kWords.end(), word);
}

std::string DescribeToken(const Token& token, std::string_view source) {
  std::string written(source.substr(token.offset, token.end - token.offset));
  switch (token.kind) {
    case TokenKind::kIdentifier: {
      const std::string word = ToCapitals(token.text);
      return IsReserved(word) ? "keyword " + word : "identifier \"" + token.text + "\"";
    }
    case TokenKind::kQuotedIdentifier:
      return "identifier " + written;
    case TokenKind::kInteger:
      return "integer literal \"" + written + "\"";
    case TokenKind::kFloat:
      return "floating point literal \"" + written + "\"";
    case TokenKind::kString:
      return "string literal " + written;
    case TokenKind::kBytes:
      return "bytes literal " + written;
    case TokenKind::kParameter:
      return "parameter " + written;
    case TokenKind::kHint:
      return "hint " + written;
    case TokenKind::kSymbol:
      return "\"" + written + "\"";
    case TokenKind::kEnd:
      return "end of statement";
  }
  return written;
}

namespace {

void AppendUtf8(uint32_t code_point, std::string& out) {
  const auto byte = [&out](uint32_t bits) { out.push_back(static_cast<char>(bits)); };
  if (code_point < 0x80) {
    byte(code_point);
  } else if (code_point < 0x800) {
    byte(0xC0 | code_point >> 6);
    byte(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    byte(0xE0 | code_point >> 12);
    byte(0x80 | (code_point >> 6 & 0x3F));
    byte(0x80 | (code_point & 0x3F));
  } else {
    byte(0xF0 | code_point >> 18);
    byte(0x80 | (code_point >> 12 & 0x3F));
    byte(0x80 | (code_point >> 6 & 0x3F));
    byte(0x80 | (code_point & 0x3F));
  }
}

// The character that `\c` means, if it is a simple escape.
std::optional<char> SimpleEscape(char c) {
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case '\\':
    case '?':
    case '"':
    case '\'':
    case '`':
      return c;
    default:
      return std::nullopt;
  }
}

// The form of a numeric escape.
struct NumberForm {
  size_t prefix = 0;  // letters before the digits
  size_t digits = 0;
  uint32_t base = 16;
  uint32_t limit = 0xFF;  // greatest value
};

std::optional<NumberForm> FormOf(char c, EscapesOf literal) {
  const bool bytes = literal == EscapesOf::kBytes;
  // In a STRING these are code points; in BYTES, bytes.
  constexpr uint32_t limit = 0xFF;
  if (c >= '0' && c <= '7') return NumberForm{.prefix = 0, .digits = 3, .base = 8, .limit = limit};
  if (c == 'x' || c == 'X') return NumberForm{.prefix = 1, .digits = 2, .base = 16, .limit = limit};
  if (bytes) return std::nullopt;
  if (c == 'u') return NumberForm{.prefix = 1, .digits = 4, .base = 16, .limit = 0xFFFF};
  if (c == 'U') return NumberForm{.prefix = 1, .digits = 8, .base = 16, .limit = 0x10FFFF};
  return std::nullopt;
}

std::optional<uint32_t> DigitOf(char c, uint32_t base) {
  uint32_t digit = base;
  if (c >= '0' && c <= '9') digit = static_cast<uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') digit = static_cast<uint32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') digit = static_cast<uint32_t>(c - 'A' + 10);
  if (digit >= base) return std::nullopt;
  return digit;
}

// The number that the digits give; nullopt if a digit is missing or the number is not allowed.
std::optional<uint32_t> ReadNumber(std::string_view digits, const NumberForm& form) {
  if (digits.size() != form.digits) return std::nullopt;
  uint32_t number = 0;
  for (const char c : digits) {
    const auto digit = DigitOf(c, form.base);
    if (!digit) return std::nullopt;
    number = number * form.base + *digit;  // eight digits of base 16 fit
  }
  if (number > form.limit) return std::nullopt;
  if (number >= 0xD800 && number <= 0xDFFF) return std::nullopt;  // surrogates
  return number;
}

}  // namespace

std::optional<std::string> UndoEscapes(std::string_view body, EscapesOf literal,
                                       EscapeError& error) {
  std::string out;
  out.reserve(body.size());
  for (size_t at = 0; at < body.size();) {
    if (body[at] != '\\') {
      out.push_back(body[at++]);
      continue;
    }
    const std::string_view rest = body.substr(at + 1);
    const char c = rest.empty() ? '\0' : rest.front();
    if (const auto simple = SimpleEscape(c)) {
      out.push_back(*simple);
      at += 2;
      continue;
    }
    const auto form = FormOf(c, literal);
    const auto number =
        form ? ReadNumber(rest.substr(form->prefix, form->digits), *form) : std::nullopt;
    if (!number) {
      const size_t length = form ? form->prefix + form->digits : 1;
      error = {.offset = at, .reason = "\\" + std::string(rest.substr(0, length))};
      return std::nullopt;
    }
    if (literal == EscapesOf::kBytes) {
      out.push_back(static_cast<char>(*number));
    } else {
      AppendUtf8(*number, out);
    }
    at += 1 + form->prefix + form->digits;
  }
  return out;
}

}  // namespace whorl::model
