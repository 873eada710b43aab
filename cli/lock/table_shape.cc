#include "cli/lock/table_shape.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <vector>

#include "base/text.h"

namespace whorl::cli {
namespace {

char Upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }
bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Divides DDL into words and single other characters, in upper case, without white space and quotes.
std::vector<std::string> TokensOf(std::string_view text) {
  std::vector<std::string> tokens;
  bool in_word = false;
  for (const char c : text) {
    const bool is_word = IsWordCharacter(c);
    if (is_word && in_word) {
      tokens.back() += Upper(c);
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0 && c != '`') {
      tokens.emplace_back(1, Upper(c));
    }
    in_word = is_word;
  }
  return tokens;
}

struct Table {
  std::map<std::string, std::string> columns;  // name: its definition
  std::string key;
};

std::string Joined(std::span<const std::string> tokens) {
  std::string text;
  for (const std::string& token : tokens) {
    const bool between_words =
        !text.empty() && IsWordCharacter(text.back()) && IsWordCharacter(token[0]);
    text += Cat(between_words ? " " : "", token);
  }
  return text;
}

// CREATE TABLE name ( columns ) PRIMARY KEY ( key )
std::optional<Table> ParseTable(std::string_view text) {
  const std::vector<std::string> tokens = TokensOf(text);
  const auto open = std::ranges::find(tokens, "(");
  if (open == tokens.end()) return std::nullopt;
  Table table;
  int depth = 0;
  auto begin = open + 1;
  auto at = open;
  for (; at != tokens.end(); ++at) {
    if (*at == "(") ++depth;
    if (*at == ")") --depth;
    const bool ends = (depth == 1 && *at == ",") || depth == 0;
    if (ends && begin != at) table.columns[*begin] = Joined({begin + 1, at});
    if (ends) begin = at + 1;
    if (depth == 0) break;
  }
  if (at == tokens.end()) return std::nullopt;
  // What follows the key (INTERLEAVE, a row deletion policy) does not affect a lock.
  const auto key_end = std::find(at, tokens.end(), "KEY");
  if (key_end == tokens.end()) return std::nullopt;
  const auto key_begin = std::find(key_end, tokens.end(), "(");
  if (key_begin == tokens.end()) return std::nullopt;
  const auto close = std::find(key_begin, tokens.end(), ")");
  std::vector<std::string> key(key_begin + 1, close);
  std::erase(key, "ASC");
  table.key = Joined(key);
  return table;
}

bool IsDispensable(const std::string& definition) {
  return definition.find("NOT NULL") == std::string::npos ||
         definition.find("DEFAULT") != std::string::npos;
}

}  // namespace

std::string_view FindTable(std::span<const std::string> ddl, std::string_view table) {
  const std::vector<std::string> name = TokensOf(table);
  for (const std::string& statement : ddl) {
    const std::vector<std::string> tokens = TokensOf(statement.substr(0, statement.find('(')));
    if (tokens.size() < 3 || tokens[0] != "CREATE" || tokens[1] != "TABLE") continue;
    if (name.size() == 1 && tokens.back() == name[0]) return statement;
  }
  return {};
}

std::string DifferenceOfTables(std::string_view wanted, std::string_view found) {
  const std::optional<Table> needs = ParseTable(wanted);
  const std::optional<Table> has = ParseTable(found);
  if (!needs || !has) return "its definition cannot be read";
  for (const auto& [name, definition] : needs->columns) {
    const auto column = has->columns.find(name);
    if (column == has->columns.end()) return Cat("it has no column ", name, " ", definition);
    if (column->second != definition) {
      return Cat("column ", name, " is ", column->second, " instead of ", definition);
    }
  }
  for (const auto& [name, definition] : has->columns) {
    if (!needs->columns.contains(name) && !IsDispensable(definition)) {
      return Cat("column ", name, " may not be left out (", definition, ")");
    }
  }
  if (needs->key == has->key) return {};
  return Cat("its primary key is ", has->key, " instead of ", needs->key);
}

std::string_view FindStream(std::span<const std::string> ddl, std::string_view name) {
  const std::vector<std::string> wanted = TokensOf(name);
  for (const std::string& statement : ddl) {
    const std::vector<std::string> tokens = TokensOf(statement);
    if (tokens.size() < 4 || tokens[0] != "CREATE" || tokens[1] != "CHANGE") continue;
    if (tokens[2] == "STREAM" && wanted.size() == 1 && tokens[3] == wanted[0]) return statement;
  }
  return {};
}

// CREATE CHANGE STREAM name FOR ALL | FOR table, table(columns), ... OPTIONS (..)
bool StreamWatches(std::string_view stream, std::string_view table) {
  const std::vector<std::string> tokens = TokensOf(stream);
  const std::vector<std::string> wanted = TokensOf(table);
  for (size_t i = 4; i + 1 < tokens.size() && tokens[i] != "OPTIONS"; ++i) {
    if (tokens[i] != "FOR" && tokens[i] != ",") continue;
    // Columns in parentheses are some of the table's.
    const bool is_whole = i + 2 >= tokens.size() || tokens[i + 2] != "(";
    const bool is_all = tokens[i] == "FOR" && tokens[i + 1] == "ALL";
    const bool is_table = wanted.size() == 1 && tokens[i + 1] == wanted[0];
    if (is_whole && (is_all || is_table)) return true;
  }
  return false;
}

}  // namespace whorl::cli
