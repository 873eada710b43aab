#include "sim/report/page_tables.h"

#include <algorithm>
#include <utility>

namespace whorl::sim {
namespace {

// Small enough that a search from the front is as fast as a map.
template <typename Named>
size_t PlaceOf(const std::vector<Named>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  return static_cast<size_t>(found - all.begin());
}

}  // namespace

PageTables::Row PageTables::Add(std::string_view table) {
  const size_t place = PlaceOf(tables_, table);
  if (place == tables_.size()) tables_.push_back({.name = std::string(table), .columns = {}});
  ++tables_[place].rows;
  return {*this, place};
}

PageTables::Row& PageTables::Row::Int(std::string_view column, int64_t value) {
  AddCell(tables_.ColumnOf(table_, column), value);
  return *this;
}

PageTables::Row& PageTables::Row::Text(std::string_view column, std::string_view dictionary,
                                       std::string_view value) {
  std::vector<Dictionary>& all = tables_.dictionaries_;
  Column& cells = tables_.ColumnOf(table_, column);
  if (!cells.dictionary.has_value()) {
    cells.dictionary = PlaceOf(all, dictionary);
    if (*cells.dictionary == all.size()) all.push_back({.name = std::string(dictionary)});
  }
  AddCell(cells, NumberOf(all[*cells.dictionary], value));
  return *this;
}

PageTables::Row& PageTables::Row::Fields(const Json& fields, const std::string& prefix) {
  for (const auto& [name, value] : fields.items()) {
    const std::string column = prefix + name;
    if (value.is_object()) {
      Fields(value, column + ".");
    } else {
      Text(column, name, DumpJson(value));
    }
  }
  return *this;
}

void PageTables::AddCell(Column& column, int64_t value) {
  // Unsigned, where overflow is defined.
  const uint64_t difference = static_cast<uint64_t>(value) - static_cast<uint64_t>(column.last);
  const uint64_t sign = (difference >> 63) != 0 ? ~uint64_t{0} : 0;
  uint64_t left = (difference << 1) ^ sign;
  for (; left >= 0x80; left >>= 7) column.bytes.push_back(static_cast<char>(left | 0x80));
  column.bytes.push_back(static_cast<char>(left));
  column.last = value;
  ++column.rows;
}

int64_t PageTables::NumberOf(Dictionary& dictionary, std::string_view text) {
  const auto known = dictionary.numbers.find(text);
  if (known != dictionary.numbers.end()) return known->second;
  const auto number = static_cast<int64_t>(dictionary.numbers.size());
  dictionary.numbers.emplace(text, number);
  dictionary.bytes.append(text).push_back('\n');
  return number;
}

PageTables::Column& PageTables::ColumnOf(size_t table, std::string_view name) {
  Table& owner = tables_[table];
  const size_t place = PlaceOf(owner.columns, name);
  if (place == owner.columns.size())
    owner.columns.push_back({.name = std::string(name), .dictionary = std::nullopt, .bytes = {}});
  Column& column = owner.columns[place];
  while (column.rows + 1 < owner.rows) AddCell(column, 0);
  return column;
}

PageTables::Packed PageTables::Pack() const {
  Packed packed{.manifest = Json::object(), .bytes = {}};
  const auto place = [&packed](Json& about, const std::string& bytes) {
    about["at"] = packed.bytes.size();
    about["bytes"] = bytes.size();
    packed.bytes += bytes;
  };
  Json dictionaries = Json::array();
  for (const Dictionary& dictionary : dictionaries_) {
    Json about = Json::object();
    about["texts"] = dictionary.numbers.size();
    place(about, dictionary.bytes);
    dictionaries.push_back(std::move(about));
  }
  Json tables = Json::array();
  for (const Table& table : tables_) {
    Json columns = Json::array();
    for (const Column& column : table.columns) {
      Json about = Json::object();
      about["name"] = column.name;
      about["rows"] = column.rows;  // fewer than the table's if the last rows left it out
      if (column.dictionary.has_value()) about["dictionary"] = *column.dictionary;
      place(about, column.bytes);
      columns.push_back(std::move(about));
    }
    tables.push_back({{"name", table.name}, {"rows", table.rows}, {"columns", std::move(columns)}});
  }
  packed.manifest["dictionaries"] = std::move(dictionaries);
  packed.manifest["tables"] = std::move(tables);
  return packed;
}

}  // namespace whorl::sim
