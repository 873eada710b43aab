#include "spanner_model/sql/parser.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "spanner_model/sql/expression_parser.h"
#include "spanner_model/sql/lexer.h"
#include "spanner_model/sql/token_stream.h"
#include "spanner_model/sql/words.h"

namespace whorl::model {
namespace {

bool IsName(const Token& token) {
  return token.kind == TokenKind::kQuotedIdentifier ||
         (token.kind == TokenKind::kIdentifier && !IsReserved(ToCapitals(token.text)));
}

class StatementParser {
 public:
  explicit StatementParser(TokenStream tokens)
      : tokens_(std::move(tokens)), expressions_(tokens_) {}
  // expressions_ refers to tokens_.
  StatementParser(const StatementParser&) = delete;
  StatementParser& operator=(const StatementParser&) = delete;

  std::variant<ast::Statement, Status> Run() {
    ast::Statement statement = ParseStatement();
    tokens_.TakeSymbol(";");
    if (!tokens_.failed() && tokens_.Peek().kind != TokenKind::kEnd) {
      FailAtToken(tokens_, "end of input");
    }
    if (tokens_.failed()) return tokens_.TakeError();
    return statement;
  }

 private:
  ast::Statement ParseStatement() {
    const size_t offset = tokens_.Peek().offset;
    if (tokens_.TakeWord("SELECT")) return ParseSelect();
    if (tokens_.TakeWord("INSERT")) return ParseInsert(offset);
    if (tokens_.TakeWord("UPDATE")) return ParseUpdate(offset);
    if (tokens_.TakeWord("DELETE")) return ParseDelete(offset);
    FailAtStatement();
    return {};
  }

  void FailAtStatement() {
    constexpr auto kOthers = std::to_array<std::string_view>(
        {"ALTER", "ANALYZE", "BEGIN", "CALL", "COMMIT", "CREATE", "DROP", "EXPLAIN", "FROM",
         "GRANT", "GRAPH", "MERGE", "RENAME", "REVOKE", "ROLLBACK", "SET", "SHOW", "TRUNCATE"});
    for (const std::string_view other : kOthers) {
      if (!tokens_.AtWord(other)) continue;
      tokens_.Fail(tokens_.Peek().offset, "A " + std::string(other) + " statement is not modelled");
    }
    if (tokens_.AtSymbol("(")) {
      tokens_.Fail(tokens_.Peek().offset, "A statement in parentheses is not modelled");
    }
    FailAtToken(tokens_);
  }

  // One name; a path of several (`schema.table`) is refused by what follows it.
  ast::Name ParseName() {
    const Token& token = tokens_.Peek();
    if (!IsName(token)) {
      FailAtToken(tokens_, "identifier");
      return {};
    }
    tokens_.Take();
    if (tokens_.AtSymbol(".")) tokens_.Fail(token.offset, "A qualified name is not modelled");
    return {.text = token.text, .offset = token.offset};
  }

  ast::Name ParseTable() {
    ast::Name table = ParseName();
    if (!tokens_.failed() && (tokens_.AtWord("AS") || IsName(tokens_.Peek()))) {
      // A word that begins the next clause is no alias.
      if (!tokens_.AtWord("VALUES"))
        tokens_.Fail(tokens_.Peek().offset, "An alias of a table is not modelled");
    }
    return table;
  }

  bool Expect(bool taken, std::string_view expected) {
    if (!taken && !tokens_.failed()) FailAtToken(tokens_, expected);
    return taken;
  }

  std::optional<ast::Expression> ParseWhere() {
    if (!tokens_.TakeWord("WHERE")) return std::nullopt;
    return expressions_.Parse();
  }

  ast::Statement ParseSelect() {
    ast::Select select;
    do {
      select.items.push_back(ParseSelectItem());
    } while (tokens_.TakeSymbol(","));
    if (tokens_.failed()) return select;
    if (tokens_.Peek().kind == TokenKind::kEnd || tokens_.AtSymbol(";") ||
        tokens_.AtWord("WHERE")) {
      tokens_.Fail(tokens_.Peek().offset, "SELECT without FROM is not modelled");
      return select;
    }
    if (!Expect(tokens_.TakeWord("FROM"), "keyword FROM")) return select;
    select.table = ParseTable();
    if (tokens_.AtSymbol(",")) tokens_.Fail(tokens_.Peek().offset, "A join is not modelled");
    select.where = ParseWhere();
    return select;
  }

