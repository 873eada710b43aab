// Prints a table for people, as aligned columns or as Markdown.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

namespace whorl::cli {

class TextTable {
 public:
  // The first `words` columns hold words, which are aligned left; the others hold numbers.
  TextTable(std::vector<std::string> head, size_t words) : head_(std::move(head)), words_(words) {}

  // REQUIRES: the row has as many cells as the head.
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }

  void Print(std::ostream& out) const;
  void PrintMarkdown(std::ostream& out) const;

 private:
  std::vector<std::string> head_;
  size_t words_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace whorl::cli
