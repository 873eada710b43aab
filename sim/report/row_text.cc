#include "sim/report/row_text.h"

#include "base/text.h"
#include "base/time.h"

namespace whorl::sim {
namespace {

// Enough characters of an id to distinguish processes: the first eight digits of a UUID.
constexpr size_t kMaxText = 20;
constexpr size_t kKeptOfLonger = 8;

}  // namespace

std::string InstantText(Instant at) { return FormatSeconds({at.ns}, 6); }

std::string ShortValueText(const Value& value) {
  if (const auto* time = std::get_if<Timestamp>(&value)) return InstantText(ToInstant(*time));
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (text->size() <= kMaxText) return Quoted(*text);
    return Cat("\"", Printable(text->substr(0, kKeptOfLonger)), "...\"");
  }
  return FormatValue(value);
}

std::string NoteValueText(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? ShortValueText(value) : Printable(*text);
}

std::string TokenText(const Token& token) { return ShortValueText(token.ToValue()); }

std::string RowKeyText(const Row& row, size_t key_column) {
  return key_column < row.size() ? KeyText(row[key_column]) : "";
}

std::string KeyText(const Value& key) {
  const auto* name = std::get_if<std::string>(&key);
  return name != nullptr ? Printable(*name) : FormatValue(key);
}

}  // namespace whorl::sim
