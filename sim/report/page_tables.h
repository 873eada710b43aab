// Packs tables of integers and texts for a page: column by column, so that neighbours resemble each
// other and a general compressor finds little left to do.
//
//   integers    the difference to the row above, zigzag, as a varint (7 bits a byte, lowest first)
//   texts       the same of the text's number in a dictionary
//   dictionary  its texts, each ended by a newline; the first is the empty text
//
// Texts are JSON, so none contains a newline. Columns that show the same things, such as a row before
// and after a commit, share a dictionary.
// Invariant: the bytes depend on the calls alone, and are the same with every compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/json_text.h"

namespace whorl::sim {

class PageTables {
 public:
  // A row is written cell by cell. Columns that a row leaves out have 0, or the empty text.
  class Row {
   public:
    Row& Int(std::string_view column, int64_t value);
    // `dictionary`: the name of the dictionary that the column uses.
    Row& Text(std::string_view column, std::string_view dictionary, std::string_view value);
    // The fields of an object as texts, those of its fields by "field.name".
    Row& Fields(const Json& fields, const std::string& prefix = "");

   private:
    friend class PageTables;
    Row(PageTables& tables, size_t table) : tables_(tables), table_(table) {}
    PageTables& tables_;
    size_t table_;
  };
  // Begins the next row of that table.
  Row Add(std::string_view table);

  struct Packed {
    Json manifest;      // what the bytes are: tables, columns and dictionaries with their places
    std::string bytes;  // all of them, one after the other
  };
  Packed Pack() const;

 private:
  struct Dictionary {
    std::string name;
    std::map<std::string, int64_t, std::less<>> numbers = {{"", 0}};
    std::string bytes = "\n";
  };
  struct Column {
    std::string name;
    std::optional<size_t> dictionary;  // of a column of texts
    int64_t last = 0;
    size_t rows = 0;
    std::string bytes;
  };
  struct Table {
    std::string name;
    size_t rows = 0;
    std::vector<Column> columns;
  };

  static void AddCell(Column& column, int64_t value);
  static int64_t NumberOf(Dictionary& dictionary, std::string_view text);
  // The rows above get 0 if none had such a column.
  Column& ColumnOf(size_t table, std::string_view name);

  std::vector<Table> tables_;
  std::vector<Dictionary> dictionaries_;
};

}  // namespace whorl::sim