  ast::SelectItem ParseSelectItem() {
    ast::SelectItem item;
    if (tokens_.TakeSymbol("*")) {
      item.star = true;
      return item;
    }
    if (tokens_.AtWord("AS")) {
      tokens_.Fail(tokens_.Peek().offset, "SELECT AS is not modelled");
      return item;
    }
    item.expression = expressions_.Parse();
    if (tokens_.TakeWord("AS") || (!tokens_.failed() && IsName(tokens_.Peek()))) {
      item.alias = ParseName().text;
    }
    return item;
  }

  ast::Statement ParseInsert(size_t offset) {
    ast::Insert insert;
    if (tokens_.AtWord("OR") || tokens_.AtWord("IGNORE") || tokens_.AtWord("UPDATE")) {
      const std::string word = ToCapitals(tokens_.Peek().text);
      tokens_.Fail(tokens_.Peek().offset, "INSERT " + word + " is not modelled");
    }
    tokens_.TakeWord("INTO");
    insert.table = ParseTable();
    if (tokens_.AtWord("VALUES") || tokens_.AtWord("SELECT")) {
      tokens_.Fail(offset, "INSERT must specify a column list");
    }
    if (!Expect(tokens_.TakeSymbol("("), "\"(\"")) return insert;
    do {
      insert.columns.push_back(ParseName());
    } while (tokens_.TakeSymbol(","));
    if (!Expect(tokens_.TakeSymbol(")"), "\")\" or \",\"")) return insert;
    if (tokens_.AtWord("SELECT") || tokens_.AtSymbol("(")) {
      tokens_.Fail(tokens_.Peek().offset, "INSERT of a query is not modelled");
    }
    if (!Expect(tokens_.TakeWord("VALUES"), "keyword VALUES")) return insert;
    do {
      insert.rows.push_back(ParseInsertRow());
    } while (tokens_.TakeSymbol(","));
    return insert;
  }

  ast::InsertRow ParseInsertRow() {
    ast::InsertRow row;
    row.offset = tokens_.Peek().offset;
    if (!Expect(tokens_.TakeSymbol("("), "\"(\"")) return row;
    do {
      row.values.push_back(expressions_.Parse());
    } while (tokens_.TakeSymbol(","));
    Expect(tokens_.TakeSymbol(")"), "\")\" or \",\"");
    return row;
  }

  ast::Statement ParseUpdate(size_t offset) {
    ast::Update update;
    update.offset = offset;
    update.table = ParseTable();
    if (!Expect(tokens_.TakeWord("SET"), "keyword SET")) return update;
    do {
      ast::SetItem item;
      item.column = ParseName();
      if (!Expect(tokens_.TakeSymbol("="), "\"=\"")) return update;
      item.value = expressions_.Parse();
      update.items.push_back(std::move(item));
    } while (tokens_.TakeSymbol(","));
    if (tokens_.AtWord("FROM")) {
      tokens_.Fail(tokens_.Peek().offset, "UPDATE with FROM is not modelled");
    }
    update.where = ParseWhere();
    return update;
  }

  ast::Statement ParseDelete(size_t offset) {
    ast::Delete statement;
    statement.offset = offset;
    tokens_.TakeWord("FROM");
    statement.table = ParseTable();
    statement.where = ParseWhere();
    return statement;
  }

  TokenStream tokens_;
  ExpressionParser expressions_;
};

}  // namespace

std::variant<ast::Statement, Status> Parse(std::string_view text) {
  auto tokens = Tokenize(text);
  if (auto* error = std::get_if<Status>(&tokens)) return std::move(*error);
  return StatementParser(TokenStream(text, std::move(std::get<std::vector<Token>>(tokens)))).Run();
}

}  // namespace whorl::model
