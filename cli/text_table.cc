#include "cli/text_table.h"

#include <algorithm>
#include <utility>

namespace whorl::cli {
namespace {

using Row = std::vector<std::string>;

void PrintRow(const Row& row, const std::vector<size_t>& widths, size_t words, std::ostream& out) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string space(widths[i] - row[i].size(), ' ');
    if (i > 0) line += "  ";
    line += i < words ? row[i] + space : space + row[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

void PrintMarkdownRow(const Row& row, std::ostream& out) {
  for (const std::string& cell : row) out << "| " << cell << ' ';
  out << "|\n";
}

}  // namespace

void TextTable::Print(std::ostream& out) const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < head_.size(); ++i) {
    size_t width = head_[i].size();
    for (const Row& row : rows_) width = std::max(width, row[i].size());
    widths.push_back(width);
  }
  PrintRow(head_, widths, words_, out);
  for (const Row& row : rows_) PrintRow(row, widths, words_, out);
}

void TextTable::PrintMarkdown(std::ostream& out) const {
  PrintMarkdownRow(head_, out);
  for (size_t i = 0; i < head_.size(); ++i) out << (i < words_ ? "|---" : "|---:");
  out << "|\n";
  for (const Row& row : rows_) PrintMarkdownRow(row, out);
}

}  // namespace whorl::cli
