// Whether a table that is there already is the one that a protocol needs, by the DDL of both.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace whorl::cli {

// The CREATE TABLE statement of that table; empty: there is none. Names of tables know no case.
std::string_view FindTable(std::span<const std::string> ddl, std::string_view table);

// What of `wanted` is missing in `found` (both CREATE TABLE), or is other there: a column or the
// primary key; empty: nothing. More columns do no harm, unless they may not be left out.
std::string DifferenceOfTables(std::string_view wanted, std::string_view found);

}  // namespace whorl::cli
