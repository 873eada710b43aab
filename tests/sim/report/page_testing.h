// Reads the data of a page as page/src/data.ts does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/page_tables.h"

namespace whorl::sim {

class PageReader {
 public:
  explicit PageReader(PageTables::Packed packed) : packed_(std::move(packed)) {}

  // Empty if there is no such table or column.
  std::vector<int64_t> Ints(const std::string& table, const std::string& column) const {
    const auto [rows, place] = PlaceOf(table, column);
    std::vector<int64_t> values(place.is_null() ? 0 : rows);
    if (place.is_null()) return values;
    size_t at = place["at"].template get<size_t>();
    uint64_t value = 0;
    for (size_t row = 0; row < place["rows"].template get<size_t>(); ++row) {
      uint64_t zigzag = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<uint8_t>(packed_.bytes[at++]);
        zigzag |= static_cast<uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) break;
      }
      value += (zigzag >> 1) ^ ((zigzag & 1) != 0 ? ~uint64_t{0} : 0);
      values[row] = static_cast<int64_t>(value);
    }
    return values;
  }

  std::vector<std::string> Texts(const std::string& table, const std::string& column) const {
    const Json place = PlaceOf(table, column).second;
    std::vector<std::string> texts;
    if (place.is_null()) return texts;
    const Json& dictionary =
        packed_.manifest["dictionaries"][place["dictionary"].template get<size_t>()];
    std::istringstream lines(packed_.bytes.substr(dictionary["at"].template get<size_t>(),
                                                  dictionary["bytes"].template get<size_t>()));
    std::vector<std::string> known;
    for (std::string line; std::getline(lines, line);) known.push_back(line);
    for (const int64_t number : Ints(table, column)) {
      texts.push_back(known.at(static_cast<size_t>(number)));
    }
    return texts;
  }

 private:
  std::pair<size_t, Json> PlaceOf(const std::string& table, const std::string& column) const {
    for (const Json& one : packed_.manifest["tables"]) {
      if (one["name"] != table) continue;
      for (const Json& place : one["columns"]) {
        if (place["name"] == column) return {one["rows"].template get<size_t>(), place};
      }
    }
    return {0, Json(nullptr)};
  }

  PageTables::Packed packed_;
};

}  // namespace whorl::sim
