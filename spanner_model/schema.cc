#include "spanner_model/schema.h"

#include <algorithm>

#include "spanner_model/sql/words.h"

namespace whorl::model {
namespace {

template <typename T>
std::optional<uint32_t> FindByName(const std::vector<T>& all, std::string_view name) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (EqualIgnoringCase(all[i].name, name)) return static_cast<uint32_t>(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint32_t> Table::FindColumn(std::string_view column_name) const {
  return FindByName(columns, column_name);
}

bool Table::IsKey(uint32_t column) const {
  return std::find(key.begin(), key.end(), column) != key.end();
}

std::optional<uint32_t> Schema::FindTable(std::string_view table_name) const {
  return FindByName(tables, table_name);
}

}  // namespace whorl::model
