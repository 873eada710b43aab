#include "live/foreign/sql_steps.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace whorl::live {
namespace {

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The place after a literal that begins at `at` with a quote.
size_t AfterString(std::string_view sql, size_t at) {
  const char quote = sql[at];
  const std::string_view triple = sql.substr(at, 3);
  const bool is_triple =
      triple.size() == 3 && quote != '`' && triple[1] == quote && triple[2] == quote;
  const size_t width = is_triple ? 3 : 1;
  for (size_t i = at + width; i < sql.size(); ++i) {
    if (sql[i] == '\\') {
      ++i;
    } else if (sql.substr(i, width) == sql.substr(at, width)) {
      return i + width;
    }
  }
  return sql.size();
}

// The place after a comment that begins at `at`; `at` if none does.
size_t AfterComment(std::string_view sql, size_t at) {
  const std::string_view rest = sql.substr(at);
  if (rest.starts_with("--") || rest.starts_with("#")) {
    const size_t end = rest.find('\n');
    return end == std::string_view::npos ? sql.size() : at + end;
  }
  if (!rest.starts_with("/*")) return at;
  const size_t end = rest.find("*/", 2);
  return end == std::string_view::npos ? sql.size() : at + end + 2;
}

std::string Lower(std::string_view text) {
  std::string lower;
  for (const char c : text) {
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return lower;
}

size_t AfterWord(std::string_view sql, size_t at) {
  while (at < sql.size() && IsWordChar(sql[at])) ++at;
  return at;
}

}  // namespace

std::string NormalizedSql(std::string_view sql) {
  std::string out;
  const auto add = [&out](std::string_view word) {
    if (word == "into" && out.ends_with("insert ")) return;
    out += word;
    out += ' ';
  };
  size_t at = 0;
  while (at < sql.size()) {
    const char c = sql[at];
    if (const size_t after = AfterComment(sql, at); after > at) {
      at = after;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == ';') {
      ++at;
    } else if (c == '`') {
      const size_t end = AfterString(sql, at);
      const size_t size = end - at;
      add(Lower(sql.substr(at + 1, size >= 2 ? size - 2 : 0)));
      at = end;
    } else if (c == '\'' || c == '"') {
      add("?");
      at = AfterString(sql, at);
    } else if (c == '@') {
      add("?");
      at = AfterWord(sql, at + 1);
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      add("?");
      at = AfterWord(sql, at);
    } else if (IsWordChar(c)) {
      const size_t end = AfterWord(sql, at);
      add(Lower(sql.substr(at, end - at)));
      at = end;
    } else {
      add(sql.substr(at, 1));
      ++at;
    }
  }
  return out;
}

std::vector<std::string> TextsIn(std::string_view sql) {
  std::vector<std::string> texts;
  size_t at = 0;
  while (at < sql.size()) {
    if (const size_t after = AfterComment(sql, at); after > at) {
      at = after;
    } else if (sql[at] == '\'' || sql[at] == '"') {
      const size_t end = AfterString(sql, at);
      std::string_view text = sql.substr(at, end - at);
      while (!text.empty() && text.front() == sql[at]) text.remove_prefix(1);
      while (!text.empty() && text.back() == sql[at]) text.remove_suffix(1);
      texts.emplace_back(text);
      at = end;
    } else {
      at = sql[at] == '`' ? AfterString(sql, at) : at + 1;
    }
  }
  return texts;
}

SqlSteps::SqlSteps(const ProtocolInfo& info, const std::string& table)
    : statements_(info.statements == nullptr ? std::vector<StepStatement>()
                                             : info.statements(table)) {
  for (const StepStatement& statement : statements_) {
    by_text_.emplace(NormalizedSql(statement.sql.text()), &statement);
  }
}

const StepStatement* SqlSteps::Find(std::string_view sql, bool is_read_write,
                                    StepOccasion occasion) const {
  const StepStatement* found = nullptr;
  const auto [begin, end] = by_text_.equal_range(NormalizedSql(sql));
  for (auto one = begin; one != end; ++one) {
    const StepStatement* statement = one->second;
    if (statement->in_read_write != is_read_write) continue;
    if (found == nullptr || statement->occasion == occasion) found = statement;
  }
  return found;
}

bool SqlSteps::Has(StepName step, const std::string& normalized, bool is_read_write) const {
  const auto [begin, end] = by_text_.equal_range(normalized);
  return std::any_of(begin, end, [&](const auto& one) {
    return one.second->step == step && one.second->in_read_write == is_read_write;
  });
}

}  // namespace whorl::live
