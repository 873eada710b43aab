#include "spanner_model/sql/parser.h"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spanner_model/sql/compile.h"
#include "spanner_model/sql/expression_parser.h"
#include "spanner_model/sql/functions.h"
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
      : tokens_(std::move(tokens)), expressions_(tokens_, [this] { return ParseQuery(); }) {}
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
    TakeHint();
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

  // Parses one name; the next parsing step refuses the rest of a path (`schema.table`).
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

  ast::TableName ParseTable() {
    ast::TableName table;
    if (tokens_.AtSymbol("(")) {
      tokens_.Fail(tokens_.Peek().offset, "A subquery in the place of a table is not modelled");
      return table;
    }
    if (tokens_.AtWord("UNNEST") && tokens_.Peek(1).IsSymbol("(")) {
      tokens_.Fail(tokens_.Peek().offset, "UNNEST in the place of a table is not modelled");
      return table;
    }
    if (IsName(tokens_.Peek()) && tokens_.Peek(1).IsSymbol(".")) {
      table.schema = tokens_.Take().text;
      tokens_.Take();
    }
    static_cast<ast::Name&>(table) = ParseName();
    TakeHint(&table.index);
    if (tokens_.TakeWord("AS") || (!tokens_.failed() && IsName(tokens_.Peek()))) {
      table.alias = ParseName().text;
    }
    return table;
  }

  // A hint changes how a statement is executed and not what it does; the index that one names has to be
  // there.
  void TakeHint(ast::Name* index = nullptr) {
    if (tokens_.failed() || tokens_.Peek().kind != TokenKind::kHint) return;
    const Token& hint = tokens_.Take();
    constexpr std::string_view kForce = "FORCE_INDEX";
    const size_t force = ToCapitals(hint.text).find(kForce);
    if (force == std::string::npos || index == nullptr) return;
    constexpr std::string_view kAround = " \t\r\n=`";
    const size_t first = hint.text.find_first_not_of(kAround, force + kForce.size());
    if (first == std::string::npos) return;
    const size_t end = hint.text.find_first_of(" \t\r\n,}`", first);
    const std::string name = hint.text.substr(first, end - first);
    if (ToCapitals(name) != "_BASE_TABLE") *index = {.text = name, .offset = hint.offset};
  }

  bool Expect(bool taken, std::string_view expected) {
    if (!taken && !tokens_.failed()) FailAtToken(tokens_, expected);
    return taken;
  }

  std::optional<ast::Expression> ParseWhere() {
    if (!tokens_.TakeWord("WHERE")) return std::nullopt;
    return expressions_.Parse();
  }

  // The end of a statement, or of a subquery.
  bool AtEnd() const {
    return tokens_.Peek().kind == TokenKind::kEnd || tokens_.AtSymbol(";") || tokens_.AtSymbol(")");
  }

  std::shared_ptr<const ast::Select> ParseQuery() {
    return std::make_shared<const ast::Select>(ParseSelect());
  }

  ast::Select ParseSelect() {
    ast::Select select;
    select.distinct = tokens_.TakeWord("DISTINCT");
    if (!select.distinct) tokens_.TakeWord("ALL");
    select.items = ParseSelectList();
    if (tokens_.failed()) return select;
    if (tokens_.TakeWord("FROM")) {
      select.table = ParseTable();
      if (tokens_.AtSymbol(",")) tokens_.Fail(tokens_.Peek().offset, "A join is not modelled");
      select.where = ParseWhere();
      if (tokens_.TakeWord("GROUP")) ParseGroup(select);
      if (tokens_.TakeWord("HAVING")) select.having = expressions_.Parse();
      if (tokens_.TakeWord("ORDER")) ParseOrder(select);
    } else if (tokens_.AtWord("WHERE") || tokens_.AtWord("ORDER")) {
      tokens_.Fail(tokens_.Peek().offset, tokens_.AtWord("WHERE")
                                              ? "Query without FROM clause cannot have a WHERE "
                                                "clause"
                                              : "Query without FROM clause cannot have an ORDER "
                                                "BY clause");
    } else if (!AtEnd() && !tokens_.AtWord("LIMIT")) {
      FailAtToken(tokens_, "end of input");
    }
    if (tokens_.TakeWord("LIMIT")) ParseLimit(select);
    return select;
  }

  // A comma may follow the last item.
  std::vector<ast::SelectItem> ParseSelectList() {
    std::vector<ast::SelectItem> items;
    do {
      if (!items.empty() && (AtEnd() || tokens_.AtWord("FROM"))) break;
      items.push_back(ParseSelectItem());
    } while (tokens_.TakeSymbol(","));
    return items;
  }

  void ParseGroup(ast::Select& select) {
    if (!Expect(tokens_.TakeWord("BY"), "keyword BY")) return;
    do {
      select.group.push_back(expressions_.Parse());
    } while (tokens_.TakeSymbol(","));
  }

  void ParseOrder(ast::Select& select) {
    if (!Expect(tokens_.TakeWord("BY"), "keyword BY")) return;
    do {
      ast::OrderItem item;
      item.expression = expressions_.Parse();
      item.descending = tokens_.TakeWord("DESC");
      if (!item.descending) tokens_.TakeWord("ASC");
      if (tokens_.AtWord("NULLS")) {
        tokens_.Fail(tokens_.Peek().offset, "NULLS FIRST and NULLS LAST are not supported");
      }
      select.order.push_back(std::move(item));
    } while (tokens_.TakeSymbol(","));
  }

  void ParseLimit(ast::Select& select) {
    select.limit = expressions_.Parse();
    if (tokens_.TakeWord("OFFSET")) select.offset = expressions_.Parse();
  }

  ast::SelectItem ParseSelectItem() {
    ast::SelectItem item;
    item.offset = tokens_.Peek().offset;
    if (tokens_.TakeSymbol("*")) {
      item.star = true;
      return item;
    }
    if (IsName(tokens_.Peek()) && tokens_.Peek(1).IsSymbol(".") && tokens_.Peek(2).IsSymbol("*")) {
      item.star = true;
      item.qualifier = tokens_.Take().text;
      tokens_.Take();
      tokens_.Take();
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

  std::vector<ast::SelectItem> ParseReturning() {
    if (!tokens_.TakeWord("THEN")) return {};
    if (!Expect(tokens_.TakeWord("RETURN"), "keyword RETURN")) return {};
    return ParseSelectList();
  }

  // Parses the mode of an INSERT: OR UPDATE or OR IGNORE, where OR may be left out.
  InsertMode ParseInsertMode() {
    const bool needed = tokens_.TakeWord("OR");
    if (tokens_.TakeWord("UPDATE")) return InsertMode::kInsertOrUpdate;
    if (tokens_.TakeWord("IGNORE")) return InsertMode::kInsertOrIgnore;
    if (tokens_.AtWord("REPLACE")) {
      tokens_.Fail(tokens_.Peek().offset, "INSERT OR REPLACE is not modelled");
    }
    if (needed) FailAtToken(tokens_, "keyword UPDATE or IGNORE");
    return InsertMode::kInsert;
  }

  // An expression, or DEFAULT, which is NULL in every column here.
  ast::Expression ParseValue() {
    if (!tokens_.AtWord("DEFAULT")) return expressions_.Parse();
    ast::Expression null;
    null.offset = tokens_.Take().offset;
    return null;
  }

  ast::Statement ParseInsert(size_t offset) {
    ast::Insert insert;
    insert.mode = ParseInsertMode();
    tokens_.TakeWord("INTO");
    insert.table = ParseName();
    if (tokens_.AtWord("AS") || (IsName(tokens_.Peek()) && !tokens_.AtWord("VALUES"))) {
      FailAtToken(tokens_, "\"(\"");
    }
    if (tokens_.AtWord("VALUES") || tokens_.AtWord("SELECT")) {
      tokens_.Fail(offset, "INSERT must specify a column list");
    }
    if (!Expect(tokens_.TakeSymbol("("), "\"(\"")) return insert;
    do {
      insert.columns.push_back(ParseName());
    } while (tokens_.TakeSymbol(","));
    if (!Expect(tokens_.TakeSymbol(")"), "\")\" or \",\"")) return insert;
    if (tokens_.AtSymbol("(")) {
      tokens_.Fail(tokens_.Peek().offset, "INSERT of a query in parentheses is not modelled");
    }
    if (tokens_.TakeWord("SELECT")) {
      insert.query = ParseQuery();
      insert.returning = ParseReturning();
      return insert;
    }
    if (!Expect(tokens_.TakeWord("VALUES"), "keyword VALUES")) return insert;
    do {
      insert.rows.push_back(ParseInsertRow());
    } while (tokens_.TakeSymbol(","));
    insert.returning = ParseReturning();
    return insert;
  }

  ast::InsertRow ParseInsertRow() {
    ast::InsertRow row;
    row.offset = tokens_.Peek().offset;
    if (!Expect(tokens_.TakeSymbol("("), "\"(\"")) return row;
    do {
      row.values.push_back(ParseValue());
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
      if (IsName(tokens_.Peek()) && tokens_.Peek(1).IsSymbol(".")) {
        item.qualifier = tokens_.Take().text;
        tokens_.Take();
      }
      item.column = ParseName();
      if (!Expect(tokens_.TakeSymbol("="), "\"=\"")) return update;
      item.value = ParseValue();
      update.items.push_back(std::move(item));
    } while (tokens_.TakeSymbol(","));
    if (tokens_.AtWord("FROM")) {
      tokens_.Fail(tokens_.Peek().offset, "UPDATE with FROM is not modelled");
    }
    update.where = ParseWhere();
    update.returning = ParseReturning();
    return update;
  }

  ast::Statement ParseDelete(size_t offset) {
    ast::Delete statement;
    statement.offset = offset;
    tokens_.TakeWord("FROM");
    statement.table = ParseTable();
    statement.where = ParseWhere();
    statement.returning = ParseReturning();
    return statement;
  }

  TokenStream tokens_;
  ExpressionParser expressions_;
};

}  // namespace

std::variant<ast::Statement, Status> Parse(std::string_view text) {
  if (text.size() > kTextMax) {
    const int64_t length = TextLength(text, TextUnit::kCharacter);
    if (length > static_cast<int64_t>(kTextMax)) {
      return Error(Code::kInvalidArgument, "Query string length of " + std::to_string(length) +
                                               " exceeds maximum allowed length of " +
                                               std::to_string(kTextMax));
    }
  }
  auto tokens = Tokenize(text);
  if (auto* error = std::get_if<Status>(&tokens)) return std::move(*error);
  return StatementParser(TokenStream(text, std::move(std::get<std::vector<Token>>(tokens)))).Run();
}

}  // namespace whorl::model
