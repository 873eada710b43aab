#include "spanner_model/row_checks.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "spanner_model/sql/functions.h"

namespace whorl::model {
namespace {

// The length of a STRING in characters or of a BYTES in bytes, or of the longest in an array; nullopt for
// other types.
std::optional<int64_t> LengthOf(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return TextLength(*text, TextUnit::kCharacter);
  }
  if (const auto* bytes = std::get_if<Bytes>(&value)) {
    return TextLength(bytes->data, TextUnit::kByte);
  }
  if (const auto* array = std::get_if<Array>(&value)) {
    int64_t longest = 0;
    for (const Value& element : array->elements) {
      longest = std::max(longest, LengthOf(element).value_or(0));
    }
    return longest;
  }
  return std::nullopt;
}

std::string NameOf(const Table& table, const Column& column) {
  return table.name + "." + column.name;
}

}  // namespace

Status CheckValue(const Table& table, const Column& column, const Value& value, Timestamp now) {
  if (IsNull(value) && column.not_null) {
    return Error(Code::kFailedPrecondition, "Cannot specify a null value for column: " +
                                                NameOf(table, column) + " in table: " + table.name);
  }
  const bool is_bytes = column.type == Type::kBytes || column.type == Type::kBytesArray;
  const int64_t most = column.max_length.value_or(is_bytes ? kMaxBytesLength : kMaxStringLength);
  if (const auto size = LengthOf(value); size && *size > most) {
    return Error(
        Code::kFailedPrecondition,
        "New value exceeds the maximum size limit for this column: " + NameOf(table, column) +
            ", size: " + std::to_string(*size) + ", limit: " + std::to_string(most) + ".");
  }
  const auto* time = std::get_if<Timestamp>(&value);
  if (time != nullptr && column.allow_commit_timestamp && *time > now) {
    return Error(Code::kFailedPrecondition,
                 "Cannot write timestamps in the future " + FormatRfc3339(*time) +
                     " > NOW because the allow_commit_timestamp column option is set to true "
                     "for column " +
                     NameOf(table, column));
  }
  return {};
}

Status CheckKeySize(const Table& table, const Key& key) {
  // As the official emulator counts them.
  size_t size = 0;
  for (const Value& part : key) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      size += text->size();
    } else if (const auto* bytes = std::get_if<Bytes>(&part)) {
      size += bytes->data.size();
    } else if (IsNull(part)) {
      size += 2;
    } else if (std::holds_alternative<bool>(part)) {
      size += 1;
    } else if (std::holds_alternative<Timestamp>(part)) {
      size += 12;
    } else {
      size += 8;
    }
  }
  if (size <= kKeySizeMax) return {};
  return Error(Code::kInvalidArgument, "Number of bytes for key of table " + table.name + " is " +
                                           std::to_string(size) + " which exceeds the maximum of " +
                                           std::to_string(kKeySizeMax) + ".");
}

Status CheckPendingColumn(const Table& table, const Column& column) {
  if (column.allow_commit_timestamp) return {};
  return Error(Code::kFailedPrecondition,
               "Cannot write commit timestamp because the allow_commit_timestamp column option is "
               "not set to true for column " +
                   NameOf(table, column) +
                   ", or for all corresponding shared key columns in this table's interleaved "
                   "table hierarchy.");
}

uint64_t AllColumns(const Table& table) {
  return table.columns.size() == kMaxColumns ? ~uint64_t{0}
                                             : (uint64_t{1} << table.columns.size()) - 1;
}

std::string DescribeKey(const Key& key) {
  std::string out = "[";
  for (const Value& value : key) {
    if (out.size() > 1) out += ", ";
    const auto* text = std::get_if<std::string>(&value);
    out += text != nullptr ? *text : FormatValue(value);
  }
  return out + "]";
}

}  // namespace whorl::model
