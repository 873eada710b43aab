// Parses expressions by recursive descent. Operators from the weakest to the strongest binding: OR,
// AND, NOT, comparisons, IS, IN, LIKE and BETWEEN (which do not chain), + -, * / ||, unary + -;
// then literals, names, calls and parentheses.
//
// Invariant: neither the parser's recursion nor the depth of its result exceeds kMaxDepth levels;
// deeper texts are an error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spanner_model/sql/ast.h"
#include "spanner_model/sql/token_stream.h"

namespace whorl::model {

class ExpressionParser {
 public:
  // `parse_query` parses from SELECT to the end of a query.
  using ParseQuery = std::function<std::shared_ptr<const ast::Select>()>;
  ExpressionParser(TokenStream& tokens, ParseQuery parse_query)
      : tokens_(tokens), parse_query_(std::move(parse_query)) {}

  // The result is meaningless once tokens.failed().
  ast::Expression Parse() { return ParseOr(); }

 private:
  ast::Expression ParseOr();
  ast::Expression ParseAnd();
  ast::Expression ParseNot();
  ast::Expression ParseComparison();
  ast::Expression ParseIs(ast::Expression operand);
  ast::Expression ParseTest(ast::Expression operand);
  ast::Expression ParseIn(ast::Expression operand);
  ast::Expression ParseBetween(ast::Expression operand);
  ast::Expression ParseLike(ast::Expression operand);
  ast::Expression ParseSum();
  ast::Expression ParseProduct();
  ast::Expression ParseUnary();
  ast::Expression ParsePrimary();
  ast::Expression ParseParenthesis();
  ast::Expression ParseWord();
  ast::Expression ParsePath(ast::Expression name);
  ast::Expression ParseCase();
  ast::Expression ParseCall();
  ast::Expression ParseArgument();
  ast::Expression ParseCast();
  ast::Expression ParseTypedLiteral();
  ast::Expression ParseArray();
  ast::Expression ParseUnnest();
  ast::Expression ParseSubquery(Op op);
  Type ParseType();
  ast::Expression ParseInteger(size_t offset, bool negative);

  bool AtTest() const;
  bool Expect(std::string_view symbol);
  ast::Expression Operator(Op op, size_t offset, std::vector<ast::Expression> operands);
  ast::Expression Finish(ast::Expression expression);
  bool Enter();
  void FailAtDepth(size_t offset);

  TokenStream& tokens_;
  ParseQuery parse_query_;
  int nesting_ = 0;
};

// Fails at the next token: `X is not modelled` if Spanner would accept it here, otherwise `Syntax
// error: Unexpected ...` (or `Expected ... but got ...`).
void FailAtToken(TokenStream& tokens, std::string_view expected = "");

}  // namespace whorl::model
