#include "cli/ddl_file.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "base/text.h"

namespace whorl::cli {

std::vector<std::string> StatementsIn(const std::string& text) {
  std::vector<std::string> statements(1);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, std::min(line.find("--"), line.find('#')));
    for (const char c : line + "\n") {
      if (c == ';') {
        statements.emplace_back();
      } else if (!statements.back().empty() || !std::isspace(static_cast<unsigned char>(c))) {
        statements.back() += c;
      }
    }
  }
  std::erase(statements, "");
  for (std::string& one : statements) one.erase(one.find_last_not_of(" \t\r\n") + 1);
  return statements;
}

std::string ReadOption(std::string_view option, const std::string& path, std::string& out) {
  std::ifstream file(path);
  if (file) out.assign(std::istreambuf_iterator<char>(file), {});
  if (file && !out.empty()) return {};
  return Cat(option, ": ", Quoted(path), file ? " is empty" : " cannot be read");
}

}  // namespace whorl::cli
