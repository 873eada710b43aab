// Compares an existing table with the one that a protocol needs, by the DDL of both, and finds its
// change stream.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace whorl::cli {

// The CREATE TABLE statement of that table; empty if there is none. Ignores the case of names.
std::string_view FindTable(std::span<const std::string> ddl, std::string_view table);

// Says which column, or the primary key, of `wanted` is missing or different in `found` (both are
// CREATE TABLE statements); empty if none. Further columns in `found` do no harm unless an insert has
// to set them.
std::string DifferenceOfTables(std::string_view wanted, std::string_view found);

// The CREATE CHANGE STREAM statement of that name; empty if there is none. Ignores the case of names.
std::string_view FindStream(std::span<const std::string> ddl, std::string_view name);

// Whether the change stream of that statement watches every column of the table.
bool StreamWatches(std::string_view stream, std::string_view table);

}  // namespace whorl::cli
