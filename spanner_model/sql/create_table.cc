// ParseCreateTable of schema.h.
#include <string>
#include <utility>

#include "spanner_model/schema.h"
#include "spanner_model/sql/lexer.h"
#include "spanner_model/sql/token_stream.h"
#include "spanner_model/sql/words.h"

namespace whorl::model {
namespace {

// Spanner's limits, in characters and in bytes.
constexpr int64_t kMaxStringLength = 2'621'440;
constexpr int64_t kMaxBytesLength = 10'485'760;

class TableParser {
 public:
  explicit TableParser(TokenStream tokens) : tokens_(std::move(tokens)) {}

  std::variant<Table, Status> Run() {
    ParseTable();
    tokens_.TakeSymbol(";");
    if (!tokens_.failed() && tokens_.Peek().kind != TokenKind::kEnd) {
      if (tokens_.AtSymbol(",")) {
        FailHere("INTERLEAVE and ROW DELETION POLICY are not modelled");
      }
      Expected("end of statement");
    }
    if (tokens_.failed()) return tokens_.TakeError();
    return std::move(table_);
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

  void ParseTable() {
    ExpectWord("CREATE");
    ExpectWord("TABLE");
    if (tokens_.AtWord("IF")) FailHere("IF NOT EXISTS is not modelled");
    table_.name = ParseName();
    if (tokens_.AtSymbol(".")) FailHere("A named schema is not modelled");
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
    if (table_.FindColumn(column.name)) {
      tokens_.Fail(offset, "Duplicate column name " + table_.name + "." + column.name);
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
    for (const Type type : {Type::kBool, Type::kInt64, Type::kFloat64, Type::kString, Type::kBytes,
                            Type::kTimestamp}) {
      if (TypeName(type) != name) continue;
      column.type = type;
      if (type == Type::kString) ParseLength(column, kMaxStringLength);
      if (type == Type::kBytes) ParseLength(column, kMaxBytesLength);
      return;
    }
    tokens_.Fail(offset, "Type " + name + " does not exist or is not modelled");
  }

  void ParseLength(Column& column, int64_t most) {
    ExpectSymbol("(");
    if (!tokens_.TakeWord("MAX")) {
      const Token& token = tokens_.Peek();
      if (token.kind != TokenKind::kInteger) return Expected("MAX or a length");
      if (token.magnitude < 1 || token.magnitude > static_cast<uint64_t>(most)) {
        return FailHere("Invalid length for column: " + column.name +
                        ". Allowed values: MAX, [1, " + std::to_string(most) + "]");
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
      return FailHere("Option allow_commit_timestamp is only allowed on TIMESTAMP columns");
    }
    tokens_.Take();
    ExpectSymbol("=");
    if (tokens_.TakeWord("TRUE")) {
      column.allow_commit_timestamp = true;
    } else if (!tokens_.TakeWord("FALSE") && !tokens_.TakeWord("NULL")) {
      return Expected("true, false or null");
    }
    ExpectSymbol(")");
  }

  void ParseKey() {
    ExpectSymbol("(");
    if (tokens_.AtSymbol(")")) FailHere("An empty PRIMARY KEY is not modelled");
    do {
      const size_t offset = tokens_.Peek().offset;
      const std::string name = ParseName();
      if (tokens_.failed()) return;
      const auto column = table_.FindColumn(name);
      if (!column) {
        tokens_.Fail(offset, "Table " + table_.name + " references nonexistent key column " + name);
      } else if (table_.IsKey(*column)) {
        tokens_.Fail(offset, "Table " + table_.name + " has key column " + name + " twice");
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
};

Status DdlError(Status status) {
  status.message = "Error parsing Spanner DDL statement: " + status.message;
  return status;
}

}  // namespace

std::variant<Table, Status> ParseCreateTable(std::string_view text) {
  auto tokens = Tokenize(text);
  if (auto* error = std::get_if<Status>(&tokens)) return DdlError(std::move(*error));
  auto table =
      TableParser(TokenStream(text, std::move(std::get<std::vector<Token>>(tokens)))).Run();
  if (auto* error = std::get_if<Status>(&table)) return DdlError(std::move(*error));
  return table;
}

}  // namespace whorl::model
