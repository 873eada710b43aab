#include "spanner_model/sql/expression_parser.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "spanner_model/sql/compile.h"
#include "spanner_model/sql/words.h"

namespace whorl::model {
namespace {

using ast::ExpressionKind;

std::optional<Op> ComparisonOp(const Token& token) {
  if (token.IsSymbol("=")) return Op::kEqual;
  if (token.IsSymbol("!=") || token.IsSymbol("<>")) return Op::kNotEqual;
  if (token.IsSymbol("<")) return Op::kLess;
  if (token.IsSymbol("<=")) return Op::kLessOrEqual;
  if (token.IsSymbol(">")) return Op::kGreater;
  if (token.IsSymbol(">=")) return Op::kGreaterOrEqual;
  return std::nullopt;
}

// Tokens that Spanner's grammar has and this parser does not, in any position.
bool IsUnmodelled(const Token& token) {
  constexpr auto kWords =
      std::to_array<std::string_view>({"ALL",         "ANY",       "ARRAY",  "ASSERT_ROWS_MODIFIED",
                                       "COLLATE",     "DISTINCT",  "CROSS",  "EXCEPT",
                                       "EXISTS",      "EXTRACT",   "FOR",    "FULL",
                                       "INNER",       "INTERSECT", "JOIN",   "LEFT",
                                       "NEW",         "OVER",      "RIGHT",  "STRUCT",
                                       "TABLESAMPLE", "UNION",     "UNNEST", "USING",
                                       "WINDOW",      "WITH"});
  constexpr auto kSymbols =
      std::to_array<std::string_view>({"&", "|", "^", "~", "<<", ">>", "[", "{", "?", "."});
  if (token.kind == TokenKind::kIdentifier) {
    return std::find(kWords.begin(), kWords.end(), ToCapitals(token.text)) != kWords.end();
  }
  return token.kind == TokenKind::kSymbol &&
         std::find(kSymbols.begin(), kSymbols.end(), token.text) != kSymbols.end();
}

}  // namespace

void FailAtToken(TokenStream& tokens, std::string_view expected) {
  const Token& token = tokens.Peek();
  if (IsUnmodelled(token)) {
    tokens.Fail(token.offset, ToCapitals(token.text) + " is not modelled");
    return;
  }
  const std::string what = tokens.Describe(token);
  if (expected.empty()) {
    tokens.Fail(token.offset, "Syntax error: Unexpected " + what);
  } else {
    tokens.Fail(token.offset,
                "Syntax error: Expected " + std::string(expected) + " but got " + what);
  }
}

// Enters one level of nesting; the caller leaves it by --nesting_.
bool ExpressionParser::Enter() {
  if (tokens_.failed()) return false;
  if (nesting_ >= kMaxDepth) {
    FailAtDepth(tokens_.Peek().offset);
    return false;
  }
  ++nesting_;
  return true;
}

// Sets the depth of a node and checks it. Every node passes here once its operands are known.
ast::Expression ExpressionParser::Finish(ast::Expression expression) {
  for (const ast::Expression& operand : expression.operands) {
    expression.depth = std::max(expression.depth, operand.depth + 1);
  }
  if (expression.depth > kMaxDepth) FailAtDepth(expression.offset);
  return expression;
}

void ExpressionParser::FailAtDepth(size_t offset) {
  tokens_.Fail(offset,
               "Expression is nested more than " + std::to_string(kMaxDepth) + " levels deep");
}

ast::Expression ExpressionParser::Operator(Op op, size_t offset,
                                           std::vector<ast::Expression> operands) {
  ast::Expression expression;
  expression.kind = ExpressionKind::kOperator;
  expression.offset = offset;
  expression.op = op;
  expression.operands = std::move(operands);
  return Finish(std::move(expression));
}

ast::Expression ExpressionParser::ParseOr() {
  const size_t offset = tokens_.Peek().offset;
  std::vector<ast::Expression> operands;
  operands.push_back(ParseAnd());
  while (tokens_.TakeWord("OR")) operands.push_back(ParseAnd());
  if (operands.size() == 1) return std::move(operands.front());
  return Operator(Op::kOr, offset, std::move(operands));
}

ast::Expression ExpressionParser::ParseAnd() {
  const size_t offset = tokens_.Peek().offset;
  std::vector<ast::Expression> operands;
  operands.push_back(ParseNot());
  while (tokens_.TakeWord("AND")) operands.push_back(ParseNot());
  if (operands.size() == 1) return std::move(operands.front());
  return Operator(Op::kAnd, offset, std::move(operands));
}

ast::Expression ExpressionParser::ParseNot() {
  const size_t offset = tokens_.Peek().offset;
  if (!tokens_.TakeWord("NOT")) return ParseComparison();
  if (!Enter()) return {};
  std::vector<ast::Expression> operands;
  operands.push_back(ParseNot());
  --nesting_;
  return Operator(Op::kNot, offset, std::move(operands));
}

ast::Expression ExpressionParser::ParseComparison() {
  const size_t offset = tokens_.Peek().offset;
  ast::Expression left = ParseSum();
  if (tokens_.failed()) return left;
  if (tokens_.AtWord("IS")) {
    left = ParseIs(std::move(left));
  } else if (AtTest()) {
    left = ParseTest(std::move(left));
  } else if (const auto op = ComparisonOp(tokens_.Peek())) {
    tokens_.Take();
    std::vector<ast::Expression> operands;
    operands.push_back(std::move(left));
    operands.push_back(ParseSum());
    left = Operator(*op, offset, std::move(operands));
  } else {
    return left;
  }
  // Comparisons do not chain: `a = b = c` needs parentheses.
  if (tokens_.AtWord("IS") || AtTest() || ComparisonOp(tokens_.Peek())) FailAtToken(tokens_);
  return left;
}

// Whether the next token is IN, LIKE or BETWEEN, or NOT and one of them.
bool ExpressionParser::AtTest() const {
  const Token& token = tokens_.Peek(tokens_.AtWord("NOT") ? 1 : 0);
  return token.Is("IN") || token.Is("LIKE") || token.Is("BETWEEN");
}

// REQUIRES: AtTest().
ast::Expression ExpressionParser::ParseTest(ast::Expression operand) {
  const size_t offset = operand.offset;
  const bool negated = tokens_.TakeWord("NOT");
  ast::Expression test;
  if (tokens_.AtWord("IN")) {
    test = ParseIn(std::move(operand));
  } else if (tokens_.AtWord("LIKE")) {
    test = ParseLike(std::move(operand));
  } else {
    test = ParseBetween(std::move(operand));
  }
  if (!negated || tokens_.failed()) return test;
  std::vector<ast::Expression> operands;
  operands.push_back(std::move(test));
  return Operator(Op::kNot, offset, std::move(operands));
}

ast::Expression ExpressionParser::ParseIn(ast::Expression operand) {
  const size_t offset = tokens_.Take().offset;
  std::vector<ast::Expression> operands;
  operands.push_back(std::move(operand));
  if (tokens_.AtWord("UNNEST")) {
    operands.push_back(ParseUnnest());
    return Operator(Op::kInArray, offset, std::move(operands));
  }
  if (tokens_.AtSymbol("(") && tokens_.Peek(1).Is("SELECT")) {
    operands.push_back(ParseSubquery(Op::kInArray));
    return Operator(Op::kInArray, offset, std::move(operands));
  }
  if (!Expect("(")) return {};
  if (tokens_.AtWord("WITH")) tokens_.Fail(tokens_.Peek().offset, "WITH is not modelled");
  if (!Enter()) return {};
  do {
    operands.push_back(ParseOr());
  } while (tokens_.TakeSymbol(","));
  --nesting_;
  if (!Expect(")")) return {};
  return Operator(Op::kIn, offset, std::move(operands));
}

// UNNEST(array), after IN.
ast::Expression ExpressionParser::ParseUnnest() {
  tokens_.Take();
  if (!Expect("(") || !Enter()) return {};
  ast::Expression array = ParseOr();
  --nesting_;
  Expect(")");
  return array;
}

// (SELECT ...); `op` says what it is used for (ast.h).
ast::Expression ExpressionParser::ParseSubquery(Op op) {
  ast::Expression subquery;
  subquery.kind = ExpressionKind::kSubquery;
  subquery.offset = tokens_.Peek().offset;
  subquery.op = op;
  if (!Expect("(") || !Enter()) return {};
  if (!tokens_.TakeWord("SELECT")) {
    FailAtToken(tokens_, "keyword SELECT");
    return {};
  }
  subquery.query = parse_query_();
  --nesting_;
  Expect(")");
  return subquery;
}

// [a, b], or ARRAY<type>[a, b].
ast::Expression ExpressionParser::ParseArray() {
  ast::Expression array;
  array.kind = ExpressionKind::kArray;
  array.offset = tokens_.Peek().offset;
  if (tokens_.TakeWord("ARRAY")) {
    if (tokens_.AtSymbol("(")) {
      tokens_.Fail(array.offset, "ARRAY of a subquery is not modelled");
      return {};
    }
    if (tokens_.TakeSymbol("<")) {
      array.type = ParseType();
      array.typed = true;
      if (!Expect(">")) return {};
    }
  }
  if (!Expect("[") || !Enter()) return {};
  while (!tokens_.failed() && !tokens_.AtSymbol("]")) {
    array.operands.push_back(ParseOr());
    if (!tokens_.TakeSymbol(",")) break;
  }
  --nesting_;
  Expect("]");
  return Finish(std::move(array));
}

ast::Expression ExpressionParser::ParseBetween(ast::Expression operand) {
  const size_t offset = tokens_.Take().offset;
  std::vector<ast::Expression> operands;
  operands.push_back(std::move(operand));
  operands.push_back(ParseSum());
  if (!tokens_.TakeWord("AND")) {
    if (!tokens_.failed()) FailAtToken(tokens_, "keyword AND");
    return {};
  }
  operands.push_back(ParseSum());
  return Operator(Op::kBetween, offset, std::move(operands));
}

ast::Expression ExpressionParser::ParseLike(ast::Expression operand) {
  const size_t offset = operand.offset;
  tokens_.Take();
  std::vector<ast::Expression> operands;
  operands.push_back(std::move(operand));
  operands.push_back(ParseSum());
  return Operator(Op::kFunction, offset, std::move(operands));
}

// Takes the symbol, or fails.
bool ExpressionParser::Expect(std::string_view symbol) {
  if (tokens_.TakeSymbol(symbol)) return true;
  if (!tokens_.failed()) FailAtToken(tokens_, "\"" + std::string(symbol) + "\"");
  return false;
}

ast::Expression ExpressionParser::ParseIs(ast::Expression operand) {
  tokens_.Take();
  const size_t offset = operand.offset;
  const bool negated = tokens_.TakeWord("NOT");
  Op op = negated ? Op::kIsNotNull : Op::kIsNull;
  if (tokens_.TakeWord("TRUE")) {
    op = Op::kIsTrue;
  } else if (tokens_.TakeWord("FALSE")) {
    op = Op::kIsFalse;
  } else if (!tokens_.TakeWord("NULL")) {
    FailAtToken(tokens_, "keyword NULL");
    return operand;
  }
  std::vector<ast::Expression> operands;
  operands.push_back(std::move(operand));
  ast::Expression test = Operator(op, offset, std::move(operands));
  if (!negated || op == Op::kIsNotNull) return test;
  std::vector<ast::Expression> tests;
  tests.push_back(std::move(test));
  return Operator(Op::kNot, offset, std::move(tests));
}

ast::Expression ExpressionParser::ParseSum() {
  const size_t offset = tokens_.Peek().offset;
  ast::Expression left = ParseProduct();
  while (!tokens_.failed() && (tokens_.AtSymbol("+") || tokens_.AtSymbol("-"))) {
    const Op op = tokens_.Take().text == "+" ? Op::kAdd : Op::kSubtract;
    std::vector<ast::Expression> operands;
    operands.push_back(std::move(left));
    operands.push_back(ParseProduct());
    left = Operator(op, offset, std::move(operands));
  }
  return left;
}

ast::Expression ExpressionParser::ParseProduct() {
  const size_t offset = tokens_.Peek().offset;
  ast::Expression left = ParseUnary();
  while (!tokens_.failed()) {
    Op op = Op::kMultiply;
    if (tokens_.TakeSymbol("/")) {
      op = Op::kDivide;
    } else if (tokens_.TakeSymbol("||")) {
      op = Op::kConcat;
    } else if (!tokens_.TakeSymbol("*")) {
      break;
    }
    std::vector<ast::Expression> operands;
    operands.push_back(std::move(left));
    operands.push_back(ParseUnary());
    left = Operator(op, offset, std::move(operands));
  }
  return left;
}

ast::Expression ExpressionParser::ParseUnary() {
  const size_t offset = tokens_.Peek().offset;
  const bool plus = tokens_.TakeSymbol("+");
  if (!plus && !tokens_.TakeSymbol("-")) return ParsePrimary();
  // A minus sign belongs to the literal after it: -9223372036854775808 has no positive counterpart.
  if (tokens_.Peek().kind == TokenKind::kInteger) return ParseInteger(offset, !plus);
  if (tokens_.Peek().kind == TokenKind::kFloat) {
    ast::Expression literal;
    literal.offset = offset;
    const double number = tokens_.Take().number;
    literal.value = Float64(plus ? number : -number);
    return literal;
  }
  if (!Enter()) return {};
  std::vector<ast::Expression> operands;
  operands.push_back(ParseUnary());
  --nesting_;
  return Operator(plus ? Op::kAdd : Op::kNegate, offset, std::move(operands));
}

ast::Expression ExpressionParser::ParseInteger(size_t offset, bool negative) {
  const uint64_t magnitude = tokens_.Peek().magnitude;
  ast::Expression literal;
  literal.offset = offset;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (magnitude <= static_cast<uint64_t>(kMost)) {
    const auto value = static_cast<int64_t>(magnitude);
    literal.value = negative ? -value : value;
  } else if (negative) {
    literal.value = std::numeric_limits<int64_t>::min();
  } else {
    tokens_.Fail(offset, "Invalid integer literal: " + std::to_string(magnitude));
  }
  tokens_.Take();
  return literal;
}

ast::Expression ExpressionParser::ParsePrimary() {
  if (tokens_.failed()) return {};
  const Token& token = tokens_.Peek();
  ast::Expression expression;
  expression.offset = token.offset;
  switch (token.kind) {
    case TokenKind::kInteger:
      return ParseInteger(token.offset, false);
    case TokenKind::kFloat:
      expression.value = Float64(token.number);
      break;
    case TokenKind::kString:
      expression.value = token.text;
      break;
    case TokenKind::kBytes:
      expression.value = Bytes{token.text};
      break;
    case TokenKind::kParameter:
      expression.kind = ExpressionKind::kParameter;
      expression.text = token.text;
      break;
    case TokenKind::kIdentifier:
      return ParseWord();
    case TokenKind::kQuotedIdentifier:
      if (tokens_.Peek(1).IsSymbol("(")) return ParseCall();
      expression.kind = ExpressionKind::kQuotedName;
      return ParsePath(std::move(expression));
    case TokenKind::kSymbol:
      if (token.IsSymbol("(")) return ParseParenthesis();
      if (token.IsSymbol("[")) return ParseArray();
      FailAtToken(tokens_);
      return expression;
    case TokenKind::kHint:
    case TokenKind::kEnd:
      FailAtToken(tokens_);
      return expression;
  }
  tokens_.Take();
  return expression;
}

ast::Expression ExpressionParser::ParseParenthesis() {
  if (tokens_.Peek(1).Is("SELECT")) return ParseSubquery(Op::kSubquery);
  const size_t offset = tokens_.Take().offset;
  if (tokens_.AtWord("WITH")) tokens_.Fail(tokens_.Peek().offset, "WITH is not modelled");
  if (!Enter()) return {};
  ast::Expression inner = ParseOr();
  --nesting_;
  if (tokens_.failed()) return inner;
  if (tokens_.AtSymbol(",")) tokens_.Fail(offset, "A STRUCT is not modelled");
  if (!tokens_.TakeSymbol(")")) FailAtToken(tokens_, "\")\"");
  return inner;
}

// Parses a keyword that is a value, a name, or the start of a call or a typed literal.
ast::Expression ExpressionParser::ParseWord() {
  const Token& token = tokens_.Peek();
  const std::string word = ToCapitals(token.text);
  ast::Expression expression;
  expression.offset = token.offset;
  if (word == "CASE") return ParseCase();
  if (word == "ARRAY") return ParseArray();
  if (word == "EXISTS") {
    tokens_.Take();
    return ParseSubquery(Op::kIsTrue);
  }
  if (word == "NULL" || word == "TRUE" || word == "FALSE") {
    if (word != "NULL") expression.value = word == "TRUE";
    tokens_.Take();
    return expression;
  }
  const bool call = tokens_.Peek(1).IsSymbol("(");
  if (call && (word == "CAST" || word == "SAFE_CAST")) return ParseCast();
  if (IsReserved(word) && !(call && word == "IF")) {
    FailAtToken(tokens_);
    return expression;
  }
  if (tokens_.Peek(1).kind == TokenKind::kString) {
    return ParseTypedLiteral();
  }
  if (call) return ParseCall();
  expression.kind = ExpressionKind::kName;
  return ParsePath(std::move(expression));
}

// TIMESTAMP, DATE or NUMERIC, and its text.
ast::Expression ExpressionParser::ParseTypedLiteral() {
  ast::Expression literal;
  literal.kind = ExpressionKind::kTypedLiteral;
  literal.offset = tokens_.Peek().offset;
  const std::string word = ToCapitals(tokens_.Take().text);
  const auto type = FindType(word);
  const bool known = type == Type::kTimestamp || type == Type::kDate || type == Type::kNumeric;
  if (!known) tokens_.Fail(literal.offset, "A literal of type " + word + " is not modelled");
  literal.type = type.value_or(Type::kInt64);
  literal.text = tokens_.Take().text;
  return literal;
}

// Parses a name, or a table's name, a dot and a column's.
ast::Expression ExpressionParser::ParsePath(ast::Expression name) {
  name.text = tokens_.Take().text;
  if (!tokens_.TakeSymbol(".")) return name;
  const Token& column = tokens_.Peek();
  if (column.kind != TokenKind::kIdentifier && column.kind != TokenKind::kQuotedIdentifier) {
    FailAtToken(tokens_, "identifier");
    return name;
  }
  name.kind = ExpressionKind::kQuotedName;  // a column, whatever its name is
  name.qualifier = std::move(name.text);
  name.text = tokens_.Take().text;
  return name;
}

// CASE is IF within IF; of CASE value WHEN ..., each condition is a comparison with the value.
ast::Expression ExpressionParser::ParseCase() {
  const size_t offset = tokens_.Take().offset;
  if (!Enter()) return {};
  std::optional<ast::Expression> value;
  if (!tokens_.AtWord("WHEN")) value = ParseOr();
  struct Branch {
    ast::Expression condition;
    ast::Expression result;
  };
  std::vector<Branch> branches;
  while (tokens_.TakeWord("WHEN")) {
    Branch branch;
    const size_t when = tokens_.Peek().offset;
    branch.condition = ParseOr();
    if (value) branch.condition = Operator(Op::kEqual, when, {*value, branch.condition});
    if (!tokens_.TakeWord("THEN")) {
      if (!tokens_.failed()) FailAtToken(tokens_, "keyword THEN");
      return {};
    }
    branch.result = ParseOr();
    branches.push_back(std::move(branch));
    if (static_cast<int>(branches.size()) > kMaxDepth) {
      tokens_.Fail(offset,
                   "A CASE of more than " + std::to_string(kMaxDepth) + " WHENs is not modelled");
    }
    if (tokens_.failed()) return {};
  }
  ast::Expression result;  // NULL
  result.offset = offset;
  if (branches.empty() && !tokens_.failed()) FailAtToken(tokens_, "keyword WHEN");
  if (tokens_.TakeWord("ELSE")) result = ParseOr();
  if (!tokens_.TakeWord("END") && !tokens_.failed()) FailAtToken(tokens_, "keyword END");
  --nesting_;
  if (tokens_.failed()) return {};
  for (auto branch = branches.rbegin(); branch != branches.rend(); ++branch) {
    ast::Expression choice;
    choice.kind = ExpressionKind::kCall;
    choice.offset = offset;
    choice.text = "IF";
    choice.operands.reserve(3);
    choice.operands.push_back(std::move(branch->condition));
    choice.operands.push_back(std::move(branch->result));
    choice.operands.push_back(std::move(result));
    result = Finish(std::move(choice));
  }
  return result;
}

ast::Expression ExpressionParser::ParseCall() {
  ast::Expression call;
  call.kind = ExpressionKind::kCall;
  call.offset = tokens_.Peek().offset;
  call.text = tokens_.Take().text;
  if (!Enter()) return call;
  tokens_.Take();  // (
  if (tokens_.AtSymbol("*")) {
    if (!EqualIgnoringCase(call.text, "COUNT")) FailAtToken(tokens_);
    call.star = tokens_.TakeSymbol("*");
  } else if (!tokens_.AtSymbol(")")) {
    do {
      call.operands.push_back(ParseArgument());
    } while (tokens_.TakeSymbol(","));
  }
  --nesting_;
  if (!tokens_.failed() && !tokens_.TakeSymbol(")")) FailAtToken(tokens_, "\")\" or \",\"");
  return Finish(std::move(call));
}

ast::Expression ExpressionParser::ParseCast() {
  ast::Expression cast;
  cast.kind = ExpressionKind::kCast;
  cast.offset = tokens_.Peek().offset;
  cast.op = tokens_.Take().Is("CAST") ? Op::kCast : Op::kSafeCast;
  if (!Enter()) return cast;
  tokens_.Take();  // (
  cast.operands.push_back(ParseOr());
  --nesting_;
  if (!tokens_.TakeWord("AS")) {
    if (!tokens_.failed()) FailAtToken(tokens_, "keyword AS");
    return cast;
  }
  cast.type = ParseType();
  if (!Expect(")")) return cast;
  return Finish(std::move(cast));
}

Type ExpressionParser::ParseType() {
  constexpr auto kUnmodelled =
      std::to_array<std::string_view>({"ARRAY", "INTERVAL", "STRUCT", "TOKENLIST", "UUID"});
  const Token& token = tokens_.Peek();
  if (token.kind != TokenKind::kIdentifier) {
    FailAtToken(tokens_, "a type");
    return {};
  }
  const std::string name = ToCapitals(token.text);
  if (std::find(kUnmodelled.begin(), kUnmodelled.end(), name) != kUnmodelled.end()) {
    tokens_.Fail(token.offset, "Type " + name + " is not modelled");
  }
  const auto type = FindType(name);
  if (!type) tokens_.Fail(token.offset, "Type not found: " + token.text);
  tokens_.Take();
  if (tokens_.AtSymbol("(")) {
    tokens_.Fail(tokens_.Peek().offset, "Parameterized types are not supported");
  }
  return type.value_or(Type::kInt64);
}

ast::Expression ExpressionParser::ParseArgument() {
  if (!tokens_.AtWord("INTERVAL")) return ParseOr();
  ast::Expression interval;
  interval.kind = ExpressionKind::kInterval;
  interval.offset = tokens_.Take().offset;
  interval.operands.push_back(ParseOr());
  if (tokens_.failed()) return interval;
  if (tokens_.Peek().kind != TokenKind::kIdentifier ||
      IsReserved(ToCapitals(tokens_.Peek().text))) {
    FailAtToken(tokens_, "a date part");
    return interval;
  }
  interval.text = tokens_.Take().text;
  return Finish(std::move(interval));
}

}  // namespace whorl::model
