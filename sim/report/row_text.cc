#include "sim/report/row_text.h"

#include "sim/scenario/error_text.h"

namespace whorl::sim {
namespace {

// Enough characters of an id to distinguish processes: the first eight digits of a UUID.
constexpr size_t kMaxText = 20;
constexpr size_t kKeptOfLonger = 8;

std::string ColumnName(const Names& names, size_t column) {
  return column < names.columns.size() ? names.columns[column] : std::to_string(column);
}

}  // namespace

std::string InstantText(Instant at) { return SecondsText({at.ns}, 6); }

std::string ShortValueText(const Value& value) {
  if (const auto* time = std::get_if<Timestamp>(&value)) return InstantText(ToInstant(*time));
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (text->size() <= kMaxText) return Quoted(*text);
    return Cat("\"", Printable(text->substr(0, kKeptOfLonger)), "...\"");
  }
  return FormatValue(value);
}

std::string RowText(const Names& names, const Row& row) {
  std::string text;
  for (size_t i = 0; i < row.size(); ++i) {
    if (!text.empty()) text += ", ";
    text += Cat(ColumnName(names, i), " ", ShortValueText(row[i]));
  }
  return text;
}

std::string RowKeyText(const Row& row, size_t key_column) {
  return key_column < row.size() ? KeyText(row[key_column]) : "";
}

std::string KeyText(const Value& key) {
  const auto* name = std::get_if<std::string>(&key);
  return name != nullptr ? Printable(*name) : FormatValue(key);
}

}  // namespace whorl::sim
