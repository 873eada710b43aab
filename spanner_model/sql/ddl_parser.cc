// ParseDdl and ParseCreateTable of schema.h.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "spanner_model/schema.h"
#include "spanner_model/sql/lexer.h"
#include "spanner_model/sql/token_stream.h"
#include "spanner_model/sql/words.h"

namespace whorl::model {
namespace {

// Whether DDL accepts the name: letters, digits and underscores, at most 128.
bool IsValidName(std::string_view name) {
  constexpr size_t kMaxName = 128;
  return name.size() <= kMaxName && std::all_of(name.begin(), name.end(), [](char c) {
           const char capital = ToCapital(c);
           return (capital >= 'A' && capital <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

enum class Semicolon : uint8_t { kAllowed, kRefused };

class DdlParser {
 public:
  explicit DdlParser(TokenStream tokens) : tokens_(std::move(tokens)) {}

  std::variant<DdlStatement, Status> Run(Semicolon semicolon) {
    DdlStatement statement = ParseStatement();
    if (semicolon == Semicolon::kAllowed) tokens_.TakeSymbol(";");
    if (!tokens_.failed() && tokens_.Peek().kind != TokenKind::kEnd) {
      if (tokens_.AtSymbol(",")) {
        FailHere("INTERLEAVE and ROW DELETION POLICY are not modelled");
      }
      Expected("end of statement");
    }
    if (tokens_.failed()) {
      Status error = tokens_.TakeError();
      error.message = "Error parsing Spanner DDL statement: " + error.message;
      return error;
    }
    if (contradiction_) return std::move(*contradiction_);
    return statement;
  }

 private:
  void FailHere(const std::string& message) { tokens_.Fail(tokens_.Peek().offset, message); }
  void Expected(const std::string& what) {
    FailHere("Syntax error: Expected " + what + " but got " + tokens_.Describe(tokens_.Peek()));
  }
  void ExpectWord(std::string_view word) {
    if (!tokens_.TakeWord(word)) Expected("keyword " + std::string(word));
  }
  void ExpectSymbol(std::string_view symbol) {
    if (!tokens_.TakeSymbol(symbol)) Expected("\"" + std::string(symbol) + "\"");
  }

  std::string ParseName() {
    const Token& token = tokens_.Peek();
    const bool name = token.kind == TokenKind::kQuotedIdentifier ||
                      (token.kind == TokenKind::kIdentifier && !IsReserved(ToCapitals(token.text)));
    if (!name) {
      Expected("identifier");
      return "";
    }
    return tokens_.Take().text;
  }

  // Records an error of a text that is well-formed but contradicts itself; the first one stays.
  void Contradict(Code code, std::string message) {
    if (!contradiction_) contradiction_ = Error(code, std::move(message));
  }

  DdlStatement ParseStatement() {
    if (tokens_.TakeWord("DROP")) {
      if (tokens_.TakeWord("INDEX")) return ParseDropIndex();
      ExpectTable();
      DropTable drop;
      drop.if_exists = tokens_.TakeWord("IF");
      if (drop.if_exists) ExpectWord("EXISTS");
      drop.name = ParseTableName();
      return drop;
    }
    if (tokens_.AtWord("ALTER") && tokens_.Peek(1).Is("TABLE")) return ParseAlterTable();
    for (const std::string_view other : {"ALTER", "ANALYZE", "GRANT", "RENAME", "REVOKE"}) {
      if (tokens_.AtWord(other)) FailHere(std::string(other) + " is not modelled");
    }
    ExpectWord("CREATE");
    if (tokens_.AtWord("INDEX") || tokens_.AtWord("NULL_FILTERED")) return ParseCreateIndex();
    ExpectTable();
    CreateTable create;
    create.if_not_exists = TakeIfNotExists();
    ParseTable();
    create.table = std::move(table_);
    return create;
  }

  bool TakeIfNotExists() {
    if (!tokens_.TakeWord("IF")) return false;
    ExpectWord("NOT");
    ExpectWord("EXISTS");
    return true;
  }

  DdlStatement ParseDropIndex() {
    DropIndex drop;
    drop.if_exists = tokens_.TakeWord("IF");
    if (drop.if_exists) ExpectWord("EXISTS");
    drop.name = ParseName();
    return drop;
  }

  DdlStatement ParseCreateIndex() {
    CreateIndex create;
    create.index.null_filtered = tokens_.TakeWord("NULL_FILTERED");
    ExpectWord("INDEX");
    create.if_not_exists = TakeIfNotExists();
    create.index.name = ParseTableName();
    ExpectWord("ON");
    create.index.table = ParseTableName();
    ExpectSymbol("(");
    do {
      IndexColumn column{.name = ParseName()};
      column.descending = tokens_.TakeWord("DESC");
      if (!column.descending) tokens_.TakeWord("ASC");
      create.index.columns.push_back(std::move(column));
    } while (tokens_.TakeSymbol(","));
    ExpectSymbol(")");
    if (tokens_.TakeWord("STORING")) {
      ExpectSymbol("(");
      do {
        create.index.stored.push_back(ParseName());
      } while (tokens_.TakeSymbol(","));
      ExpectSymbol(")");
    }
    return create;
  }

  // ADD COLUMN and DROP COLUMN, where COLUMN is needed.
  DdlStatement ParseAlterTable() {
    ExpectWord("ALTER");
    ExpectWord("TABLE");
    table_.name = ParseTableName();
    if (tokens_.TakeWord("DROP")) {
      if (!tokens_.TakeWord("COLUMN")) FailHere("DROP of a constraint or policy is not modelled");
      return DropColumn{.table = table_.name, .column = ParseName()};
    }
    if (!tokens_.TakeWord("ADD")) {
      FailHere("ALTER TABLE with anything but ADD COLUMN and DROP COLUMN is not modelled");
      return {};
    }
    if (!tokens_.TakeWord("COLUMN")) FailHere("ADD of a constraint or policy is not modelled");
    AddColumn add{.table = table_.name};
    add.if_not_exists = TakeIfNotExists();
    ParseColumn();
    if (!table_.columns.empty()) add.column = std::move(table_.columns.front());
    return add;
  }

  void ExpectTable() {
    for (const std::string_view other :
         {"CHANGE", "DATABASE", "INDEX", "MODEL", "NULL_FILTERED", "OR", "PROTO", "ROLE", "SCHEMA",
          "SEARCH", "SEQUENCE", "UNIQUE", "VECTOR", "VIEW"}) {
      if (tokens_.AtWord(other)) FailHere(std::string(other) + " is not modelled");
    }
    ExpectWord("TABLE");
  }

  std::string ParseTableName() {
    std::string name = ParseName();
    if (tokens_.AtSymbol(".")) FailHere("A named schema is not modelled");
    if (!IsValidName(name) || name.starts_with('_')) {
      Contradict(Code::kInvalidArgument, "Table name not valid: " + name + ".");
    }
    return name;
  }

  void ParseTable() {
    table_.name = ParseTableName();
    ExpectSymbol("(");
    while (!tokens_.failed() && !tokens_.AtSymbol(")")) {
      ParseColumn();
      if (!tokens_.TakeSymbol(",")) break;
    }
    ExpectSymbol(")");
    ExpectWord("PRIMARY");
    ExpectWord("KEY");
    ParseKey();
  }

  void ParseColumn() {
    if (tokens_.AtWord("CONSTRAINT") || tokens_.AtWord("FOREIGN") || tokens_.AtWord("CHECK") ||
        tokens_.AtWord("PRIMARY")) {
      return FailHere("A constraint in the list of columns is not modelled");
    }
    const size_t offset = tokens_.Peek().offset;
    Column column;
    column.name = ParseName();
    if (tokens_.failed()) return;
    if (!IsValidName(column.name)) {
      Contradict(Code::kInvalidArgument,
                 "Column name not valid: " + table_.name + "." + column.name + ".");
    }
    if (table_.FindColumn(column.name)) {
      Contradict(Code::kFailedPrecondition,
                 "Duplicate column name " + table_.name + "." + column.name + ".");
    }
    if (table_.columns.size() == kMaxColumns) {
      tokens_.Fail(offset, "A table of more than " + std::to_string(kMaxColumns) +
                               " columns is not modelled");
    }
    ParseType(column);
    if (tokens_.TakeWord("NOT")) {
      ExpectWord("NULL");
      column.not_null = true;
    }
    for (const std::string_view word : {"DEFAULT", "AS", "GENERATED", "HIDDEN", "PRIMARY"}) {
      if (tokens_.AtWord(word)) FailHere(std::string(word) + " of a column is not modelled");
    }
    if (tokens_.TakeWord("OPTIONS")) ParseOptions(column);
    if (!tokens_.failed()) table_.columns.push_back(std::move(column));
  }

  void ParseType(Column& column) {
    const size_t offset = tokens_.Peek().offset;
    if (tokens_.Peek().kind != TokenKind::kIdentifier) return Expected("a type");
    const std::string name = ToCapitals(tokens_.Take().text);
    if (name == "ARRAY") {
      ExpectSymbol("<");
      if (tokens_.AtWord("ARRAY")) return FailHere("An array of arrays is not allowed");
      ParseType(column);
      if (!tokens_.failed()) column.type = ArrayOf(column.type);
      return ExpectSymbol(">");
    }
    const auto type = FindType(name);
    if (!type) return tokens_.Fail(offset, "Type " + name + " does not exist or is not modelled");
    column.type = *type;
    if (type == Type::kString) ParseLength(column, kMaxStringLength);
    if (type == Type::kBytes) ParseLength(column, kMaxBytesLength);
  }

  void ParseLength(Column& column, int64_t most) {
    ExpectSymbol("(");
    if (!tokens_.TakeWord("MAX")) {
      const Token& token = tokens_.Peek();
      if (token.kind != TokenKind::kInteger) return Expected("MAX or a length");
      if (token.magnitude < 1 || token.magnitude > static_cast<uint64_t>(most)) {
        Contradict(Code::kInvalidArgument,
                   "Bad length for column " + table_.name + "." + column.name + ": " +
                       std::to_string(token.magnitude) + " : Allowed length range: [1, " +
                       std::to_string(most) + "].");
      }
      column.max_length = static_cast<int64_t>(token.magnitude);
      tokens_.Take();
    }
    ExpectSymbol(")");
  }

  void ParseOptions(Column& column) {
    ExpectSymbol("(");
    if (!tokens_.AtWord("allow_commit_timestamp")) {
      return FailHere("Option: " + tokens_.Peek().text + " is unknown or is not modelled");
    }
    if (column.type != Type::kTimestamp) {
      Contradict(Code::kFailedPrecondition,
                 "Column " + table_.name + "." + column.name +
                     " has invalid allow_commit_timestamp option.  Option only allowed on "
                     "TIMESTAMP columns.");
    }
    tokens_.Take();
    ExpectSymbol("=");
    if (tokens_.TakeWord("TRUE")) {
      column.allow_commit_timestamp = true;
    } else if (tokens_.TakeWord("FALSE")) {
      column.denies_commit_timestamp = true;
    } else if (!tokens_.TakeWord("NULL")) {
      return Expected("true, false or null");
    }
    ExpectSymbol(")");
  }

  void ParseKey() {
    ExpectSymbol("(");
    if (tokens_.AtSymbol(")")) FailHere("An empty PRIMARY KEY is not modelled");
    do {
      const std::string name = ParseName();
      if (tokens_.failed()) return;
      const auto column = table_.FindColumn(name);
      // A key has to name its columns in their own case.
      if (!column || table_.columns[*column].name != name) {
        Contradict(Code::kFailedPrecondition,
                   "Table " + table_.name + " references nonexistent key column " + name + ".");
      } else if (table_.IsKey(*column)) {
        Contradict(Code::kInvalidArgument,
                   "Table " + table_.name + " references key column " + name + " more than once.");
      } else if (!IsOrdered(table_.columns[*column].type)) {
        return FailHere("A key of type " + std::string(WordOf(table_.columns[*column].type)) +
                        " is not modelled");
      } else {
        table_.key.push_back(*column);
      }
      if (tokens_.AtWord("DESC")) FailHere("A descending key is not modelled");
      tokens_.TakeWord("ASC");
    } while (tokens_.TakeSymbol(","));
    ExpectSymbol(")");
  }

  TokenStream tokens_;
  Table table_;
  std::optional<Status> contradiction_;
};

std::variant<DdlStatement, Status> Parse(std::string_view text, Semicolon semicolon) {
  auto tokens = Tokenize(text);
  if (auto* error = std::get_if<Status>(&tokens)) {
    error->message = "Error parsing Spanner DDL statement: " + error->message;
    return std::move(*error);
  }
  return DdlParser(TokenStream(text, std::move(std::get<std::vector<Token>>(tokens))))
      .Run(semicolon);
}

}  // namespace

std::variant<DdlStatement, Status> ParseDdl(std::string_view text) {
  return Parse(text, Semicolon::kRefused);
}

std::variant<Table, Status> ParseCreateTable(std::string_view text) {
  auto statement = Parse(text, Semicolon::kAllowed);
  if (auto* error = std::get_if<Status>(&statement)) return std::move(*error);
  auto* create = std::get_if<CreateTable>(&std::get<DdlStatement>(statement));
  if (create == nullptr) {
    return Error(Code::kInvalidArgument, "Error parsing Spanner DDL statement: not CREATE TABLE");
  }
  return std::move(create->table);
}

}  // namespace whorl::model
